"""Weights, biases and windows of broken legacy layers; migrating, which reads them, decides what is wrong."""

import random
import re
from collections.abc import Iterator

import numpy as np
import pytest

import ir_tools
from tests.legacy.makers import MAKERS

BLOB = re.compile(r"<(weights|biases|custom) [^>]*/>")
RULES = "IR013,IR014"
BITS = {"BinaryConvolution", "BinaryConvolution of two levels"}
"""Kinds whose weights are bits, which are not counted."""


def is_refused(xml: str, weights: bytes) -> bool:
    """Return whether migrating refuses the layer: it asks each blob for the number of values that it needs."""
    return not ir_tools.migrate(ir_tools.read(xml.encode(), weights)).ok


def changed(xml: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield the name of each blob, what is changed, the file after that, and the line of the blob."""
    for place in BLOB.finditer(xml):
        size = int(re.findall(r'size="([0-9]+)"', place[0])[0])
        sizes = {"absent": None, "half": size // 2, "more": size + 1}
        for change, given in sizes.items():
            blob = "" if given is None else place[0].replace(f'size="{size}"', f'size="{given}"')
            line = xml.count("\n", 0, place.start()) + 1
            yield place[1], change, xml[: place.start()] + blob + xml[place.end() :], line


@pytest.mark.parametrize("kind", MAKERS)
def test_blobs_are_as_large_as_the_layer_needs(kind: str) -> None:
    for seed in range(2):
        case = MAKERS[kind](np.random.default_rng(seed), random.Random(f"{kind} {seed}").randrange(2, 8))
        assert not ir_tools.validate(case.xml.encode(), case.weights, select=RULES)
        refused = is_refused(case.xml, case.weights)
        for name, change, xml, line in changed(case.xml):
            found = ir_tools.validate(xml.encode(), case.weights, select=RULES)
            rejected = (kind, name, change) == ("ScaleShift", "weights", "absent")  # by Inference Engine 2020.1
            if change == "more" or rejected:
                assert found or kind in BITS, (kind, seed, name, change)
            elif not refused and kind not in BITS and is_refused(xml, case.weights):
                assert found, (kind, seed, name, change)
            elif not refused and change == "absent":
                assert bool(found) == is_refused(xml, case.weights), (kind, seed, name)
            assert change == "absent" or all(each.line == line for each in found)


def test_a_misspelled_blob_is_named() -> None:
    case = MAKERS["Convolution"](np.random.default_rng(0), 5)
    xml = case.xml.replace("<weights", "<weighs")
    [found] = ir_tools.validate(xml.encode(), case.weights, select="IR014")
    assert found.message == "the layer has no <weights>"
    assert found.help == "<weighs> is not read"


def test_a_misspelled_blob_that_may_be_absent_is_reported() -> None:
    case = MAKERS["Convolution"](np.random.default_rng(0), 5)
    [found] = ir_tools.validate(case.xml.replace("<biases", "<biasesx").encode(), case.weights, select="IR134")
    assert found.message == "<biasesx> is not known in <blobs>; did you mean <biases>?"


@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution", "Pooling"])
@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ("", "kernel is missing"),
        (' kernel="1"', "kernel has 1 value; the input has 2 spatial axes"),
        (' kernel="1,1,1"', "kernel has 3 values; the input has 2 spatial axes"),
    ],
)
def test_windows_have_a_size_for_each_axis(kind: str, kernel: str, words: str) -> None:
    case = next(case for seed in range(20) if ' kernel="' in (case := MAKERS[kind](np.random.default_rng(seed), 5)).xml)
    xml = re.sub(r' kernel="[^"]*"', kernel, case.xml)
    errors = [one for one in ir_tools.validate(xml.encode(), case.weights) if one.severity == "error"]
    assert [one.message for one in errors] == [words]
    assert is_refused(xml, case.weights)


def test_pads_are_not_negative() -> None:
    case = MAKERS["Convolution"](np.random.default_rng(0), 5)
    xml = case.xml.replace('pads_begin="0,0"', 'pads_begin="-1,0"').encode()
    assert ir_tools.validate(xml, case.weights, select="IR208")
