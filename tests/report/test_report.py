"""The report page: complete, self-contained, and safe for names of any kind."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ir_tools.cli._comparisons import _columns
from ir_tools.comparison import Comparison, LayerComparison, OutputComparison, difference
from ir_tools.inputs import InputPlan, PlannedInput, parse_generator
from ir_tools.report import render_report, write_report
from ir_tools.report._plots import MAX_POINTS, WIDTH
from ir_tools.report._rows import layer_rows, worst
from ir_tools.types import element_type

DATE = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
NOTHING = InputPlan(inputs=())
EVIL = '</script><script>alert("x")</script>'


class Page(HTMLParser):
    """Collects tags, rows and addresses; complains of tags that do not match."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows = 0
        self.addresses: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.rows += tag == "tr"
        self.addresses += [value or "" for name, value in attrs if name in {"src", "href"}]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def comparison(count: int, wrong: int | None = None) -> Comparison:
    expected = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    layers = []
    for number in range(count):
        found = difference(expected, expected + np.float32(0.5 if number == wrong else 1e-6))
        layers.append(
            LayerComparison(
                path=f"layer_{number}{EVIL if number == 0 else ''}",
                layer_id=number,
                line=number + 1,
                op="ReLU-1",
                index=number,
                element_type="f32",
                shape=(3, 4),
                status="ok" if found.ok else "differs",
                difference=found,
                engine="runtime" if number == 1 else "reference",
            )
        )
    output = OutputComparison(name="out", element_type="f32", shape=(3, 4), difference=difference(expected, expected))
    return Comparison(
        mode="cumulative",
        layers=tuple(layers),
        outputs=(output,),
        runtime="2026.4.1",
        device="a device",
        precision="f32",
        second="reference",
        inputs={},
    )


def rendered(found: Comparison, *, model: str = "m", replay: str = "r", plan: InputPlan = NOTHING) -> str:
    return render_report(found, model=model, replay=replay, plan=plan, date=DATE)


@pytest.mark.parametrize("count", [0, 1, 10, 300])
def test_every_tensor_has_its_row_and_its_point(count: int) -> None:
    text = rendered(comparison(count), model="model.xml", replay="ir-tools compare model.xml")
    page = Page(text)
    assert page.rows == 2 + (1 + count if count else 0)
    assert text.count("<circle") == count
    assert page.addresses == [f"#row{number}" for number in range(count)]


@pytest.mark.parametrize("count", [3000, pytest.param(20_000, marks=pytest.mark.sweep)])
def test_large_models_share_points_but_no_rows(count: int) -> None:
    """The first difference has a point of its own."""
    text = rendered(comparison(count, wrong=1234))
    page = Page(text)
    assert page.rows == 3 + count
    assert text.count("<circle") - 1 <= MAX_POINTS
    assert page.addresses.count("#row1234") == 2
    assert len(text) < 300 * count


def test_a_name_that_is_not_text(tmp_path: Path) -> None:
    """What the file system gives for a byte that is not UTF-8 is written as an escape."""
    write_report([(comparison(1), ())] * 2, tmp_path / "r.html", model="m\udcff.xml", replay="r", plan=NOTHING)
    assert "m\\udcff.xml" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_page_of_several_comparisons_begins_with_how_many_differ(tmp_path: Path) -> None:
    for wrong, verdict in ((None, "All 2 comparisons are ok."), (0, "1 of 2 comparisons differs.")):
        pages = [(comparison(2), ()), (comparison(2, wrong), ())]
        write_report(pages, tmp_path / "r.html", model="m", replay="r", plan=NOTHING)
        text = (tmp_path / "r.html").read_text()
        assert verdict in text.partition("<main>")[0]


def test_the_outputs_come_first() -> None:
    words = rendered(comparison(9, wrong=4))
    verdicts = re.findall(r'<p class="verdict (\w+)">(.*)</p>', words)
    assert verdicts == [("ok", "The output is ok."), ("differs", "1 of 9 tensors differs.")]
    headings = re.findall(r"<h2>(.*)</h2>", words)
    assert headings[0] == "Outputs of the model"
    assert headings[-1] == "Every tensor"
    found = comparison(2)
    wrong = difference(np.zeros(3, np.float32), np.array([0, 2, 0], np.float32))
    page = rendered(replace(found, outputs=(replace(found.outputs[0], difference=wrong), *found.outputs * 2)))
    assert "1 of 3 outputs differs." in page
    assert "<title>differs: m</title>" in page


def test_what_was_not_compared_is_not_counted() -> None:
    assert "against reference: 2 tensors and 1 output agree" in repr(comparison(2))
    assert "against reference: 1 output agree" in repr(comparison(0))


