"""Rewrite pooling to the layers of another version: the cheapest candidate that is proved equal is used.

A candidate says what its layers compute as a `PoolingSpec`; `equal_for_all` decides whether that is the pooling that
is wanted, for the one input size or for every size of dynamic dimensions. One that is not equal can never be emitted.
"""

from collections.abc import Iterator, Sequence

from ir_tools.ops._convolution import by_convolution
from ir_tools.ops._equivalence import PoolingSpec, Proof, behind_pad, equal_for_all, floored, plain, undilated
from ir_tools.ops._layers import Layers, padded
from ir_tools.ops._windows import Pooling, Rounding, axis_dim, pooling_of
from ir_tools.ops.definition import Fact, NewLayer, Ref, Refused, Rewrite
from ir_tools.ops.fields import Attrs, listed
from ir_tools.types import Dim, element_type

__all__ = ["average_pooling", "avg_pool_layer", "max_pool_layer", "migrate_avg_pool", "migrate_max_pool"]


# --- versions ---------------------------------------------------------------------------------------------------


def avg_pool_opset(target: int) -> int:
    """Return the stamp of AvgPool in a target opset: the versions are 1, 14 and 16; 1 is written opset8 from 8 on."""
    return next(opset for opset in (16, 14, 8, 1) if opset <= target)


def _writable(pooling: Pooling, target: int) -> bool:
    """Return whether AvgPool of the target opset has these settings, and the runtime takes them.

    The runtime rejects explicit pads that are as large as the window where padding does not
    count (measured on 2026.4.1).
    """
    if pooling.rounding == "ceil_torch" and target < 14:
        return False
    if target < 16 and set(pooling.dilations) != {1}:
        return False
    if pooling.auto_pad != "explicit" or not pooling.exclude_pad:
        return True
    pads = enumerate(zip(pooling.pads_begin, pooling.pads_end, strict=True))
    return all([max(pair) < pooling.reach(axis) for axis, pair in pads])


# --- candidates -------------------------------------------------------------------------------------------------


ROUNDINGS: tuple[Rounding, ...] = ("floor", "ceil", "ceil_torch")


def avg_pool_forms(wanted: PoolingSpec, sizes: Sequence[Dim], target: int) -> Iterator[PoolingSpec]:
    """Yield poolings that may be equal to the wanted one and that AvgPool of the target opset has, cheapest first."""
    seen = set[PoolingSpec]()
    for form in _forms(wanted, sizes):
        if _writable(form.pooling, target) and form not in seen and _survives(form):
            seen.add(form)
            yield form


def _forms(wanted: PoolingSpec, sizes: Sequence[Dim]) -> Iterator[PoolingSpec]:
    """Yield, for any opset, first what has no Pad layer, and then what is behind one.

    That is the pooling as it is, with the other roundings, explicit pads, the other divisor, without dilations.
    """
    pooling = plain(wanted.pooling)
    explicit = pooling if pooling.auto_pad == "explicit" else floored(pooling)
    before, after = wanted.before, wanted.after
    if before:
        yield from map(PoolingSpec, _variants(_with_pads(explicit, before, after)))
        yield from (PoolingSpec(variant, before, after) for variant in _variants(pooling))
        return
    yield from map(PoolingSpec, _variants(pooling))
    small = undilated(wanted, sizes)
    yield from map(PoolingSpec, _variants(small) if small else ())
    bare = explicit._replace(pads_begin=(0,) * pooling.rank, pads_end=(0,) * pooling.rank)
    yield from (PoolingSpec(variant, explicit.pads_begin, explicit.pads_end) for variant in _variants(bare))
    over = behind_pad(explicit, floored(explicit))
    yield PoolingSpec(over.pooling._replace(exclude_pad=True), over.before, over.after)


def _survives(form: PoolingSpec) -> bool:
    """Return whether the CPU plugin leaves the meaning alone (measured on 2026.4.1).

    It merges a Pad into an AvgPool behind it that has no padding of its own, which then divides by the whole kernel:
    the same with floor, where no window hangs over the end, and another number with the other roundings.
    """
    own = any((*form.pooling.pads_begin, *form.pooling.pads_end))
    return not form.before or own or form.pooling.rounding == "floor"


def _variants(pooling: Pooling) -> Iterator[Pooling]:
    for other_divisor in (False, True):
        divided = pooling._replace(exclude_pad=not pooling.exclude_pad) if other_divisor else pooling
        yield divided
        yield from (divided._replace(rounding=word) for word in ROUNDINGS if word != divided.rounding)
        yield floored(divided)


def _with_pads(pooling: Pooling, before: Sequence[int], after: Sequence[int]) -> Pooling:
    begins = tuple(one + two for one, two in zip(pooling.pads_begin, before, strict=True))
    ends = tuple(one + two for one, two in zip(pooling.pads_end, after, strict=True))
    return pooling._replace(pads_begin=begins, pads_end=ends, exclude_pad=False)


# --- writing them down ------------------------------------------------------------------------------------------


