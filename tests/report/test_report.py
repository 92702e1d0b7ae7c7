"""The report page: complete, self-contained, and safe for names of any kind."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from ir_tools.comparison import Comparison, LayerComparison, OutputComparison, difference
from ir_tools.report import render_report

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
        mode="free running",
        layers=tuple(layers),
        outputs=(output,),
        runtime="2026.4.1",
        device="a device",
        precision="f32",
        second="reference",
        inputs={},
    )


@pytest.mark.parametrize("count", [0, 1, 10, 3000])
def test_every_tensor_has_its_row_and_its_point(count: int) -> None:
    text = render_report(comparison(count), model="model.xml", replay="ir-tools compare model.xml")
    page = Page(text)
    assert page.rows == 1 + count + 1
    assert text.count("<circle") == count
    assert page.addresses == []
    assert len(text) < 5_000_000


def test_names_are_never_read_as_html() -> None:
    text = render_report(comparison(2), model=EVIL, replay=EVIL)
    assert EVIL not in text
    assert text.count("<script>") == 1
    Page(text)


def test_the_first_difference_is_told_with_its_values() -> None:
    text = " ".join(Page(render_report(comparison(9, wrong=4), model="m", replay="r")).texts)
    words = re.sub(r"\s+", " ", text)
    assert "First difference" in words
    assert "layer_4 (ReLU-1, line 5)" in words
    assert "1 tensor differs." in words
    assert "Worst tensor: layer_4" in words


def test_the_first_difference_is_ringed_and_linked_and_explained() -> None:
    found = comparison(9, wrong=4)
    reason = "it has another weight"
    layers = [replace(row, reason=reason, round=2) if row.status == "differs" else row for row in found.layers]
    page = render_report(replace(found, layers=tuple(layers)), model="m", replay="r")
    assert Page(page).addresses == ["#row4"]
    assert page.count('<circle class="ring"') == 1
    assert '<text class="first"' in page
    assert "Why: it has another weight; round 3 of its body." in page


def test_quantized_arithmetic_is_told() -> None:
    found = comparison(3)
    page = render_report(replace(found, narrow=7, in_use=found.outputs), model="m", replay="r")
    assert "7 operations in int8" in page
    assert "int8" not in render_report(found, model="m", replay="r")


def test_who_computed_is_told() -> None:
    text = " ".join(Page(render_report(comparison(3), model="m", replay="ir-tools compare m")).texts)
    for word in ("OpenVINO 2026.4.1", "a device", "by runtime", "free running", "ir-tools compare m"):
        assert word in text


def test_a_layer_whose_shape_differs_is_the_worst_but_has_no_histogram() -> None:
    found = comparison(2)
    odd = LayerComparison(path="odd", layer_id=9, line=None, op="Add-1", status="differs", reason="[1, 2] is expected")
    text = render_report(
        Comparison(
            **{name: getattr(found, name) for name in Comparison.__slots__ if name != "layers"},
            layers=(odd, *found.layers),
        ),
        model="m",
        replay="r",
    )
    assert "[1, 2] is expected" in text
    assert text.count("<circle") == 3 + text.count('<circle class="ring"')
    Page(text)
