"""What is timed runs as users run it: without the filled memory and the forked workers of the other tests."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def forked_workers() -> None:
    """None here."""


@pytest.fixture(scope="module", autouse=True)
def plain_memory() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MALLOC_PERTURB_", raising=False)
        patch.delenv("GLIBC_TUNABLES", raising=False)
        yield
