"""The operation table against the installed runtime: which opset holds what, attributes, defaults, element types."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openvino as ov
import pytest
from openvino._pyopenvino import NodeFactory

from ir_tools import validate
from ir_tools.diagnostics import Severity
from ir_tools.ops import COMPLETE_OPSETS, FAMILIES, Op, Role, find_op, ops_of
from ir_tools.ops._listing import listing
from ir_tools.ops.checks import check_attributes
from ir_tools.ops.definition import Oracle
from ir_tools.ops.fields import REQUIRED, Field, OneOf
from ir_tools.types import ELEMENT_TYPES
from tests.ops.samples import Sample, sample_of
from tests.ops.single import CORE, Slot, compiles, several, single, single_text
from tests.outcomes import works

OPS = tuple(op for family in FAMILIES for op in family.OPS)
PACKAGE = Path(ov.__file__).parent
OPSETS = sorted(int(m.name[5:]) for m in iter_modules([str(PACKAGE)]) if re.fullmatch(r"opset\d+", m.name))
FILE_NAMES = {"Constant": "Const", "Relu": "ReLU", "PRelu": "PReLU", "Softmax": "SoftMax"}
"""How files write the types that the runtime calls otherwise."""
RUNTIME_NAMES = {file: runtime for runtime, file in FILE_NAMES.items()}

OLDER = {
    "LogicalXor-1": "the runtime counts it to opset2 and reads it in opset1",
    "MVN-1": "the runtime counts it to opset2 and reads it in opset1",
    "ROIPooling-1": "the runtime counts it to opset2 and reads it in opset1",
    "ReorgYolo-1": "the runtime counts it to opset2 and reads it in opset1",
}
"""Operations that the runtime counts to another opset than the table, and why."""

OPAQUE = {op.type for op in OPS if op.bodies or op.role is not Role.COMPUTATION}
"""Types whose attributes a node without inputs does not show: they hold variables, bytes or bodies."""

DROPPED = {
    "DetectionOutput-8": {"num_classes"},
    "Broadcast-3": {"mode.auto_broadcast_axis"},
    "LSTMCell-4": {"input_forget", "weights_format"},
    "MVN-6": {"across_channels", "reduction_axes"},
    "Interpolate-4": {"align_corners", "axes"},
}
"""Attributes that a later version does not have, or has by another name."""


# --- what the runtime holds -----------------------------------------------------------------------------------------


@cache
def runtime_types() -> frozenset[str]:
    """Every type that the runtime names: in its opset tables, and in the functions of its Python opsets."""
    names = {op.type for op in OPS}
    for path in PACKAGE.glob("include/openvino/opsets/opset*_tbl.hpp"):
        names |= set(re.findall(r"^_OPENVINO_OP_REG\((\w+),", path.read_text(), re.MULTILINE))
    for number in OPSETS:
        for path in Path(import_module(f"openvino.opset{number}").__file__ or "").parent.glob("*.py"):
            names |= set(re.findall(r"create\(\s*[\"'](\w+)[\"']", path.read_text()))
    return frozenset(FILE_NAMES.get(name, name) for name in names)


@cache
def held(opset: int) -> dict[str, str]:
    """The types that an opset of the runtime holds, with the version that it gives them."""
    factory = NodeFactory(f"opset{opset}")
    found: dict[str, str] = {}
    for type in runtime_types():
        if type == "Const":
            found |= {type: "opset1"} if opset <= COMPLETE_OPSETS else {}
            continue
        try:
            found[type] = factory.create(RUNTIME_NAMES.get(type, type)).get_type_info().version_id
        except RuntimeError:
            continue
    return found


def test_runtime_is_asked_at_all() -> None:
    assert len(runtime_types()) > 200
    assert len(held(8)) > 150
    assert "AvgPool" in held(16)
    assert "AvgPool" not in held(17)


@pytest.mark.parametrize("opset", OPSETS)
def test_opset_holds_the_same(opset: int) -> None:
    """No operation of the runtime is missing in the table, and none is claimed that the runtime has not."""
    wanted = held(opset)
    found = {type: op for type in runtime_types() if (op := find_op(type, f"opset{opset}"))}
    extra = {"MVN", "ROIPooling", "ReorgYolo"} if opset == 1 else set()
    unreleased = {type for type, op in found.items() if op.oracle is Oracle.SPECIFICATION}
    assert sorted(set(wanted) - set(found)) == []
    assert sorted(set(found) - set(wanted) - extra - unreleased) == []
    assert sorted(unreleased & set(wanted)) == []
    differing = {
        str(op): wanted[type]
        for type, op in found.items()
        if type in wanted and wanted[type] != f"opset{op.version}" and str(op) not in OLDER
    }
    assert differing == {}


def test_stamps_besides_opsets() -> None:
    """`extension` and `experimental` are read for some types, `opset1` for three that came with opset2."""
    for type in sorted(runtime_types() - OPAQUE):
        for stamp in ("extension", "experimental"):
            require_same_answer(type, stamp)
    for stamp in ("ie_internal", "opset0", "Opset1", "opset01", "opset"):
        require_same_answer("Proposal", stamp)
    for type in ("MVN", "ROIPooling", "ReorgYolo"):
        op = find_op(type, "opset1")
        assert op is not None
        sample = sample_of(op)
        assert sample is not None
        single(type, 1, sample.raw, sample.slots)


def require_same_answer(type: str, stamp: str) -> None:
    """The runtime reads the type with this stamp where the table has an operation for it, and only there."""
    experimental = any(op.experimental for op in ops_of(type))
    op = find_op(type, "opset6" if experimental else "opset16") or find_op(type, "opset1")
    sample = sample_of(op) if op and experimental else Sample({}, ())
    assert sample is not None
    text, weights = single_text(type, 6, sample.raw, sample.slots)
    stamped = text.replace(b'version="opset6"', f'version="{stamp}"'.encode())
    if find_op(type, stamp) is not None:
        CORE.read_model(stamped, weights)
        return
    with pytest.raises(RuntimeError, match="unsupported opset"):
        CORE.read_model(stamped, weights)


# --- attributes -----------------------------------------------------------------------------------------------------


def key_of(name: str, spec: Field) -> str:
    return spec.xml or name


RELEASED = [op for op in OPS if op.oracle is not Oracle.SPECIFICATION]
VISIBLE = [pytest.param(op, id=str(op)) for op in RELEASED if op.type not in OPAQUE]
SAMPLED = [pytest.param(op, id=str(op)) for op in RELEASED if sample_of(op)]


def test_every_operation_has_a_sample() -> None:
    assert sorted(str(op) for op in OPS if sample_of(op) is None and op.type not in OPAQUE) == []


@pytest.mark.parametrize("op", VISIBLE)
def test_attribute_names(op: Op) -> None:
    """The attributes that the runtime's node has are those of the table, by the names in files."""
    opset = 2 if str(op) in OLDER else op.version
    node = NodeFactory(f"opset{opset}").create(RUNTIME_NAMES.get(op.type, op.type))
    names = set(node.get_attributes())
    for key in names & {"auto_broadcast", "mode"}:
        if "pdpd" in getattr(op.attrs[key], "words", ()):
            node.set_attribute(key, "pdpd")
    assert {key_of(name, spec) for name, spec in op.attrs.items()} == names | set(node.get_attributes())


