"""What can be wrong with a layer, in words; and what is to be said of its operation as such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from ir_tools.diagnostics import Severity
from ir_tools.display import quoted
from ir_tools.graph import Layer
from ir_tools.infer._signatures import LayerSignature
from ir_tools.ops import LEGACY, NEWEST_OPSET, find_op, known_types, ops_of, opset_number
from ir_tools.ops.definition import Violation, ViolationKind
from ir_tools.rules import Rule
from ir_tools.rules.compatibility import DEPRECATED_OPERATION
from ir_tools.rules.operations import OPERATION_NOT_IN_OPSET, UNKNOWN_EXTENSION, UNKNOWN_OPERATION, UNKNOWN_OPSET
from ir_tools.rules.shapes import UNKNOWN_SHAPES
from ir_tools.types import closest

__all__ = ["Problem", "Remark", "attribute_of", "problem_of", "remark_on"]

Part = Literal["layer", "data", "input", "output", "port_map", "back_edges"]
OPEN_STAMPS = {"extension", "experimental"}
"""Of operations that packages bring; files of 2020 have them for operations that later came into an opset."""

TOKENIZERS = frozenset(
    {
        *("StringTensorPack", "StringTensorUnpack", "RaggedTensorPack", "RaggedTensorUnpack", "RaggedToDense"),
        *("RaggedToSparse", "RaggedToRagged", "CaseFold", "EqualStr", "NormalizeUnicode", "CharsMapNormalization"),
        *("RegexNormalization", "RegexSplit", "SpecialTokensSplit", "WordpieceTokenizer", "BPETokenizer"),
        *("UnigramTokenizer", "TrieTokenizer", "SentencepieceTokenizer", "SentencepieceDetokenizer"),
        *("SentencepieceStreamDetokenizer", "BytesToChars", "CharsToBytes", "CombineSegments", "FuzeRagged"),
        *("ByteFallback", "UTF8Validate", "Truncate", "VocabEncoder", "VocabDecoder", "StringToHashBucket"),
        *("NumericToString", "ContribStringJoin", "ContribStringSplit"),
    }
)
"""The operations of the package openvino-tokenizers, from 2023.3 to 2026.4."""

FORMER = {("lstmsequence", opset) for opset in range(1, 4)}
"""Operations, with an opset that holds none, that a release once wrote and read: an LSTM with peepholes of ONNX."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        rule: that it breaks.
        layer: where.
        message: what is wrong.
        help: what to do; or what works it out if it is listed.
        part: of the layer; `input` and `output` with the id of a `port`, and the number of a dimension if one is wrong.
        severity: if it is another than the rule's.
        row: number of the offending row in the part.
        attribute: of the part, if it alone is wrong, missing or unknown.
    """

    rule: Rule
    layer: Layer
    message: str
    help: str | Callable[[], str | None] | None = None
    part: Part = "data"
    port: int | None = None
    dim: int | None = None
    severity: Severity | None = None
    row: int | None = None
    attribute: str | None = None


class Remark(NamedTuple):
    """What is to be said of an operation, whatever the layer is like; as of `Problem`."""

    rule: Rule
    message: str
    help: str | Callable[[], str | None] | None = None
    severity: Severity | None = None

    def about(self, layer: Layer) -> Problem:
        return Problem(self.rule, layer, self.message, self.help, "layer", severity=self.severity)


def problem_of(layer: Layer, fault: Violation) -> Problem:
    """Return the problem that a violation is, at the port of an input, the first of too many, else at `<data>`."""
    part: Part = "data"
    port = None
    if fault.kind is ViolationKind.OUTPUTS:
        part, port = "output", layer.common.outputs[fault.input or 0].id
    elif fault.kind is ViolationKind.INPUTS and fault.input is None:
        part = "layer"
    elif fault.input is not None and fault.input < len(layer.common.inputs):
        part, port = "input", layer.common.inputs[fault.input].id
    attribute = attribute_of(layer, fault) if part == "data" else None
    return Problem(fault.kind.value, layer, fault.text, fault.remedy, part, port, attribute=attribute)


def attribute_of(layer: Layer, fault: Violation) -> str | None:
    """Return the attribute that a violation is about: one that the layer has, or has to have."""
    if fault.kind in {ViolationKind.MISSING, ViolationKind.ASSUMED}:
        return fault.attribute
    return fault.attribute if fault.attribute and fault.attribute in layer.common.raw else None


def remark_on(signature: LayerSignature) -> Remark | None:
    """Return what is to be said of an operation that an opset does not have, or that should not be used."""
    type_, stamp, op = signature.type, signature.version, signature.op
    if stamp == LEGACY:
        return None if op is not None else _on_legacy(type_)
    if op is not None and op.type not in {type_, "Const"}:
        message = f"the type is {type_}, but the operation is called {op.type}; the runtime accepts both"
        return Remark(UNKNOWN_OPERATION, message, f"write {op.type}", Severity.WARNING)
    if op is not None and op.replaced_by is not None:
        return Remark(DEPRECATED_OPERATION, f"{op} is deprecated", f"use {op.replaced_by}")
    if op is not None and op.type == type_:
        return None
    known, opset = ops_of(type_), opset_number(stamp)
    if opset is None and (
        stamp in OPEN_STAMPS or not (known or stamp.strip().lower().startswith("opset") or not stamp)
    ):
        return _on_extension(type_, stamp)
    if opset is None or opset > NEWEST_OPSET:
        says = f"'{stamp}' is not an opset" if stamp else "there is no opset"
        return Remark(UNKNOWN_OPSET, f"{says}; opset1 to opset{NEWEST_OPSET} are known", _stamp_for(type_))
    if not known or op is not None:
        return Remark(UNKNOWN_OPERATION, f"there is no operation '{quoted(type_)}'", partial(_nearest, type_))
    message, severity = f"{stamp} has no {known[-1].type}; {_holders(type_)}", None
    if (type_.lower(), opset) in FORMER:
        message, severity = f"{message}; OpenVINO 2022 accepts it anyway", Severity.WARNING
    return Remark(OPERATION_NOT_IN_OPSET, message, _stamp_for(type_), severity)


def _on_legacy(type_: str) -> Remark:
    """Report a type that Inference Engine does not know."""
    meant = closest(type_, known_types(LEGACY))
    remedy = f"did you mean {meant}?" if meant else "replace a layer of a custom library before migrating"
    return Remark(UNKNOWN_OPERATION, f"there is no layer type '{quoted(type_)}' in IR v2 to v7", remedy)


def _on_extension(type_: str, stamp: str) -> Remark:
    """Report an operation of a library: one that is known, or one that the runtime has to be given."""
    if type_ in TOKENIZERS and stamp == "extension":
        message = f"{type_} is an operation of openvino-tokenizers, whose attributes and shapes are not checked"
        return Remark(UNKNOWN_SHAPES, message)
    message = f"{quoted(type_)} ({stamp[:40]}) is not an operation of OpenVINO or of a known library"
    meant = closest(type_, TOKENIZERS)
    remedy = f"did you mean {meant}?" if meant else "name its library with --extension, or correct the type and version"
    return Remark(UNKNOWN_EXTENSION, message, remedy)


def _nearest(type_: str) -> str:
    meant = closest(type_, known_types())
    return f"did you mean {meant}?" if meant else 'write version="extension" for an operation of an extension'


def _held_by(type_: str) -> list[int]:
    return [number for number in range(1, NEWEST_OPSET + 1) if find_op(type_, f"opset{number}")]


def _holders(type_: str) -> str:
    """Return `opset1 to opset7 do`."""
    held = _held_by(type_)
    if not held:
        return "no opset contains it"
    return f"opset{held[0]} contains it" if len(held) == 1 else f"opset{held[0]} to opset{held[-1]} contain it"


def _stamp_for(type_: str) -> str | None:
    held = _held_by(type_)
    return f'write version="opset{held[-1]}", with the attributes of that version' if held else None
