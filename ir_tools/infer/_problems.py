"""What can be wrong with a layer, in words; and what is to be said of its operation as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ir_tools.graph import Layer
from ir_tools.infer._signatures import LayerSignature
from ir_tools.ops import NEWEST_OPSET, find_op, known_types, ops_of, opset_number
from ir_tools.ops.definition import Kind, Violation
from ir_tools.rules import Rule
from ir_tools.rules.compatibility import DEPRECATED_OPERATION
from ir_tools.rules.operations import OPERATION_NOT_IN_OPSET, UNKNOWN_EXTENSION, UNKNOWN_OPERATION, UNKNOWN_OPSET
from ir_tools.rules.shapes import UNKNOWN_SHAPES
from ir_tools.types import closest

__all__ = ["Problem", "about_operation", "are_hard", "is_odd", "part_of"]

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
        message, help: what, and what to do.
        part: of the layer; `input` and `output` with the id of a `port`, and the number of a dimension where one is
            wrong.
        mild: whether it runs nevertheless, though the rule's findings mostly do not.
        row: number of the offending row in the part.
        attribute: of the part, if it alone is wrong, missing or unknown.
    """

    rule: Rule
    layer: Layer
    message: str
    help: str | None = None
    part: Part = "data"
    port: int | None = None
    dim: int | None = None
    mild: bool = False
    row: int | None = None
    attribute: str | None = None


def are_hard(violations: Sequence[Violation]) -> bool:
    return any(not violation.kind.mild for violation in violations)


def is_odd(signature: LayerSignature) -> bool:
    """Whether something is to be said of the operation itself, whatever the layer is like."""
    return signature.op is None or signature.op.replaced_by is not None or signature.op.type != signature.type


def about_operation(layer: Layer, signature: LayerSignature) -> Problem:
    """What is to be said of an operation that the table does not have in this opset, or that should not be used."""
    type_, stamp = signature.type, signature.version
    if signature.op is not None and signature.op.type != signature.type and signature.op.type != "Const":
        message = f"the operation is called {signature.op.type}, not {type_}: the runtime reads it all the same"
        return Problem(UNKNOWN_OPERATION, layer, message, f"write {signature.op.type}", "layer", mild=True)
    if signature.op is not None and signature.op.replaced_by is not None:
        message = f"{signature.op} should not be used any more"
        return Problem(DEPRECATED_OPERATION, layer, message, f"use {signature.op.replaced_by}", "layer")
    known, opset = ops_of(type_), opset_number(stamp)
    if opset is None and (
        stamp in OPEN_STAMPS or not (known or stamp.strip().lower().startswith("opset") or not stamp)
    ):
        return _about_extension(layer, type_, stamp)
    if opset is None or opset > NEWEST_OPSET:
        says = f"'{stamp}' is not an opset" if stamp else "there is no opset"
        return Problem(
            UNKNOWN_OPSET, layer, f"{says}; opset1 to opset{NEWEST_OPSET} are known", _stamp_for(type_), "layer"
        )
    if not known or signature.op is not None:
        meant = _nearest(type_)
        remedy = f"did you mean {meant}?" if meant else 'operations of extensions say version="extension"'
        return Problem(UNKNOWN_OPERATION, layer, f"there is no operation '{type_[:80]}'", remedy, "layer")
    message = f"{stamp} holds no {known[-1].type}; {_holders(type_)}"
    mild = (type_.lower(), opset) in FORMER
    if mild:
        message += "; OpenVINO 2022 reads it all the same"
    return Problem(OPERATION_NOT_IN_OPSET, layer, message, _stamp_for(type_), "layer", mild=mild)


def _about_extension(layer: Layer, type_: str, stamp: str) -> Problem:
    """Report an operation of a library: one that is known, or one that the runtime has to be given."""
    if type_ in TOKENIZERS and stamp == "extension":
        message = f"{type_} is an operation of openvino-tokenizers: its attributes and shapes are not checked"
        return Problem(UNKNOWN_SHAPES, layer, message, None, "layer")
    message = f"{type_[:80]} ({stamp[:40]}) is not an operation of OpenVINO or of a library that is known"
    meant = closest(type_, TOKENIZERS)
    remedy = f"did you mean {meant}?" if meant else "name its library with --extension, or correct type and version"
    return Problem(UNKNOWN_EXTENSION, layer, message, remedy, "layer")


@lru_cache(maxsize=1024)
def _nearest(type_: str) -> str | None:
    return closest(type_, known_types())


def _held_by(type_: str) -> list[int]:
    return [number for number in range(1, NEWEST_OPSET + 1) if find_op(type_, f"opset{number}")]


def _holders(type_: str) -> str:
    """`opset1 to opset7 do`."""
    held = _held_by(type_)
    if not held:
        return "no opset does"
    return f"opset{held[0]} does" if len(held) == 1 else f"opset{held[0]} to opset{held[-1]} do"


def _stamp_for(type_: str) -> str | None:
    held = _held_by(type_)
    return f'write version="opset{held[-1]}" with the attributes that it has there' if held else None


def part_of(layer: Layer, fault: Violation) -> tuple[Part, int | None]:
    """The part of a layer that a violation is about: the port of an input, the first of too many, else `<data>`."""
    if fault.kind is Kind.OUTPUTS:
        return "output", layer.outputs[fault.input or 0].id
    if fault.kind is Kind.INPUTS and fault.input is None:
        return "layer", None
    if fault.input is not None and fault.input < len(layer.inputs):
        return "input", layer.inputs[fault.input].id
    return "data", None