@pytest.mark.parametrize("op", SAMPLED)
def test_attributes_as_written(op: Op, tmp_path: Path) -> None:
    """What the runtime writes for a layer is valid; what the layer left out has the value of the table."""
    sample = sample_of(op)
    assert sample is not None
    model = single(op.type, op.version, sample.raw, sample.slots)
    ov.serialize(model, tmp_path / "m.xml", tmp_path / "m.bin")
    findings = validate(tmp_path / "m.xml") if op.type != "Result" else []
    errors = [one for one in findings if one.severity is Severity.ERROR and one.layer_name == "op"]
    assert [str(finding) for finding in errors] == []
    layers = ElementTree.parse(tmp_path / "m.xml").getroot().find("layers")
    assert layers is not None
    layer = next(layer for layer in layers if layer.get("name") == "op")
    data = layer.find("data")
    raw = dict(data.attrib) if data is not None else {}
    attrs, faults = check_attributes(op, raw)
    assert attrs is not None
    assert [str(fault) for fault in faults] == []
    for name, spec in op.attrs.items():
        key = key_of(name, spec)
        if key in sample.raw:
            continue
        value = spec.default if spec.runtime_default is REQUIRED else spec.runtime_default
        assert value is not REQUIRED, f"{key} is required, and the sample has none"
        if f"{op} {key}" not in UNLIKE:
            assert attrs[name] == value, key


