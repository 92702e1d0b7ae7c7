"""Public functions refuse words that they do not know; the words are those of the command line."""

import inspect
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_tools
from ir_tools.arguments import check_word, word_list
from ir_tools.errors import IrToolsError, UsageError
from tests.cli.conftest import Cli, cli, model

__all__ = ["cli", "model"]

OTHERWISE = {
    "attributes",
    "extensions",
    "model",
    "other",
    "path",
    "source",
    "weights",
    "inputs",
    "data_shape",
    "pooling",
    "shapes",
}
"""Arguments of type str that are not words: paths, names and shapes."""
COMMANDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("compare", "against"): ("compare", "MODEL", "--against", "CPU:WORD"),
    ("compare", "device"): ("compare", "MODEL", "--device", "WORD"),
    ("compare", "layers"): ("compare", "MODEL", "--type", "WORD"),
    ("compare", "mode"): ("compare", "MODEL", "--mode", "WORD"),
    ("compat", "releases"): ("compat", "MODEL", "--release", "WORD"),
    ("compare", "precision"): ("compare", "MODEL", "--precision", "WORD"),
    ("migrate", "passes"): ("migrate", "MODEL", "--dry-run", "--pass", "WORD"),
    ("migrate", "to"): ("migrate", "MODEL", "--dry-run", "--to", "WORD"),
    ("runtimes", "add"): ("runtimes", "--add", "WORD"),
    ("runtimes", "remove"): ("runtimes", "--remove", "WORD"),
    ("validate", "ignore"): ("validate", "MODEL", "--ignore", "WORD"),
    ("validate", "select"): ("validate", "MODEL", "--select", "WORD"),
}
"""How an argument is called on the command line."""


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions, those of the public modules included."""
    for home, prefix in ((ir_tools, ""), (ir_tools.onnx, "onnx."), (ir_tools.ngraph, "ngraph.")):
        for name in home.__all__:
            found = getattr(home, name)
            if inspect.isfunction(found):
                yield prefix + name, found


LITERALS = ("Literal", "Mode", "Precision", "Engine")
"""What the annotations of arguments that take one of a few words hold."""


def words() -> Iterator[tuple[str, str]]:
    """Each argument that takes a word or several, with its function."""
    for name, function in (*functions(), ("Session", ir_tools.Session)):
        parts = LITERALS if inspect.isclass(function) else (*LITERALS, "str")
        for parameter in inspect.signature(function).parameters.values():
            kind = str(parameter.annotation)
            if parameter.name not in OTHERWISE and any(part in kind for part in parts):
                yield name, parameter.name


def call(name: str, argument: str, word: object, path: Path) -> object:
    """Call a public function with a word for one of its arguments."""
    home: Any = ir_tools
    for part in name.split("."):
        home = getattr(home, part)
    onnx = "onnx" in name
    if name == "ngraph.avg_pool":
        return home([2], [1], **{argument: word})
    if name == "ngraph.to_model":
        return home(ir_tools.ngraph.avg_pool([2], [1]), "1,1,8", **{argument: word})
    if name in {"onnx.average_pool_extension", "runtimes"}:
        return home(**{argument: word})
    given = {"inputs": {"data": np.zeros((1, 2, 8, 8), np.float32)}} if name == "run" else {}
    return home(onnx_file(path) if onnx else path, **given, **{argument: word})


def onnx_file(path: Path) -> Path:
    """One ReLU."""
    onnx = pytest.importorskip("onnx")
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 2]) for name in ("x", "y")]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "relu", ends[:1], ends[1:])
    opset = onnx.helper.make_opsetid("", 13)
    target = path.with_suffix(".onnx")
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), target)
    return target


LISTS = {"layers", "passes", "releases", "select", "ignore"}
"""Arguments that take several words, of which an empty text names none."""
UNKNOWN = [row for row in product(words(), ["bogus", "in_place", ""]) if row[1] or row[0][1] not in LISTS]


@pytest.mark.parametrize(
    ("place", "word"), UNKNOWN, ids=lambda value: "-".join([value] if isinstance(value, str) else value)
)
def test_an_unknown_word_is_refused(place: tuple[str, str], word: str, model: Path) -> None:
    name, argument = place
    with pytest.raises(IrToolsError, match=re.escape(repr(word))):
        call(name, argument, word, model)


@pytest.mark.parametrize(("place", "line"), list(COMMANDS.items()), ids=lambda value: "-".join(value[:2]))
def test_the_command_line_refuses_it_too(place: tuple[str, str], line: tuple[str, ...], model: Path, cli: Cli) -> None:
    assert place in set(words())
    found = cli(*[word.replace("WORD", "bogus").replace("MODEL", str(model)) for word in line])
    assert found.code == 2
    assert "bogus" in found.err.lower()


def test_one_text_holds_words_with_commas(model: Path) -> None:
    assert word_list(" IR1, IR205 ,") == ("IR1", "IR205")
    assert word_list(["IR1"]) == ("IR1",)
    both = ir_tools.compare(model, layers="AvgPool"), ir_tools.compare(model, layers={"AvgPool"})
    assert [len(found.layers) for found in both] == [1, 1]
    assert ir_tools.compare(model, against="CPU:f32").second == ir_tools.compare(model, against=("CPU", "f32")).second


def test_a_similar_word_is_offered() -> None:
    with pytest.raises(
        UsageError, match="mode 'Isolated' is not one of 'isolated', 'cumulative'; did you mean 'isolated'"
    ):
        check_word("mode", "Isolated", ("isolated", "cumulative"))


@pytest.mark.parametrize("tolerance", [-1.0, float("nan")])
def test_a_tolerance_is_a_number_from_0_on(tolerance: float, model: Path, cli: Cli) -> None:
    with pytest.raises(UsageError, match="tolerance"):
        ir_tools.compare(model, tolerance=tolerance)
    assert cli("compare", model, "--tolerance", str(tolerance)).code == 2