def test_outputs_decide_where_errors_of_rounding_add_up() -> None:
    found = replace(comparison(9, wrong=4), rounding="bf16")
    assert found.ok
    assert repr(found) == (
        "Comparison(cumulative against reference: the output agrees; 1 tensor inside is beyond the tolerance; rounding"
        " errors of bf16 add up, so only the outputs decide)"
    )
    page = rendered(found)
    assert re.findall(r'<p class="verdict ?(\w*)">(.*)</p>', page)[1] == ("", "1 of 9 tensors differs.")
    assert "rounding errors of bf16 add up, so only the outputs decide.</p>" in page
    assert "<title>ok: m</title>" in page
    wrong = difference(np.zeros(3, np.float32), np.array([0, 2, 0], np.float32))
    assert not replace(found, outputs=(replace(found.outputs[0], difference=wrong),)).ok
    assert not replace(found, outputs=()).ok


def test_when_and_of_what_it_was_made() -> None:
    given = PlannedInput(name="x", dtype=element_type("f32"), shape=(1, 3), values=parse_generator("uniform:0:255"))
    page = rendered(comparison(2), plan=InputPlan(inputs=(given,), seed=17))
    for text in ("2026-01-31 12:30:00 UTC", "<dt>seed</dt><dd>17</dd>", "<li>x: f32 [1,3], uniform:0:255</li>"):
        assert text in page


def test_where_the_largest_error_is() -> None:
    expected = np.zeros((3, 4), np.float32)
    actual = expected.copy()
    actual[2, 1] = 7
    found = comparison(1)
    row = replace(found.layers[0], difference=difference(expected, actual), status="differs")
    page = rendered(replace(found, layers=(row,)))
    assert "<td>7</td><td>2,1</td>" in page
    assert "largest 7 at 2,1" in page


def test_the_columns_are_those_of_the_command_line() -> None:
    page = rendered(comparison(1))
    (heads,) = re.findall(r'<table id="tensors" .*>\n<thead><tr>(.*)</tr>', page)
    assert re.findall(r'type="button">([^<]*)<', heads) == [
        "#", "layer", "operation", "type", "shape", *(column.heading for column in _columns()), "result",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("width", "table", "left"),
    [
        (60, "tensors", "# layer operation type shape max_abs needs allowed result"),
        (40, "tensors", "layer operation needs result"),
        (60, "outputs", "output type shape max_abs needs allowed result"),
        (40, "outputs", "output max_abs needs result"),
    ],
)
def test_narrow_pages_drop_numbers_before_names(width: int, table: str, left: str) -> None:
    page = rendered(comparison(1))
    (heads,) = re.findall(rf'<table id="{table}"[^>]*>\n<thead><tr>(.*)</tr>', page)
    columns = [name.replace(" ", "_") for name in re.findall(r">([^<>]+)<", heads)]
    hidden = set[int]()
    for limit, rules in re.findall(r"@media screen and \(max-width: (\d+)rem\) \{\n(.*?)\n\}", page, re.DOTALL):
        if width <= int(limit):
            (own,) = re.findall(rf"#{table} :is\(td, th\):is\((.*?)\)(?:,\n| \{{)", rules)
            hidden |= {int(place) - 1 for place in re.findall(r"nth-child\((\d+)\)", own)}
            hidden |= {len(columns) - int(place) for place in re.findall(r"nth-last-child\((\d+)\)", own)}
    assert [name for place, name in enumerate(columns) if place not in hidden] == left.split()


def test_points_have_names_and_lead_to_rows() -> None:
    (title,) = re.findall(r'<a href="#row1"><title>(.*)</title><circle', rendered(comparison(3)))
    assert title == "layer_1 (ReLU-1): needs 1.1e-06, ok"


def test_the_histogram_says_that_its_axes_are_logarithmic() -> None:
    page = rendered(comparison(3))
    assert "elements, logarithmic</text>" in page
    assert 'aria-label="Elements by error, on a logarithmic axis. 1e-' in page or "on a logarithmic axis. equal" in page


def test_names_are_never_read_as_html() -> None:
    text = rendered(comparison(2), model=EVIL, replay=EVIL)
    assert EVIL not in text
    assert text.count("<script>") == 1
    Page(text)


def test_the_first_difference_is_told_with_its_values() -> None:
    text = " ".join(Page(rendered(comparison(9, wrong=4), model="m", replay="r")).texts)
    words = re.sub(r"\s+", " ", text)
    assert "First difference" in words
    assert "layer_4 (ReLU-1, line 5)" in words
    assert "1 of 9 tensors differs." in words
    assert "Worst tensor: layer_4" in words