FILLED = "the runtime writes the list with as many values as there are axes"
UNLIKE: Mapping[str, str] = {
    "Interpolate-4 pads_begin": FILLED,
    "Interpolate-4 pads_end": FILLED,
    "Interpolate-11 pads_begin": FILLED,
    "Interpolate-11 pads_end": FILLED,
    "ConvolutionBackpropData-1 output_padding": FILLED,
    "GroupConvolutionBackpropData-1 output_padding": FILLED,
    "MVN-1 reduction_axes": "the runtime writes the axes that across_channels means",
    "ROIPooling-1 output_size": "the runtime writes pooled_h and pooled_w under this name too",
    "ROIPooling-1 output_roi": "the runtime writes pooled_h and pooled_w under this name too",
    "Broadcast-1 mode": "with two inputs the runtime writes numpy, with three explicit",
}
"""Attributes that the runtime writes otherwise than the table says, where they were absent, and why."""


def written_sample(op: Op, folder: Path) -> tuple[Sample, Path]:
    """The sample of an operation, and a file of it as the runtime writes it."""
    sample = sample_of(op)
    assert sample is not None
    path = folder / "m.xml"
    ov.serialize(single(op.type, op.version, sample.raw, sample.slots), path, folder / "m.bin")
    return sample, path


@pytest.mark.parametrize("op", SAMPLED)
def test_attributes_that_may_be_absent(op: Op, tmp_path: Path) -> None:
    """The runtime reads a file that lacks an attribute if `validate` finds no error in it."""
    _, path = written_sample(op, tmp_path)
    written = ElementTree.parse(path)
    data = written.find("layers/layer[@name='op']/data")
    for name in [] if data is None else list(data.attrib):
        assert data is not None
        value = data.attrib.pop(name)
        written.write(path)
        if not any(found.severity is Severity.ERROR for found in validate(path)):
            CORE.read_model(path)
        data.attrib[name] = value


UNFIT = {"LSTMCell-1 hidden_size", "PSROIPooling-1 output_dim"}
"""Attributes whose assumed value the inputs of the sample do not fit."""


@pytest.mark.parametrize("op", SAMPLED)
def test_values_that_the_runtime_assumes(op: Op, tmp_path: Path) -> None:
    """Without an attribute that the specification requires, the runtime takes that of the table; it fills lists."""
    sample, path = written_sample(op, tmp_path)
    assumed = {
        key_of(name, spec): name for name, spec in op.attrs.items() if spec.runtime_default not in (REQUIRED, ())
    }
    for key in [key for key in assumed.keys() & sample.raw.keys() if f"{op} {key}" not in UNFIT]:
        written = ElementTree.parse(path)
        data = written.find("layers/layer[@name='op']/data")
        assert data is not None
        del data.attrib[key]
        written.write(tmp_path / "less.xml")
        model = CORE.read_model(tmp_path / "less.xml", tmp_path / "m.bin")
        ov.serialize(model, tmp_path / "again.xml", tmp_path / "again.bin")
        again = ElementTree.parse(tmp_path / "again.xml").find("layers/layer[@name='op']/data")
        assert again is not None
        attrs, _ = check_attributes(op, dict(again.attrib))
        assert attrs is not None
        if f"{op} {key}" not in UNLIKE:
            assert attrs[assumed[key]] == op.attrs[assumed[key]].runtime_default, key


def words() -> Iterator[Any]:
    for op in RELEASED:
        if sample_of(op):
            for name, spec in op.attrs.items():
                if isinstance(spec, OneOf):
                    yield pytest.param(op, key_of(name, spec), (*spec.words, *spec.synonyms), id=f"{op}-{name}")


@pytest.mark.parametrize(("op", "key", "words"), [*words()])
def test_words(op: Op, key: str, words: tuple[str, ...]) -> None:
    """The runtime reads every word of the table, and no other."""
    sample = sample_of(op)
    assert sample is not None
    for word in (*words, "nonsense"):
        taken = reads(op, Sample({**sample.raw, key: word}, sample.slots))
        if f"{op} {word}" not in PICKY:
            assert taken == (word != "nonsense"), word


