"""What people see of objects: reprs that fit on a screen, tables in notebooks."""

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_tools
from ir_tools.display import ROWS, brief, notebook_table, number, shortened, some, sufficient
from ir_tools.releases.table import RELEASES
from tests.cli.conftest import pooling_xml

LONG = "a very long name " * 1_000
LAYERS = 2_000
SCREEN = (24, 4_000)
"""Lines and characters: some twenty lines of a wide terminal."""


@pytest.mark.parametrize(
    ("count", "text"), [(0, ""), (1, "0"), (2, "0, 1"), (3, "0, 1 and 1 more"), (9, "0, 1 and 7 more")]
)
def test_the_first_words(count: int, text: str) -> None:
    assert some([*map(str, range(count))], 2) == text


def chain() -> str:
    """A Parameter and very many poolings, each of which reads the one before; every record of dims is wrong."""
    text = pooling_xml(recorded=(1, 2, 9, 9))
    start, end = text.index('<layer id="1"'), text.index('<layer id="2"')
    pool = text[start:end]
    layers = [pool.replace('id="1" name="pool"', f'id="{number}" name="pool{number}"') for number in range(3, LAYERS)]
    edges = [f'<edge from-layer="0" from-port="0" to-layer="{number}" to-port="0" />' for number in range(3, LAYERS)]
    return text.replace("</layers>", f"{''.join(layers)}</layers>").replace("</edges>", f"{''.join(edges)}</edges>")


@pytest.fixture(scope="module")
def large() -> dict[str, Any]:
    """One of each kind of object, as large as it gets."""
    model = ir_tools.read(chain().encode())
    model.name = LONG
    layer = model.graph.layer(1)
    layer.tag.update(name=LONG, type=LONG, version=LONG)
    port = ir_tools.Port(1, LONG, tuple(range(10_000)), tuple(map(str, range(10_000))))
    content = ir_tools.LayerContent({str(key): LONG for key in range(1000)}, [port] * 1000, [port] * 1000)
    plan = ir_tools.plan_inputs(pooling_xml().encode())
    finding = ir_tools.Diagnostic(code="IR1", severity=ir_tools.Severity.ERROR, message=LONG, file=LONG, path=LONG)
    step = ir_tools.MigrationStep(
        path=LONG, layer_id=1, line=1, before=LONG, after=LONG, strategy=LONG, proof=LONG, notes=(LONG,) * 100
    )
    return {
        "Model": model,
        "Graph": model.graph,
        "Layer": layer,
        "LayerContent": content,
        "Port": port,
        "Endpoint": model.inputs[0]._replace(groups=((LONG,) * 1000,)),
        "Weights": model.weights,
        "Diagnostic": finding,
        "Findings": ir_tools.Findings([finding] * 1000),
        "Migration": ir_tools.Migration(model=model, steps=(step,) * LAYERS),
        "MigrationStep": step,
        "ShapeReport": ir_tools.propagate_shapes(chain().encode()),
        "CompatibilityReport": ir_tools.compat(model),
        "Compatibility": ir_tools.compat(model)[0],
        "Runtimes": ir_tools.runtimes(),
        "Dim": ir_tools.Dim(1, 2**62),
        "Session": ir_tools.Session(model),
        "InputPlan": replace(plan, inputs=tuple(replace(entry, why=LONG) for entry in plan.inputs * 1000)),
    }


def test_every_repr_fits_on_a_screen(large: dict[str, Any]) -> None:
    lines, characters = SCREEN
    for name, found in large.items():
        assert len(repr(found)) <= characters, name
        assert repr(found).count("\n") < lines, name
    assert len(large["ShapeReport"].facts) > LAYERS


def test_reprs_say_what_it_is(large: dict[str, Any]) -> None:
    assert repr(large["Graph"]) == f"Graph({LAYERS} layers, {LAYERS - 1} edges)"
    assert repr(large["Migration"]) == f"Migration({LAYERS} steps, 0 refused)"
    assert repr(ir_tools.Layer(7, {"name": "a b", "type": "ReLU"})) == "Layer(7, 'a b', ReLU)"
    assert repr(large["Session"]) == f"Session({large['Model']!r}, reference, 0 states)"
    assert repr(large["InputPlan"]).startswith("InputPlan(1000 inputs, seed 0)\ndata: f32 [1,2,8,8], normal")
    assert repr(large["InputPlan"]).endswith("\nand 990 more")
    assert repr(ir_tools.Findings()) == "Nothing found"
    assert repr(large["Findings"]).endswith("\nand 990 more")
    assert brief(["x" * 1000] * 1000).count("x") < 1000
    assert shortened("a\n b\tc", 4) == "a b…"


