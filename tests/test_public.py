"""What `import ir_tools` offers: its names, and that whatever it gives or raises can be pickled and copied."""

import inspect
import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType

import pytest

import ir_tools
from ir_tools import api, errors


def public(module: ModuleType = ir_tools, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every public function and class by its name, those of public modules included."""
    for name in module.__all__:
        found = getattr(module, name)
        if isinstance(found, ModuleType):
            yield from public(found, f"{prefix}{name}.")
        else:
            yield prefix + name, found


PUBLIC = dict(public())
EXCEPTIONS = [getattr(errors, name) for name in errors.__all__]


def test_dir_is_what_is_public() -> None:
    assert [name for name in dir(ir_tools) if not name.startswith("_")] == sorted(ir_tools.__all__)


def test_every_name_is_found_and_typed() -> None:
    homes = [name for names in ir_tools._HOMES.values() for name in names]
    modules = [name for name in ir_tools.__all__ if isinstance(getattr(ir_tools, name), ModuleType)]
    assert sorted([*homes, *modules, *api.__all__]) == ir_tools.__all__
    source = inspect.getsource(ir_tools).partition("if TYPE_CHECKING:")[2].partition("__version__")[0]
    assert all(name in source for name in ir_tools.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'raed'"):
        getattr(ir_tools, "raed")  # noqa: B009  # a constant name would not pass the type check


def test_every_exception_can_be_imported_from_the_top() -> None:
    assert set(errors.__all__) <= set(ir_tools.__all__)


# --- pickling ---------------------------------------------------------------------------------------------------

FOUND = ir_tools.Diagnostic(code="IR103", severity=ir_tools.Severity.ERROR, message="m", file="a.xml", line=3)


def error(kind: type[errors.IrToolsError]) -> errors.IrToolsError:
    if issubclass(kind, errors.ReadError):
        return kind(FOUND, FOUND)
    if issubclass(kind, errors.RuntimeFailure):
        return kind("it crashed", kind="crashed", stage="compiling", reason="SIGSEGV", diagnostics=[FOUND])
    return kind("it is wrong", [FOUND])


def raise_error(kind: type[errors.IrToolsError]) -> None:
    raise error(kind)


@pytest.mark.parametrize("kind", EXCEPTIONS, ids=lambda kind: kind.__name__)
def test_an_exception_survives_pickling(kind: type[errors.IrToolsError]) -> None:
    wanted = error(kind)
    found = pickle.loads(pickle.dumps(wanted))
    assert type(found) is kind
    assert (str(found), vars(found)) == (str(wanted), vars(wanted))


def test_exceptions_come_out_of_other_processes() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for kind in EXCEPTIONS:
            with pytest.raises(kind) as caught:
                pool.submit(raise_error, kind).result()
            assert vars(caught.value) == vars(error(kind))