AS_COMPILED = "the runtime reads any word, and looks at it when it compiles"
OTHER_INPUTS = "it wants other inputs than those of the sample"
PICKY: Mapping[str, str] = {
    "EmbeddingBagOffsets-15 mean": OTHER_INPUTS,
    "EmbeddingBagPacked-15 mean": OTHER_INPUTS,
    "Interpolate-1 nonsense": AS_COMPILED,
    "Interpolate-11 scales": OTHER_INPUTS,
    "LSTMSequence-5 bidirectional": OTHER_INPUTS,
    "GRUSequence-5 bidirectional": OTHER_INPUTS,
    "RNNSequence-5 bidirectional": OTHER_INPUTS,
    "Proposal-1 nonsense": AS_COMPILED,
    "Proposal-4 nonsense": AS_COMPILED,
    "PSROIPooling-1 bilinear": OTHER_INPUTS,
    "DeformablePSROIPooling-1 nonsense": AS_COMPILED,
    "DeformableConvolution-1 same_upper": OTHER_INPUTS,
    "DeformableConvolution-1 same_lower": OTHER_INPUTS,
    "DeformableConvolution-8 same_upper": OTHER_INPUTS,
    "DeformableConvolution-8 same_lower": OTHER_INPUTS,
    "FakeQuantize-1 none": OTHER_INPUTS,
    "FakeQuantize-1 explicit": OTHER_INPUTS,
    "Reverse-1 mask": OTHER_INPUTS,
    "Broadcast-1 pdpd": OTHER_INPUTS,
    "Broadcast-1 explicit": OTHER_INPUTS,
    "Broadcast-3 none": OTHER_INPUTS,
    "Broadcast-3 pdpd": OTHER_INPUTS,
    "Broadcast-3 explicit": OTHER_INPUTS,
}
"""Words of an operation that the runtime treats otherwise in this test, and why."""


def reads(op: Op, sample: Sample) -> bool:
    return works(single, op.type, op.version, sample.raw, sample.slots)


# --- element types --------------------------------------------------------------------------------------------------

