"""Suppression of overlapping boxes against the runtime: shapes, and what it refuses or breaks on."""

import numpy as np
import pytest

from ir_tools import run
from ir_tools.builder import Builder
from ir_tools.ops import suppression
from ir_tools.ops._suppression import Rule, Settings, selected
from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import Case, ChanceTests, Change, ops_by_name
from tests.ops.layer_support import compare_values, found_arrays
from tests.ops.single import Fed, Slot

OPS = ops_by_name(suppression.OPS)


def number(value: float) -> Slot:
    return np.array(value, np.int64 if isinstance(value, int) else np.float32)


NMS = {"box_encoding": "corner", "sort_result_descending": "true"}
TYPED = {**NMS, "output_type": "i64"}
INPUTS: tuple[Slot, ...] = (("f32", "1,10,4"), ("f32", "1,3,10"), number(5), number(0.5), number(0.1))
PER_IMAGE = {
    "sort_result_type": "score",
    "output_type": "i64",
    "nms_top_k": "5",
    "keep_top_k": "5",
    "sort_result_across_batch": "false",
    "score_threshold": "0.1",
    "background_class": "-1",
    "normalized": "true",
}
CASES = {
    "NonMaxSuppression-1": Case(OPS["NonMaxSuppression-1"], NMS, INPUTS),
    "NonMaxSuppression-1-two": Case(OPS["NonMaxSuppression-1"], NMS, INPUTS[:2]),
    "NonMaxSuppression-3": Case(OPS["NonMaxSuppression-3"], TYPED, INPUTS),
    "NonMaxSuppression-4": Case(OPS["NonMaxSuppression-4"], TYPED, INPUTS),
    "NonMaxSuppression-4-three": Case(OPS["NonMaxSuppression-4"], TYPED, INPUTS[:3]),
    "NonMaxSuppression-5": Case(OPS["NonMaxSuppression-5"], TYPED, (*INPUTS, number(0.0))),
    "NonMaxSuppression-9": Case(OPS["NonMaxSuppression-9"], TYPED, (*INPUTS, number(0.0))),
    "NonMaxSuppression-9-two": Case(OPS["NonMaxSuppression-9"], TYPED, INPUTS[:2]),
    "NMSRotated-13": Case(
        OPS["NMSRotated-13"],
        {"sort_result_descending": "true", "output_type": "i64", "clockwise": "true"},
        (("f32", "1,10,5"), *INPUTS[1:]),
    ),
    "MatrixNms-8": Case(OPS["MatrixNms-8"], {**PER_IMAGE, "decay_function": "linear"}, INPUTS[:2]),
    "MulticlassNms-8": Case(OPS["MulticlassNms-8"], {**PER_IMAGE, "iou_threshold": "0.5"}, INPUTS[:2]),
    "MulticlassNms-9": Case(OPS["MulticlassNms-9"], {**PER_IMAGE, "iou_threshold": "0.5"}, INPUTS[:2]),
    "MulticlassNms-9-three": Case(
        OPS["MulticlassNms-9"], PER_IMAGE, (("f32", "3,10,4"), ("f32", "3,10"), ("i64", "2"))
    ),
}


RUN: list[Change] = [
    *((name, {}, {}) for name in CASES if name not in {"NonMaxSuppression-9-two", "MulticlassNms-9-three"}),
    ("NonMaxSuppression-9", {"output_type": "i32", "box_encoding": "CENTER"}, {}),
    ("NonMaxSuppression-9", {}, {2: number(2**40), 3: number(-1.0), 4: number(float("nan"))}),
    ("NonMaxSuppression-5", {}, {2: number(0)}),
    ("MatrixNms-8", {"nms_top_k": "-1", "keep_top_k": "-1", "background_class": "5"}, {}),
    ("MulticlassNms-9", {"nms_eta": "0", "iou_threshold": "-1", "keep_top_k": "0"}, {}),
]
REFUSED: list[Change] = [
    ("NonMaxSuppression-9", {"box_encoding": "foo"}, {}),
    ("NonMaxSuppression-9", {"output_type": "u8"}, {}),
    ("NonMaxSuppression-1", {}, {2: np.array([5], np.int64)}),
    ("NonMaxSuppression-5", {}, {0: ("f32", "1,10,5")}),
    ("NonMaxSuppression-5", {}, {1: ("f32", "2,3,10")}),
    ("NMSRotated-13", {}, {0: ("f32", "1,10,4")}),
    ("MatrixNms-8", {"nms_top_k": "-2"}, {}),
    ("MatrixNms-8", {"decay_function": "foo"}, {}),
    ("MatrixNms-8", {"background_class": "-2"}, {}),
    ("MulticlassNms-9", {"nms_eta": "2"}, {}),
    ("MulticlassNms-9", {"keep_top_k": "-2"}, {}),
    ("MulticlassNms-8", {}, {1: ("f32", "1,10")}),
]


UNPREDICTABLE: list[Change] = [
    ("NonMaxSuppression-9", {}, {2: number(-1)}),
    ("NonMaxSuppression-4", {}, {2: number(-5)}),
]


class TestSuppression(ChanceTests):
    cases, run, refused, unpredictable = CASES, RUN, REFUSED, UNPREDICTABLE


