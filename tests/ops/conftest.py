"""The runtime that single layers are compared with."""

from collections.abc import Iterator

import pytest

from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import AroundTests, limited, rows


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    """The runtime in a process of its own."""
    with limited() as running:
        yield running


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give the tests of a family the cases of its tables."""
    family = metafunc.cls
    if family is None or not issubclass(family, AroundTests):
        return
    for table in {"run", "refused", "unpredictable"} & {*metafunc.fixturenames}:
        metafunc.parametrize(table, rows(family.cases, getattr(family, table)))
