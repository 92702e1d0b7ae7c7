"""The runtime that single layers are compared with."""

from collections.abc import Iterator

import pytest

from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import limited


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    """The runtime in a process of its own."""
    with limited() as running:
        yield running