KINDS = ("boolean", "f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "string")
"""Element types that tensors have; packed ones are for weights, and go through Convert."""


def in_group(op: Op, sample: Sample) -> dict[str, list[int]]:
    """The inputs that have one element type in common, by its name; others alone."""
    groups: dict[str, list[int]] = {}
    for index in range(len(sample.slots)):
        slot = op.inputs[min(index, len(op.inputs) - 1)]
        if slot.type:
            groups.setdefault(slot.type if slot.type in op.types else f"{index}", []).append(index)
    return groups


def with_kind(sample: Sample, indices: list[int], kind: str) -> Sample | None:
    """The sample with another element type for some inputs; None where a constant cannot have it."""
    slots: list[Slot] = list(sample.slots)
    dtype = ELEMENT_TYPES[kind].dtype
    for index in indices:
        slot = slots[index]
        if isinstance(slot, tuple):
            slots[index] = (kind, slot[1])
        elif isinstance(slot, np.ndarray) and dtype is not None:
            slots[index] = slot.astype(dtype)
        else:
            return None
    return Sample(sample.raw, tuple(slots))


BEYOND = "the CPU takes more than the specification allows"
TYPE_EXCEPTIONS: Mapping[str, str] = {
    "AdaptiveAvgPool-8 output_shape": BEYOND,
    "LSTMCell-4 X": BEYOND,
    "RNNCell-1 X": BEYOND,
    "LSTMSequence-5 X": BEYOND,
    "GRUSequence-5 X": BEYOND,
    "RNNSequence-5 X": BEYOND,
    "MVN-6 axes": BEYOND,
    "NormalizeL2-1 axes": BEYOND,
    **{f"GenerateProposals-9 {name}": BEYOND for name in ("im_info", "anchors", "boxesdeltas", "scores")},
    "GroupNormalization-12 scale": BEYOND,
    "GroupNormalization-12 bias": BEYOND,
    "Col2Im-15 data": BEYOND,
    "SegmentMax-16 data": BEYOND,
    "FakeQuantize-1 input_low": BEYOND,
    "FakeQuantize-1 input_high": BEYOND,
    "FakeQuantize-1 output_low": BEYOND,
    "FakeQuantize-1 output_high": BEYOND,
    "Interpolate-11 scales_or_sizes": "shape_calculation_mode says which type: a check of its own",
    "ScatterElementsUpdate-3 indices": BEYOND,
    "ScatterElementsUpdate-12 indices": BEYOND,
    "SearchSorted-15 sorted_sequence": BEYOND,
    "VariadicSplit-1 axis": BEYOND,
    "VariadicSplit-1 split_lengths": BEYOND,
    "StridedSlice-1 strides": BEYOND,
    "RandomUniform-8 minval": "the limits have the type that output_type says: a check of its own",
}
"""Operation and input whose element types table and runtime see differently, and why.

Where a specification allows every float and the runtime reads no f64, the table follows the specification.
"""


def differences(op: Op) -> list[tuple[str, str]]:
    """Inputs, with the types that the table takes and the runtime does not read, or that only the CPU takes."""
    sample = sample_of(op)
    assert sample is not None
    found = []
    for indices in in_group(op, sample).values():
        slot = op.inputs[min(indices[0], len(op.inputs) - 1)]
        accepted = op.types.get(slot.type, slot.type)
        others = {kind: other for kind in KINDS if (other := with_kind(sample, indices, kind))}
        claimed = {kind: others[kind] for kind in others if ELEMENT_TYPES[kind].is_one_of(accepted)}
        if "float" in accepted:
            claimed.pop("f64", None)
            others.pop("f64", None)
        as_one = works(several, [(op.type, op.version, one.raw, one.slots) for one in claimed.values()])
        for kind, other in others.items():
            if kind not in claimed and compiles(op, other.raw, other.slots):
                found.append((f"{op} {slot.name}", f"the CPU takes {kind}"))
            elif kind in claimed and not as_one and not reads(op, other):
                found.append((f"{op} {slot.name}", f"the runtime does not read {kind}"))
    return found


@pytest.mark.parametrize("op", SAMPLED)
def test_element_types(op: Op) -> None:
    """The table takes no type that the runtime does not read, and all that the CPU compiles, but for the exceptions."""
    found = differences(op)
    assert {name for name, _ in found} == {name for name in TYPE_EXCEPTIONS if name.split()[0] == str(op)}, found


# --- the table itself -----------------------------------------------------------------------------------------------


def test_names_are_unique_and_one_line() -> None:
    names = [repr(op) for op in OPS]
    assert names == [f"Op({op.type}-{op.version})" for op in OPS]
    assert len(names) == len(set(names))


def test_defaults_can_be_written_and_read() -> None:
    for op in OPS:
        for name, spec in op.attrs.items():
            for value in (spec.default, spec.runtime_default):
                if value is REQUIRED or value is None or not spec.render(value, ","):
                    continue
                assert spec.parse(spec.render(value, ", ")) == value, (op, name)


def test_names_of_ports_differ_and_only_the_last_input_comes_many_times() -> None:
    for op in OPS:
        for ports in (op.inputs, op.outputs):
            assert len({port.name for port in ports}) == len(ports), op
            assert not any(port.many for port in ports[:-1]), op
        needed = [slot.optional for slot in op.inputs]
        assert needed == sorted(needed), op


def test_groups_of_types_and_what_replaces_an_operation_exist() -> None:
    for op in OPS:
        assert set(op.types) <= {slot.type for slot in op.inputs}, op
        assert op.replaced_by is None or find_op(op.replaced_by, "opset16") is not None, op


def test_later_versions_only_add() -> None:
    """A later version has the attributes of the one before it, but for those that were taken away on purpose."""
    for op in OPS:
        earlier = [other for other in OPS if other.type == op.type and other.version < op.version]
        if earlier:
            before = max(earlier, key=lambda other: other.version)
            lost = {key_of(*item) for item in before.attrs.items()} - {key_of(*item) for item in op.attrs.items()}
            assert lost == DROPPED.get(str(op), set()), str(op)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_a_family_names_its_specification(family: ModuleType) -> None:
    assert re.search(r"^Specification: `\w+/`", family.__doc__ or "", re.MULTILINE)


def test_page_of_operations() -> None:
    """`docs/operations.md` is made from the table: `python -m ir_tools.ops._listing > docs/operations.md`."""
    page = Path(__file__).parents[2] / "docs" / "operations.md"
    assert page.read_text(encoding="utf-8") == listing()
