"""Which boxes suppression of overlapping ones chooses, at its thresholds and of equal scores."""

import numpy as np
import pytest

from ir_tools import run
from ir_tools.builder import Builder
from ir_tools.ops._suppression import Rule, Settings, selected
from ir_tools.ops.definition import Op
from ir_tools.ops.suppression import MATRIX_NMS_8, MULTICLASS_NMS_8, MULTICLASS_NMS_9
from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import Case, runs
from tests.ops.layer_support import compare_values, faults_of, found_arrays
from tests.ops.single import Fed


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
    layer = Fed(MATRIX_NMS_8, {"background_class": "-1", "post_threshold": f"{threshold}"}, [boxes, scores])
    assert [len(array) for array in found_arrays(layer)] == [count, count, 1]
    compare_values(client, [layer], 0)


@pytest.mark.parametrize("op", [MATRIX_NMS_8, MULTICLASS_NMS_8, MULTICLASS_NMS_9], ids=str)
@pytest.mark.parametrize("name", ["nms_top_k", "keep_top_k", "background_class"])
def test_less_than_minus_one_is_refused(op: Op, name: str, client: RuntimeClient) -> None:
    """-1 means all boxes, or no class."""
    for number, refused in (("-1", False), ("-2", True)):
        case = Case(op, {name: number}, [("f32", "1,4,4"), ("f32", "1,2,4")])
        assert bool(faults_of(op, case.raw, case.slots)) == refused == (not runs(client, case))