def test_the_first_difference_is_ringed_and_linked_and_explained() -> None:
    found = comparison(9, wrong=4)
    reason = "it has another weight"
    layers = [replace(row, reason=reason, iteration=2) if row.status == "differs" else row for row in found.layers]
    page = rendered(replace(found, layers=tuple(layers)), model="m", replay="r")
    assert Page(page).addresses == ["#row4", *(f"#row{number}" for number in range(9))]
    assert page.count('<circle class="ring"') == 1
    assert '<text class="first"' in page
    assert "Why: it has another weight; iteration 3 of its body." in page


@pytest.mark.parametrize("error", [1e-3, 0.5, 1.0, 30.0])
def test_the_name_of_the_first_difference_is_beside_its_ring(error: float) -> None:
    found = comparison(1)
    ones = np.ones((3, 4), np.float32)
    row = replace(found.layers[0], status="differs", difference=difference(ones, ones - np.float32(error)))
    page = rendered(replace(found, layers=(row,)), model="m", replay="r")
    (ring,) = re.findall(r'<circle class="ring" cx="[\d.]+" cy="([\d.]+)" r="([\d.]+)"', page)
    (name,) = re.findall(r'<text class="first" x="[\d.]+" y="([\d.]+)"', page)
    ascent, below = 12, float(name) - float(ring[0])
    assert below <= -float(ring[1]) or below >= float(ring[1]) + ascent


@pytest.mark.parametrize("wrong", [0, 4, 8])
def test_the_name_of_the_first_difference_is_right_of_the_scale(wrong: int) -> None:
    page = rendered(comparison(9, wrong=wrong), model="m", replay="r")
    ((place, anchor),) = re.findall(r'<text class="first" x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)"', page)
    (ring,) = re.findall(r'<circle class="ring" cx="([\d.]+)" cy="[\d.]+" r="([\d.]+)"', page)
    (scale,) = {float(found) for found in re.findall(r'x="([\d.]+)" y="[\d.]+" text-anchor="end">1e', page)}
    assert scale + 2 <= min(float(place), float(ring[0]) - float(ring[1]))
    assert anchor == ("end" if float(place) > WIDTH / 2 else "start")


def test_quantized_arithmetic_is_told() -> None:
    found = comparison(3)
    page = rendered(replace(found, narrow=7, in_use=found.outputs), model="m", replay="r")
    assert "7 operations in int8" in page
    assert "int8" not in rendered(found, model="m", replay="r")


def test_who_computed_is_told() -> None:
    text = " ".join(Page(rendered(comparison(3), model="m", replay="ir-tools compare m")).texts)
    for word in ("OpenVINO 2026.4.1", "a device", "by runtime", "cumulative", "ir-tools compare m"):
        assert word in text


def test_a_layer_whose_shape_differs_is_the_worst_but_has_no_histogram() -> None:
    found = comparison(2)
    odd = LayerComparison(path="odd", layer_id=9, line=None, op="Add-1", status="differs", reason="expected [1, 2]")
    text = rendered(
        Comparison(
            **{name: getattr(found, name) for name in Comparison.__slots__ if name != "layers"},
            layers=(odd, *found.layers),
        ),
        model="m",
        replay="r",
    )
    assert "expected [1, 2]" in text
    assert text.count("<circle") == 3 + text.count('<circle class="ring"')
    Page(text)


def test_tensors_that_are_equal_have_no_worst() -> None:
    """So no elements are drawn by their errors; of others the worst is the one closest to its tolerance, or beyond."""
    found = comparison(3)
    equal = difference(np.ones(3, np.float32), np.ones(3, np.float32))
    layers = [replace(layer, difference=equal) for layer in found.layers]
    assert worst(layer_rows(replace(found, layers=tuple(layers)))) is None
    layers[1:] = found.layers[1:]
    row = worst(layer_rows(replace(found, layers=tuple(layers))))
    assert row is not None
    assert row.name == "layer_1"


FIELDS: Mapping[str, Any] = {
    "path": "elsewhere", "line": 77, "op": "Sigmoid-1", "element_type": "i64", "shape": (7, 9), "status": "skipped",
    "difference": None, "engine": "runtime", "reason": "for a reason", "counterpart": "twin", "iteration": 5,
}  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_layer_is_on_the_page(name: str) -> None:
    found = comparison(3, wrong=2)
    changed = replace(found.layers[2], **{name: FIELDS[name]})
    before, after = rendered(found), rendered(replace(found, layers=(*found.layers[:2], changed)))
    assert before != after
    value = FIELDS[name]
    shown = (
        ",".join(map(str, value))
        if isinstance(value, tuple)
        else str(value + (name == "iteration"))
        if isinstance(value, int)
        else str(value or "")
    )
    assert after.count(shown) > before.count(shown) or value is None
