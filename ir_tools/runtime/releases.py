"""Releases of the runtime that models can be run on besides the installed one, and what each needs."""

from dataclasses import dataclass

from ir_tools.arguments import check_word

__all__ = ["RELEASES", "Release", "find_release"]


@dataclass(frozen=True, slots=True)
class Release:
    """A release of the runtime.

    Attributes:
        name: on the command line, and of its environment's folder.
        title: in messages.
        packages: from PyPI, pinned.
        pythons: versions of Python that they can be installed in, the best first.
        download: megabytes that are downloaded, about.
        size: megabytes that an environment takes on disk, about.
        reads: the first and the last IR version that it is used for.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    pythons: tuple[str, ...]
    download: int
    size: int
    reads: tuple[int, int]


RELEASES = (
    Release(
        name="inference-engine-2020.1",
        title="Inference Engine 2020.1",
        packages=("opencv-python-inference-engine==4.2.0.4", "numpy"),
        pythons=("3.11", "3.12", "3.13", "3.10", "3.9", "3.8", "3.7", "3.6"),
        download=55,
        size=200,
        reads=(2, 7),
    ),
)
"""All that are known. Of the wheel of 2020.1 only the libraries of the runtime are used, with any Python."""


def find_release(name: str) -> Release:
    """Return the release of this name.

    Raises:
        UsageError: there is none; the message lists all.
    """
    check_word("runtime", name, [release.name for release in RELEASES])
    return next(release for release in RELEASES if release.name == name)
