"""Files beside an ONNX file that hold its tensors (external data), without the `onnx` package."""

import mmap
import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["external_files"]

_LOCATION = re.compile(rb"\n\x08location\x12([\x00-\x7f])")
"""A StringStringEntryProto of TensorProto.external_data: key 1 is `location`, value 2 has a length in one byte."""


def external_files(path: Path) -> Iterator[Path]:
    """Yield the files that tensors of an ONNX file are in, as far as they are there, each once.

    Names of 128 bytes and more are left out.
    """
    found: set[bytes] = set()
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for match in _LOCATION.finditer(data):
            found.add(data[match.end() : match.end() + match[1][0]])
    for name in sorted(found):
        beside = path.parent / name.decode("utf-8", "replace")
        if beside.is_file():
            yield beside
