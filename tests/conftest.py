"""Fixtures that the whole suite shares: the corpus of real models, and small models that are made here."""

import gc
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.concerned import is_concerned, operations_of, tests_of

if TYPE_CHECKING:
    from ir_tools.runtime.client import RuntimeClient

_IR10 = re.compile(rb"<net [^>]*version=[\"']1[01][\"']")
ROOT = Path(__file__).resolve().parents[1]
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Where tests share the cores, threads of numpy that wait for each other take up to ten times the time of one."""
os.environ.setdefault("MALLOC_PERTURB_", "133")
"""The C library fills fresh memory with this byte in the runtimes that tests start: an output that one leaves unwritten
is a large number each time, and not 0 on most days."""
os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.tcache_count=60000")
"""The C library keeps what is freed for the same thread: to compile a small model takes two thirds of the time."""
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
"""How long an example takes depends on what else runs; a test that never ends is stopped by hand."""
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""The processes that tests start keep the byte code of the package, and do not each compile it."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one worker more than cores: a test also waits for the processes that it starts."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option to run the tests that concern a file."""
    words = "run the tests that concern this file of the package, the most telling first; may be given several times"
    parser.addoption("--concerning", metavar="FILE", action="append", default=[], help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Take the tests of `--concerning`, if there is one, for those that were named."""
    if files := config.getoption("concerning"):
        config.args = list(dict.fromkeys(chain.from_iterable(map(tests_of, files))))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other operations than those that the files of `--concerning` are part of."""
    if not (files := config.getoption("concerning")):
        return
    operations = frozenset[str]().union(*map(operations_of, files))
    config.hook.pytest_deselected(items=[item for item in items if not is_concerned(item.nodeid, operations)])
    items[:] = [item for item in items if is_concerned(item.nodeid, operations)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """In each worker, import the test modules from another one on: what one has compiled, the others only read.

    What cannot be imported is told when it is collected.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    places = [(session.startpath / arg.partition("::")[0]).resolve() for arg in session.config.args]
    files = [path for place in places for path in (sorted(place.rglob("test_*.py")) if place.is_dir() else [place])]
    number = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    first = len(files) * number // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in files[first:] + files[:first]:
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Leave the collected tests, of which there are many, out of all later collections of garbage."""
    gc.collect()
    gc.freeze()


def corpus_folder() -> Path | None:
    """The folder that `IR_TOOLS_CORPUS` names, or a `shared/corpus` beside the checkout."""
    named = os.environ.get("IR_TOOLS_CORPUS")
    folder = Path(named) if named else ROOT.parent / "shared" / "corpus"
    return folder if folder.is_dir() else None


def corpus_files(ending: str = ".xml", start: re.Pattern[bytes] = _IR10) -> list[Path]:
    """Every file of the corpus with an ending and a start, by default of IR v10 or v11; empty without a corpus."""
    folder = corpus_folder()
    files = sorted(folder.rglob(f"*{ending}")) if folder else []
    return [path for path in files if start.search(path.read_bytes()[:1000])]


def corpus_cases(
    most: float = float("inf"), fits: Callable[[Path], bool] = Path.exists, files: Sequence[Path] | None = None
) -> list[object]:
    """For `parametrize`: files of the corpus, by default every IR v10 or v11, that fit; or one case that skips.

    Those of more than `most` bytes are for the long checks.
    """
    skip = pytest.mark.skip(reason="no corpus: set IR_TOOLS_CORPUS to its folder")
    cases = [
        pytest.param(path, id=path.stem, marks=[pytest.mark.sweep] if path.stat().st_size > most else [])
        for path in (corpus_files() if files is None else files)
        if fits(path)
    ]
    return [*cases] or [pytest.param(Path(), marks=skip, id="corpus")]


def has_weights(path: Path) -> bool:
    """Whether the `.bin` of a model is in the corpus, too."""
    return path.with_suffix(".bin").exists()


def needs_no_library(path: Path) -> bool:
    """Whether all operations of a model are those of OpenVINO."""
    return b'version="extension"' not in path.read_bytes()


def is_readable(path: Path) -> bool:
    """Whether the runtime reads a model of the corpus: no weights are missing, and it needs no library."""
    return needs_no_library(path) and (has_weights(path) or b'"Const"' not in path.read_bytes())


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of the corpus; skips where there is none."""
    folder = corpus_folder()
    if folder is None:
        pytest.skip("no corpus: set IR_TOOLS_CORPUS to its folder")
    return folder


@pytest.fixture(scope="session", params=corpus_cases())
def corpus_model(request: pytest.FixtureRequest) -> Path:
    """Each `.xml` of IR v10 or v11 in the corpus."""
    path: Path = request.param
    return path


@pytest.fixture(scope="session")
def legacy_python() -> Path:
    """The Python of Inference Engine 2020.1, made in the user's cache once; skips if it cannot be made."""
    from ir_tools.errors import RuntimeFailure
    from ir_tools.releases.table import find_release
    from ir_tools.runtime.environments import environment, installation, release_python

    release = find_release("inference-engine-2020.1")
    try:
        return release_python(release) if environment(release) else installation(release).make()
    except RuntimeFailure as why:
        pytest.skip(f"no Inference Engine 2020.1: {why}")


@pytest.fixture(scope="module", autouse=True)
def forked_workers() -> Iterator[None]:
    """The runtimes of this process are forks; a module about how they start overrides this."""
    from tests import forks

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ir_tools.runtime._child._spawn", forks.spawn)
        patch.setattr("ir_tools.runtime.module._run", forks.run)
        yield


@pytest.fixture
def started_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one test: runtimes that start as those of users do."""
    from tests import forks

    monkeypatch.setattr("ir_tools.runtime._child._spawn", forks.START)


@pytest.fixture(scope="module")
def client() -> Iterator["RuntimeClient"]:
    """The installed runtime in a process of its own."""
    from ir_tools.runtime.client import RuntimeClient

    with RuntimeClient() as running:
        yield running
