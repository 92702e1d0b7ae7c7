"""Random settings of TopK, the greedy decoders and CTCLoss."""

import numpy as np

from ir_tools.ops import sorting
from tests.ops.around import ops_by_name
from tests.ops.kernel_settings import flag, floats, one_of
from tests.ops.single import Fed, Maker

OPS = ops_by_name(sorting.OPS)
Rng = np.random.Generator


def top_k(rng: Rng) -> Fed:
    """Numbers that differ, and numbers of which many are equal: then the first of them come out."""
    version, shape = int(rng.choice([1, 3, 11])), tuple(rng.integers(1, 7, rng.integers(1, 5)))
    axis = int(rng.integers(-len(shape), len(shape)))
    raw = {
        "axis": str(axis),
        "mode": one_of(rng, "max", "min"),
        "sort": one_of(rng, "value", "index", "none"),
        "index_element_type": one_of(rng, "i32", "i64"),
    }
    if version == 11 and raw["sort"] != "none":
        raw["stable"] = flag(rng)
    values = rng.normal(size=shape) * 10 if rng.random() < 0.6 else rng.integers(0, 3, shape)
    kind = np.dtype(one_of(rng, "float32", "float32", "int32", "uint8", "int8", "float16"))
    data = np.abs(values).astype(kind) if kind.kind == "u" else values.astype(kind)
    return Fed(
        OPS[f"TopK-{version}"], raw, [data, np.array(rng.integers(1, shape[axis] + 1), np.int64)], constants=(1,)
    )


def logits(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    return floats(rng.normal(size=shape) if rng.random() < 0.6 else rng.integers(0, 3, shape))


def greedy_decoder(rng: Rng) -> Fed:
    steps, count, classes = (int(size) for size in rng.integers([1, 1, 2], [8, 4, 5]))
    mask = np.arange(steps)[:, None] < rng.integers(0, steps + 1, count)
    mask ^= (rng.random(mask.shape) < 0.1) & (rng.random() < 0.5)
    arrays = [logits(rng, (steps, count, classes)), floats(mask)]
    return Fed(OPS["CTCGreedyDecoder-1"], {"ctc_merge_repeated": flag(rng)}, arrays)


def greedy_decoder_seq_len(rng: Rng) -> Fed:
    steps, count, classes = (int(size) for size in rng.integers([1, 1, 2], [8, 4, 5]))
    arrays = [logits(rng, (count, steps, classes)), rng.integers(0, steps + 1, count).astype(np.int32)]
    if rng.random() < 0.5:
        arrays.append(np.array(rng.integers(0, classes), np.int32))
    raw = {
        "merge_repeated": flag(rng),
        "classes_index_type": one_of(rng, "i32", "i64"),
        "sequence_length_type": one_of(rng, "i32", "i64"),
    }
    return Fed(OPS["CTCGreedyDecoderSeqLen-6"], raw, arrays)


def ctc_loss(rng: Rng) -> Fed:
    """Labels that are not blank, as many as there are time steps or fewer."""
    count, steps, classes = (int(size) for size in rng.integers([1, 2, 3], [4, 8, 6]))
    lengths = rng.integers(1, steps + 1, count)
    labels, given = rng.integers(0, classes, (count, steps)), rng.random() < 0.6
    blank = int(rng.integers(0, classes)) if given else classes - 1
    labels = np.where(labels == blank, (blank + 1) % classes, labels)
    arrays = [floats(rng.normal(size=(count, steps, classes)))]
    arrays += [array.astype(np.int32) for array in (lengths, labels, rng.integers(1, lengths + 1))]
    if given:
        arrays.append(np.array(blank, np.int32))
    names = ("preprocess_collapse_repeated", "ctc_merge_repeated", "unique")
    return Fed(OPS["CTCLoss-4"], {name: flag(rng) for name in names}, arrays)


MAKERS: tuple[Maker, ...] = (top_k, greedy_decoder, greedy_decoder_seq_len, ctc_loss)