def migrate_avg_pool(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite AvgPool of any version in the target opset."""
    return average_pooling(PoolingSpec(pooling_of(attrs)), inputs[0], target)


def average_pooling(wanted: PoolingSpec, data: Fact, target: int) -> Rewrite | Refused:
    """Add the fewest layers of the target opset that mean the wanted pooling for every shape that `data` may have."""
    sizes = (Dim(),) * wanted.pooling.rank if data.shape is None else data.spatial
    for form in avg_pool_forms(wanted, sizes, target):
        if form.before and data.shape is None:
            continue
        proof = equal_for_all(wanted, form, sizes)
        if isinstance(proof, Proof):
            return _avg_pool_rewrite(wanted, form, data, target, proof)
    if data.shape is None or data.dtype.kind == "dynamic":
        missing = "rank" if data.shape is None else "element type"
        return Refused(f"a single AvgPool cannot express it, and the input's {missing} is not known", _culprit(wanted))
    return by_convolution(wanted, data, target)


def _culprit(wanted: PoolingSpec) -> str:
    return "rounding_type" if set(wanted.pooling.dilations) == {1} else "dilations"


def _avg_pool_rewrite(wanted: PoolingSpec, form: PoolingSpec, data: Fact, target: int, proof: Proof) -> Rewrite:
    layers = Layers([data], target)
    source = Ref(None)
    if form.before:
        source = padded(layers, source, form.before, form.after)
    layers.made.append(avg_pool_layer(form.pooling, layers.fact(source), source, target))
    return layers.rewrite(_strategy(wanted, form), proof.text)


def _strategy(wanted: PoolingSpec, form: PoolingSpec) -> str:
    if form.before:
        return "a Pad layer before the pooling"
    changed = [
        word
        for word, name in (
            ("dilations removed from axes with a kernel of 1", "dilations"),
            (f"rounding {form.pooling.rounding}", "rounding"),
            ("explicit pads", "pads_end"),
            ("other exclude-pad", "exclude_pad"),
        )
        if getattr(wanted.pooling, name) != getattr(form.pooling, name)
    ]
    return ", ".join(changed) or "same attributes"


def avg_pool_layer(pooling: Pooling, data: Fact, source: Ref, target: int) -> NewLayer:
    """Return AvgPool of the target opset with all of its attributes."""
    raw = {**_sliding(pooling), "exclude-pad": "true" if pooling.exclude_pad else "false"}
    opset = avg_pool_opset(target)
    if opset >= 16:
        raw["dilations"] = listed(pooling.dilations)
    return NewLayer(type="AvgPool", opset=opset, inputs=(source,), outputs=(_pooled(pooling, data),), raw=raw)


def _sliding(pooling: Pooling) -> dict[str, str]:
    return {
        "kernel": listed(pooling.kernel),
        "strides": listed(pooling.strides),
        "pads_begin": listed(pooling.pads_begin),
        "pads_end": listed(pooling.pads_end),
        "rounding_type": pooling.rounding,
        "auto_pad": pooling.auto_pad,
    }


def _pooled(pooling: Pooling, data: Fact) -> Fact:
    if data.shape is None:
        return Fact(data.dtype, (Dim(),) * (pooling.rank + 2))
    return data.with_spatial([axis_dim(pooling, axis, dim) for axis, dim in enumerate(data.spatial)])


# --- maxima -----------------------------------------------------------------------------------------------------


def migrate_max_pool(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite MaxPool-8 and -14 if the windows are the same; every opset reads MaxPool-1 as it is."""
    if "axis" not in attrs:
        return None
    data, wanted = inputs[0], pooling_of(attrs)
    sizes = (Dim(),) * wanted.rank if data.shape is None else data.spatial
    outputs = 2 if target >= 8 else 1
    for pooling in _max_pool_candidates(wanted, target):
        proof = equal_for_all(PoolingSpec(wanted), PoolingSpec(pooling), sizes, divide=False)
        if isinstance(proof, Proof):
            layer = max_pool_layer(pooling, data, target, outputs=outputs, attrs=attrs)
            return Rewrite(
                layers=(layer,), strategy=_strategy(PoolingSpec(wanted), PoolingSpec(pooling)), proof=proof.text
            )
    return Refused(
        f"no MaxPool of opset{target} has the same windows for every input size", _culprit(PoolingSpec(wanted))
    )


def _max_pool_candidates(wanted: Pooling, target: int) -> Iterator[Pooling]:
    pooling = plain(wanted)
    for variant in (wanted, *_variants(pooling)):
        torch, dilated = variant.rounding == "ceil_torch", set(variant.dilations) != {1}
        if (target >= 14 or not torch) and (target >= 8 or not dilated):
            yield variant


def max_pool_layer(pooling: Pooling, data: Fact, target: int, *, outputs: int, attrs: Attrs | None = None) -> NewLayer:
    """Return MaxPool of the target opset with all of its attributes; `attrs`: of the layer whose indices are kept."""
    opset = next(opset for opset in (14, 8, 1) if opset <= target)
    raw, values = _sliding(pooling), _pooled(pooling, data)
    made: tuple[Fact, ...] = (values,)
    if opset >= 8:
        index = "i64" if attrs is None else attrs.index_element_type
        raw |= {"dilations": listed(pooling.dilations), "index_element_type": index}
        raw["axis"] = "0" if attrs is None else str(attrs.axis)
        made = (values, Fact(element_type(index), values.shape))[:outputs]
    return NewLayer(type="MaxPool", opset=opset, inputs=(Ref(None),), outputs=made, raw=raw)