class Table(HTMLParser):
    """The cells of a table, and the text around it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.around = ""
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"th", "td"}:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag in {"th", "td"} and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.rstrip("\n")
        else:
            self.around += data


SHOWN = ["Model", "Findings", "Migration", "ShapeReport", "CompatibilityReport", "Runtimes"]


@pytest.mark.parametrize("name", SHOWN)
def test_notebook_tables_are_short(name: str, large: dict[str, Any]) -> None:
    html = large[name]._repr_html_()
    table = Table(html)
    assert 2 <= len(table.rows) <= ROWS + 1
    assert len({len(row) for row in table.rows}) == 1
    assert len(html) < 50_000
    assert table.tags <= {"p", "b", "table", "thead", "tbody", "tr", "th", "td"}


def test_notebook_tables_have_room_for_every_release(large: dict[str, Any]) -> None:
    assert len(RELEASES) <= ROWS
    table = Table(large["Runtimes"]._repr_html_())
    assert len(table.rows) == 1 + len(large["Runtimes"])
    assert "more" not in table.around


def test_notebook_tables_show_what_was_found(large: dict[str, Any]) -> None:
    model = ir_tools.read(pooling_xml().encode())
    assert Table(model._repr_html_()).rows == [
        ["side", "name", "type", "shape"],
        ["input", "data", "f32", "1,2,8,8"],
        ["output", "pooled", "f32", "1,2,4,4"],
    ]
    migration = ir_tools.migrate(model)
    migrated = Table(migration._repr_html_()).rows
    assert migrated[0] == ["layer", "line", "before", "after", "proof or reason"]
    refused = ir_tools.RefusedStep(path="odd", layer_id=3, line=4, before="AvgPool-14", reason="because")
    both = Table(ir_tools.Migration(model=model, steps=migration.steps, refused=(refused,))._repr_html_())
    assert both.rows[1:] == [["odd", "4", "AvgPool-14", "refused", "because"], migrated[1]]
    assert "more" not in both.around
    assert migrated[1] == [
        "pool",
        "8",
        "AvgPool-1",
        "AvgPool opset8",
        "equal windows on 8x8 (equal attributes)",
    ]
    assert Table(ir_tools.propagate_shapes(model)._repr_html_()).rows[-1] == ["result", "0", "f32", "1,2,4,4", "rule"]
    wrong = Table(large["ShapeReport"]._repr_html_())
    assert wrong.rows[0] == ["layer", "port", "what", "recorded", "computed"]
    assert "more" in wrong.around
    found = Table(
        ir_tools.validate(pooling_xml().replace('exclude-pad="true"', 'exclude_pad="false"').encode())._repr_html_()
    )
    assert [found.rows[1][at] for at in (0, 1, 3, 5)] == ["error", "IR204", "pool", "call it exclude-pad"]
    assert Table(ir_tools.Findings()._repr_html_()).around.strip() == "Nothing found"


def test_a_long_title_is_whole() -> None:
    title = "a sentence that matters. " * 20
    assert title.strip() in notebook_table(title, ("name",), [])
    assert len(notebook_table(LONG, ("name",), [])) < len(LONG)


def test_nothing_in_a_model_becomes_markup() -> None:
    evil = "<script>alert(1)</script>&\"'"
    html = notebook_table(evil, (evil,), [(evil,)])
    assert Table(html).tags == {"p", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert Table(html).rows == [[evil], [evil]]


@pytest.mark.parametrize("total", [0, 1, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS])
def test_notebook_tables_say_how_many_rows_they_leave_out(total: int) -> None:
    html = notebook_table("title", ("column",), [(number,) for number in range(total)])
    assert len(Table(html).rows) == (min(total, ROWS) + 1 if total else 0)
    assert Table(html).around.strip().partition("and ")[2] == (f"{total - ROWS} more" if total > ROWS else "")


@given(st.floats(0, 1e6))
def test_what_is_said_to_be_enough_is(value: float) -> None:
    shown = float(sufficient(value))
    assert value <= shown <= max(1.11 * value, 5e-324)


def test_numbers_in_few_characters() -> None:
    assert [number(value) for value in (0, 255, 41.594, 0.00468994, 1.234e-7)] == [
        "0",
        "255",
        "41.59",
        "0.00469",
        "1.2e-07",
    ]
    assert [sufficient(value) for value in (0, 6.04e-7, 0.00811, 1e-4)] == ["0", "6.1e-07", "0.0082", "1.0e-04"]