@pytest.mark.parametrize(
    ("score", "overlap", "chosen"), [(0.25, 0.75, [0, 1]), (0.125, 0.5, [0, 2]), (0.125, 0.75, [0, 1, 2])]
)
def test_boxes_at_the_thresholds(score: float, overlap: float, chosen: list[int], client: RuntimeClient) -> None:
    """A box whose score is the threshold is left out, and so is one whose overlap, here a half, is the threshold."""
    boxes = [[[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 6, 6]]]
    found = chosen_boxes(client, boxes, [[[0.75, 0.5, 0.25]]], 3, overlap, score)
    assert found == [[0, 0, box] for box in chosen]


@pytest.mark.parametrize(("score", "chosen"), [(0.38, [0, 1]), (0.4, [0])])
def test_scores_fall_by_the_square_of_the_overlap(score: float, chosen: list[int], client: RuntimeClient) -> None:
    """The overlap is a half and sigma, too: 0.5 falls to `0.5 * exp(-0.5 / 0.5 * 0.5 ** 2)`, which is 0.389."""
    boxes = [[[0, 0, 1, 1], [0, 0, 1, 2]]]
    found = chosen_boxes(client, boxes, [[[0.75, 0.5]]], 2, 1.0, score, 0.5)
    assert found == [[0, 0, box] for box in chosen]


def test_boxes_of_one_score_come_by_image_class_and_place(client: RuntimeClient) -> None:
    boxes = [[[0, 0, 1, 1], [5, 5, 6, 6]]] * 2
    found = chosen_boxes(client, boxes, [[[0.5, 0.5], [0.5, 0.75]]] * 2, 2, 0.5, 0.1)
    places = [list(place) for place in np.ndindex(2, 2, 2)]
    assert found == [[0, 1, 1], [1, 1, 1], *(place for place in places if place[1:] != [1, 1])]


@pytest.mark.parametrize(("overlap", "chosen"), [(0.75, [0, 1, 2]), (0.4, [0, 2])])
def test_boxes_by_their_centres(overlap: float, chosen: list[int], client: RuntimeClient) -> None:
    """The first is half of the second; the third is beside them."""
    boxes = [[[0.5, 0.5, 1, 1], [0.5, 1, 1, 2], [2, 0.5, 1, 1]]]
    found = chosen_boxes(client, boxes, [[[0.75, 0.5, 0.25]]], 3, overlap, 0.1, encoding="center")
    assert found == [[0, 0, box] for box in chosen]


def test_without_thresholds_one_box_drops_all_others(client: RuntimeClient) -> None:
    """An overlap of 0 is the threshold then."""
    boxes = [[[0, 0, 1, 1], [0, 0, 1, 2], [5, 5, 6, 6]]]
    assert chosen_boxes(client, boxes, [[[0.75, 0.5, 0.25]]], 3) == [[0, 0, 0]]


def chosen_boxes(
    client: RuntimeClient, boxes: object, scores: object, most: int, *numbers: float, encoding: str = "corner"
) -> list[list[int]]:
    """What NonMaxSuppression-9 chooses of boxes: the reference and the runtime the same."""
    arrays = {"boxes": np.array(boxes, np.float32), "scores": np.array(scores, np.float32)}
    builder = Builder(opset=9)
    inputs = [builder.parameter(name, ",".join(map(str, array.shape))) for name, array in arrays.items()]
    settings = [np.array(most), *(np.array(value, np.float32) for value in numbers)]
    builder.result(builder.call("NonMaxSuppression", *inputs, *settings, box_encoding=encoding), "chosen")
    found: list[list[int]] = run(builder.model, arrays)["chosen"].tolist()
    assert client.infer_model(builder.model, arrays).outputs["chosen"].tolist() == found
    return found


def test_a_score_that_falls_to_the_threshold_is_left_out() -> None:
    """As one that is there to begin with."""
    scores, overlap = np.array([[[0.75, 0.5]]], np.float32), np.array([0.5], np.float32)
    fallen = np.float32(0.5) * np.exp(-0.5 / 0.5 * overlap * overlap).astype(np.float32)[0]
    rule = Rule(lambda box, others: overlap, lambda common, most: common > most)
    for threshold, count in ((float(fallen), 1), (float(np.nextafter(fallen, np.float32(0))), 2)):
        found = selected(np.zeros((1, 2, 4), np.float32), scores, Settings(3, 0.5, threshold, 0.5), False, rule)
        assert len(found.places) == count


@pytest.mark.parametrize(("threshold", "count"), [(0.25, 1), (0.24, 2)])
def test_a_score_that_is_the_second_threshold_is_left_out(threshold: float, count: int, client: RuntimeClient) -> None:
    """Of two boxes that lie apart."""
    boxes, scores = np.array([[[0, 0, 1, 1], [5, 5, 6, 6]]], np.float32), np.array([[[0.75, 0.25]]], np.float32)
    layer = Fed(OPS["MatrixNms-8"], {"background_class": "-1", "post_threshold": f"{threshold}"}, [boxes, scores])
    assert [len(array) for array in found_arrays(layer)] == [count, count, 1]
    compare_values(client, [layer], 0)
