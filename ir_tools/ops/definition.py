"""The parts that describe an operation: facts about tensors, violations, rewrites, and `Op` itself."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from ir_tools.diagnostics import Severity
from ir_tools.ops.fields import REQUIRED, Attrs, Field, ObservedAttrs, OutOfRange, Usual
from ir_tools.rules import Rule
from ir_tools.rules.operations import (
    ASSUMED_ATTRIBUTE,
    ATTRIBUTE_OUT_OF_RANGE,
    CONTRADICTING_LAYER,
    FATAL_SETTING,
    MISSING_ATTRIBUTE,
    UNKNOWN_ATTRIBUTE,
    UNREADABLE_ATTRIBUTE,
    WRONG_ELEMENT_TYPE,
    WRONG_NUMBER_OF_INPUTS,
    WRONG_NUMBER_OF_OUTPUTS,
)
from ir_tools.rules.settings import (
    FULL_KERNEL_DIVISOR,
    IGNORED_ATTRIBUTE,
    KERNEL_LARGER_THAN_INPUT,
    PADS_COVER_KERNEL,
    SUSPECT_SETTING,
    WINDOW_IN_PADDING,
)
from ir_tools.rules.shapes import IMPOSSIBLE_SHAPE
from ir_tools.types import Dim, ElementType, Shape, element_type

if TYPE_CHECKING:
    from ir_tools.graph import Source
    from ir_tools.ops.bodies import Bodies
    from ir_tools.ops.legacy.definition import LegacyLayer

__all__ = [
    "COMPLETE_OPSETS",
    "NEWEST_OPSET",
    "NUMBERS",
    "UNBOUNDED",
    "UNKNOWN",
    "Array",
    "Bounds",
    "Check",
    "Elements",
    "Fact",
    "Folding",
    "IndexedAxis",
    "Infinity",
    "Input",
    "IntArray",
    "Kernel",
    "LaterFact",
    "Lowering",
    "Mask",
    "NamedRewrite",
    "NewLayer",
    "Op",
    "Oracle",
    "Output",
    "PartialStep",
    "Ref",
    "Refused",
    "Rewrite",
    "Role",
    "ShapeRule",
    "Step",
    "Upgrade",
    "Violation",
    "ViolationKind",
]

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
COMPLETE_OPSETS = 16
"""The last opset that holds all of its predecessor's operations; opset17 holds so far only what it brings."""
NEWEST_OPSET = COMPLETE_OPSETS + 1
NUMBERS = "float integer boolean"
"""Kinds of element types: everything but strings, which the core lets pass and no device computes with."""
UNBOUNDED = np.iinfo(np.int64).max
"""As an upper bound: no bound, which is how the runtime counts too."""


class Bounds:
    """The known bounds of the values of a small tensor: each value is between `lower` and `upper`, both included.

    Integers and booleans are int64 arrays, unbounded at `UNBOUNDED`; floats keep their type, unbounded at infinity.
    """

    __slots__ = ("_lower", "_upper")

    def __init__(self, lower: Array, upper: Array) -> None:
        """Make bounds from two arrays of the same shape."""
        self._lower = lower
        self._upper = upper

    @property
    def lower(self) -> Array:
        """The lower bounds."""
        return self._lower

    @property
    def upper(self) -> Array:
        """The upper bounds."""
        return self._upper

    @classmethod
    def exactly(cls, values: npt.ArrayLike) -> Self:
        """Return bounds for values that are known."""
        known = np.asarray(values)
        if known.dtype.kind != "f":
            known = known.astype(np.int64)
        return cls(known, known)

    @property
    def exact(self) -> Array | None:
        """The values, if all of them are known; otherwise None."""
        return self.lower if self.lower is self.upper or np.array_equal(self.lower, self.upper) else None

    def content(self) -> tuple[object, ...]:
        """Return a key that is equal for equal bounds."""
        lower, upper = self.lower, self.upper
        return lower.dtype.str, lower.shape, lower.tobytes(), b"" if upper is lower else upper.tobytes()

    def dims(self) -> tuple[Dim, ...]:
        """Return the values as dimensions (a 1-D tensor of sizes); negative lower bounds count as 0."""
        return tuple(
            Dim(max(int(lo), 0), None if hi >= UNBOUNDED else max(int(hi), 0))
            for lo, hi in zip(self.lower.ravel().tolist(), self.upper.ravel().tolist(), strict=True)
        )


@dataclass(frozen=True)
class Fact:
    """What is known of a tensor before the model runs; shape rules map facts of inputs to facts of outputs.

    `constant` is whether the tensor depends only on constants, even if there are too many values for `value`. The
    runtime folds such tensors before a device gets them. Only checks set it.
    """

    dtype: ElementType
    shape: Shape
    value: Bounds | None = None
    constant: bool = False

    @property
    def exact(self) -> Array | None:
        """The values, if all of them are known; otherwise None."""
        return None if self.value is None else self.value.exact

    def integers(self) -> list[int] | None:
        """Return the values as flat integers, if all of them are known and finite; otherwise None."""
        exact = self.exact
        if exact is None or (exact.dtype.kind not in "iub" and not np.isfinite(exact.astype(np.float64)).all()):
            return None
        return [*map(int, exact.ravel().tolist())]

    @cached_property
    def dims(self) -> tuple[int, ...]:
        """The sizes as a port records them: -1 for a dynamic dimension, empty for an unknown rank."""
        return tuple(dim.lo if dim.lo == dim.hi else -1 for dim in self.shape or ())

    def size(self, axis: int | None) -> int | None:
        """Return the size along an axis, if the axis exists and its size is known; otherwise None."""
        if axis is None or self.shape is None or not -len(self.shape) <= axis < len(self.shape):
            return None
        return self.shape[axis].size if self.shape[axis].static else None

    @property
    def spatial(self) -> tuple[Dim, ...]:
        """The dimensions after batch and channels."""
        assert self.shape is not None
        return self.shape[2:]

    def with_spatial(self, dims: Sequence[Dim]) -> Fact:
        """Return a shape with the same batch and channels and other spatial dimensions."""
        assert self.shape is not None
        return Fact(self.dtype, (*self.shape[:2], *dims))


UNKNOWN = Fact(element_type("dynamic"), None)


class LaterFact(Fact):
    """A fact whose values are computed on first use."""

    _found: Bounds | Callable[[], Bounds | None] | None

    def __init__(
        self,
        dtype: ElementType,
        shape: Shape,
        value: Bounds | Callable[[], Bounds | None] | None = None,
        constant: bool = False,
    ) -> None:
        """Make a fact from the arguments of `Fact`; `value` may be a function that computes the values."""
        for name, given in {"dtype": dtype, "shape": shape, "_found": value, "constant": constant}.items():
            object.__setattr__(self, name, given)

    @property
    def value(self) -> Bounds | None:
        """The values."""
        if callable(self._found):
            object.__setattr__(self, "_found", self._found())
        assert not callable(self._found)
        return self._found

    @property
    def looked_at(self) -> bool:
        """Whether the values were computed."""
        return not callable(self._found)

    def without_values(self) -> Fact:
        """Return the fact without its values, which are not computed for it."""
        return Fact(self.dtype, self.shape, None, self.constant)


class ViolationKind(enum.Enum):
    """The kind of a violation; the value is its rule.

    ASSUMED: the attribute is absent although the specification requires it, and the runtime uses a value of its own.
    FATAL: the runtime crashes, hangs or exhausts memory. SHAPE: the shape rule rejects the inputs.
    """

    MISSING = MISSING_ATTRIBUTE
    ASSUMED = ASSUMED_ATTRIBUTE
    UNKNOWN = UNKNOWN_ATTRIBUTE
    UNREADABLE = UNREADABLE_ATTRIBUTE
    RANGE = ATTRIBUTE_OUT_OF_RANGE
    INPUTS = WRONG_NUMBER_OF_INPUTS
    OUTPUTS = WRONG_NUMBER_OF_OUTPUTS
    TYPES = WRONG_ELEMENT_TYPE
    CONTRADICTION = CONTRADICTING_LAYER
    FATAL = FATAL_SETTING
    SHAPE = IMPOSSIBLE_SHAPE
    SUSPECT = SUSPECT_SETTING
    KERNEL = KERNEL_LARGER_THAN_INPUT
    PADS = PADS_COVER_KERNEL
    EMPTY = WINDOW_IN_PADDING
    DIVISOR = FULL_KERNEL_DIVISOR
    IGNORED = IGNORED_ATTRIBUTE

    _value_: Rule

    @property
    def mild(self) -> bool:
        """Whether the layer runs nevertheless, but probably not as intended."""
        return self.value.severity is not Severity.ERROR


@dataclass(frozen=True, slots=True)
class Violation:
    """A condition of the operation that a layer violates.

    Attributes: `attribute` is the name of the attribute in the file, or of an input; empty if none is concerned.
    `input` is the number of the offending input, if there is one. `output` is the number of the only output that cannot
    be computed: the layer runs if nothing reads that. A violation of kind SUSPECT runs, but probably not as intended;
    see `ViolationKind.mild`.
    """

    attribute: str
    message: str
    remedy: str | None = None
    kind: ViolationKind = ViolationKind.CONTRADICTION
    input: int | None = None
    output: int | None = None

    @property
    def text(self) -> str:
        """The message after the name of the attribute."""
        return f"{self.attribute} {self.message}" if self.attribute else self.message


# --- rewrites ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ref:
    """An input of a new layer.

    Output `output` of the rewrite's layer number `layer`, or, with `layer=None`, input number `output` of the layer
    that is being rewritten.
    """

    layer: int | None
    output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLayer:
    """A layer that a rewrite makes. An input that is an array becomes a constant.

    Attributes:
        type: the operation type.
        opset: the number of its opset (8 for `opset8`).
        raw: the attributes by their names in the file; the values are converted to text by `render`.
        inputs: the inputs, in order.
        outputs: one fact per output.
        label: a suffix to the name of the rewritten layer; empty for the layer that replaces the old one.
    """

    type: str
    opset: int
    inputs: tuple[Ref | Array, ...]
    outputs: tuple[Fact, ...]
    raw: Mapping[str, str] = field(default_factory=dict)
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """The replacement of a layer, with the proof that it computes the same.

    `layers` are in topological order. The last one replaces the old layer: it gets its name, its tensor names, its
    consumers (output i for output i) and its rt_info. A single layer of the old type with the old inputs is edited in
    place.

    `outputs` says which output of a new layer replaces each output of the old one, if not all are outputs of the last
    layer; those that are come in its order, from the first on.

    `enclosed` says what the old layer reads, if the last layer is a Loop that runs it in its body.
    """

    layers: tuple[NewLayer, ...]
    strategy: str
    proof: str
    outputs: tuple[Ref, ...] = ()
    enclosed: tuple[Fact, ...] = ()

    @property
    def inputs_read(self) -> tuple[int, ...]:
        """The inputs of the old layer that the new layers read, in their order."""
        given = (given for new in self.layers for given in new.inputs)
        return tuple(ref.output for ref in given if isinstance(ref, Ref) and ref.layer is None)


@dataclass(frozen=True, slots=True)
class Refused:
    """The reason why a layer cannot be rewritten; `attribute` names the attribute that prevents it."""

    reason: str
    attribute: str | None = None


Step = Callable[["Attrs", Sequence["Fact"], int], "Rewrite | Refused | None"]
"""`(attributes, input facts, target opset) -> ` a rewrite, a refusal, or None where nothing need be done."""


class PartialStep(ABC):
    """A step that does not change the operation in some opsets, whatever its attributes and inputs are."""

    __slots__ = ()

    @abstractmethod
    def leaves(self, target: int) -> bool:
        """Return whether the operation is unchanged in this opset."""

    def restamps(self, target: int) -> bool:
        """Return whether this opset contains the operation with the same attributes under another version."""
        return False

    @abstractmethod
    def __call__(self, attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
        """Rewrite a layer, as a `Step` does."""


@dataclass(frozen=True, slots=True)
class Lowering(PartialStep):
    """A step to the opsets before `version`, which introduced the operation; later opsets contain it.

    `lower` makes the layers; it is None if older operations cannot express the operation, for the given `reason`.
    """

    version: int
    lower: Step | None = None
    reason: str = ""

    def leaves(self, target: int) -> bool:
        """Return whether the opset contains the operation."""
        return target >= self.version

    def __call__(self, attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
        """Return the replacement, or the reason why there is none; None if the opset contains the operation."""
        if self.leaves(target):
            return None
        return Refused(self.reason) if self.lower is None else self.lower(attrs, inputs, target)


Upgrade = Callable[["LegacyLayer"], "tuple[Source, ...] | Refused"]
"""Adds what replaces a legacy layer, and returns its outputs."""
NamedRewrite = Callable[["Attrs", Sequence["Fact"]], "Rewrite | None"]
"""`(attributes, input facts) -> ` a rewrite, or None to leave the layer alone."""


# --- operations -------------------------------------------------------------------------------------------------


class Elements(enum.Enum):
    """How the outputs of a layer depend on the elements of an input."""

    COMPUTED = "values that are computed of them"
    UNREAD = "nothing: only its element type and sizes are read"
    LIKE = "values of their kind: rounded, limited, selected, interpolated or normalized"
    QUANTIZED = "the values nearest to them that a narrower type has"
    MOVED = "themselves: moved, repeated or left out"
    IN_ORDER = "themselves, all in their order"
    CONVERTED = "themselves in another element type, all in their order"

    @property
    def copied(self) -> bool:
        """Whether the outputs contain the elements themselves."""
        return self in {Elements.MOVED, Elements.IN_ORDER, Elements.CONVERTED}


class Infinity(enum.Enum):
    """The meaning of infinity in a constant input of a layer."""

    SUSPECT = "most likely a mistake"
    MASK = "a mask, if there are finite values beside it"
    BOUND = "a mask, a bound or a value like others"


IndexedAxis = Callable[[Attrs, Sequence["Fact"]], "int | None"]
"""`(attributes, input facts) -> ` an axis of the first input; None if it is not known."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of an operation.

    Attributes:
        name: the name in the specification.
        optional: whether it may be left out.
        type: the element types that the runtime accepts: a name in `Op.types`, whose inputs must have the same type, or
            the types themselves (`i32 i64`); empty if every type is accepted, or checked elsewhere.
        many: whether it may be repeated, at least once unless it is optional; only for the last input.
        usual: the values that are meaningful, if not all are.
        elements: how the outputs depend on its elements.
        indexes: for indices, the axis of the first input to which they refer.
    """

    name: str
    optional: bool = False
    type: str = ""
    many: bool = False
    usual: Usual | None = None
    elements: Elements = Elements.COMPUTED
    indexes: IndexedAxis | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """An output of an operation.

    Attributes:
        name: the name in the specification.
        many: whether attributes or bodies determine how often it is repeated.
        indexes: for indices, the axis of the first input to which they refer.
    """

    name: str = "output"
    many: bool = False
    indexes: IndexedAxis | None = None


Check = Callable[[Attrs, Sequence[Fact]], Iterator[Violation]]
"""`(attributes, input facts) -> ` what is wrong with a layer."""
Blobs = Callable[[Attrs, Sequence[Fact], Sequence[Fact]], Mapping[str, Collection[int]]]
"""`(attributes, input facts, recorded outputs) -> ` how many values each blob may have: 0, it may be absent; none, any.

ShapeError if that is not known.
"""
ShapeRule = Callable[[Attrs, Sequence[Fact]], tuple[Fact, ...]]
"""`(attributes, input facts) -> ` output facts; ShapeError if there are none."""
Kernel = Callable[[Attrs, Sequence[Array]], tuple[Array, ...]]
"""`(attributes, input arrays) -> ` output arrays."""
Mask = Callable[[Attrs, Sequence[Array]], npt.NDArray[np.bool_] | None]
"""`(attributes, input arrays) -> ` a mask of output elements that fits the last dimensions; None for none."""


def no_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Yield nothing; the check of operations whose attributes cannot contradict each other."""
    return iter(())


Slot = TypeVar("Slot", Input, Output)


def _numbered(slots: tuple[Slot, ...], number: int) -> Slot | None:
    if number < len(slots):
        return slots[number]
    return slots[-1] if slots and slots[-1].many else None


class Role(enum.StrEnum):
    """The role of an operation's layers in their graph."""

    PARAMETER = "is an input of the graph"
    CONSTANT = "holds values from the file"
    RESULT = "is an output of the graph"
    READ_VARIABLE = "reads a variable"
    ASSIGN_VARIABLE = "stores a variable"
    COMPUTATION = "computes tensors"


class Folding(enum.Enum):
    """How the runtime treats a layer whose inputs are all constants."""

    DONE = enum.auto()
    """It computes the layer before the model runs."""
    NONE = enum.auto()
    """It computes the layer whenever the model runs."""
    FAILS = enum.auto()
    """Neither its core nor the CPU plugin computes the layer. Measured."""


class Oracle(enum.StrEnum):
    """The results with which the tests compare the shape rule and kernel of an operation."""

    RUNTIME = "the runtime"
    SHAPES_BY_RUNTIME = "the runtime for shapes, plain numpy for values: no device runs it yet"
    SPECIFICATION = "the specification: no release has it yet"


PARTS = (
    "check",
    "shape",
    "kernel",
    "first_output_kernel",
    "undefined_mask",
    "ill_conditioned",
    "migrate",
    "substitute",
)
"""The functions of an operation that read its attributes."""
MAX_PARSED = 1 << 8
"""Texts of one attribute whose values are kept."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Op:
    """One version of an operation: `AvgPool-14`.

    Attributes:
        type: the type as in the file: `type="AvgPool"`.
        version: the opset that introduced this version.
        last_opset: the last opset that contains the operation; None if all later opsets with all operations do.
        absent_opsets: opsets between these that do not contain it.
        experimental: whether the runtime also reads it with the versions `extension` and `experimental`.
        role: the role of its layers in their graph.
        bodies: for an operation whose layers contain graphs: their port maps, shape rule and kernel.
        inputs, outputs: the inputs and outputs, in order.
        attrs: the attributes, by their Python names.
        check: yields the violations of attributes and inputs (values out of range, lists of another length than the
            kernel).
        types: the element types that inputs accept, by the name in `Input.type`: `float`, `integer`, `boolean`,
            `string`, `any`, and single types (`f16`, `i64`).
        strings: whether the CPU plugin computes it for strings, if an input accepts any type. Other operations on
            strings are rejected or crash the process. Measured.
        folding: how the runtime treats a layer whose inputs are all constants.
        leftovers: attributes that other tools, for example Model Optimizer, write and the operation does not have, with
            patterns of the values that have no effect.
        shape: the shape rule; None if there is none.
        kernel: the kernel of the reference executor; None if there is none.
        first_output_kernel: a cheaper kernel that is used if only the first output is read; None if there is none.
        undefined_mask: returns the output elements that no input element determines; None if there are none.
        ill_conditioned: returns the output elements that rounding errors in the inputs determine, for example a value
            between two levels; the third argument is that error, relative to the largest magnitude.
        commutative: whether the order of the inputs makes no difference.
        infinity: the meaning of infinity in a constant input.
        monotonic: whether each output element increases, or decreases, with one element of the first input, so that an
            error of that element changes the output to a value between the outputs at both ends of the error.
        sets: the numbers of the outputs whose rows (along the last axis) are a set: their order has no meaning if
            scores are nearly equal, for example the rows of detections.
        migrate: the rewrite to another opset, older or newer.
        substitute: a rewrite to other layers of the same opset that compute the same, for a release that reads the
            layer but does not run it correctly.
        upgrade: for a layer type of IR v2 to v7: adds the operations that replace a layer.
        blobs: for a layer type of IR v2 to v7: returns how many values `weights`, `biases` and `custom` have.
        respell: for a layer type of IR v2 to v7: returns the attributes of a layer by their usual names.
        rewrites: rewrites to other operations, by the names that users give; a second run changes nothing.
        readers: by the attribute that a later version added, the inherited parts that read it: `check shape kernel`.
        unread: attributes that neither shape rule nor kernel reads, each with the reason.
        replaced_by: for a deprecated operation, the operation to use in its place.
        oracle: the results with which the tests compare shape rule and kernel.
    """

    type: str
    version: int
    last_opset: int | None = None
    absent_opsets: tuple[int, ...] = ()
    experimental: bool = False
    role: Role = Role.COMPUTATION
    bodies: Bodies | None = None
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...] = (Output(),)
    attrs: Mapping[str, Field] = field(default_factory=dict)
    check: Check = no_violations
    types: Mapping[str, str] = field(default_factory=dict)
    strings: bool = False
    folding: Folding = Folding.DONE
    leftovers: Mapping[str, str] = field(default_factory=dict)
    shape: ShapeRule | None = None
    kernel: Kernel | None = None
    first_output_kernel: Kernel | None = None
    undefined_mask: Mask | None = None
    ill_conditioned: Callable[[Attrs, Sequence[Array], float], npt.NDArray[np.bool_] | None] | None = None
    commutative: bool = False
    infinity: Infinity = Infinity.SUSPECT
    monotonic: bool = False
    sets: tuple[int, ...] = ()
    migrate: Step | None = None
    substitute: Step | None = None
    upgrade: Upgrade | None = None
    blobs: Blobs | None = None
    respell: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None
    rewrites: Mapping[str, NamedRewrite] = field(default_factory=dict)
    readers: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    replaced_by: str | None = None
    oracle: Oracle = Oracle.RUNTIME

    def __str__(self) -> str:
        """Return `AvgPool-14`; only the type for a layer type of IR v2 to v7."""
        return f"{self.type}-{self.version}" if self.version else self.type

    def __repr__(self) -> str:
        """Return `Op(AvgPool-14)`."""
        return f"Op({self})"

    def in_opset(self, number: int) -> bool:
        """Return whether an opset contains this version, or would contain it if there were no later version."""
        last = self.last_opset or max(COMPLETE_OPSETS, self.version)
        return self.version <= number <= last and number not in self.absent_opsets

    @property
    def is_legacy(self) -> bool:
        """Whether this is a layer type of IR v2 to v7."""
        return self.version == 0

    def input(self, number: int) -> Input | None:
        """Return an input by its number; the last one may be repeated."""
        return _numbered(self.inputs, number)

    def output(self, number: int) -> Output | None:
        """Return an output by its number; the last one may be repeated."""
        return _numbered(self.outputs, number)

    def elements(self, number: int) -> Elements:
        """Return how the outputs depend on the elements of an input."""
        found = self.input(number)
        return Elements.COMPUTED if found is None else found.elements

    def outputs_of(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...] | None:
        """Return the facts of the outputs; None if the operation has no shape rule.

        Raises:
            ShapeError: attributes and inputs contradict each other.
        """
        return None if self.shape is None else self.shape(attrs, inputs)

    def at(
        self,
        version: int,
        *,
        attrs: Mapping[str, Field] | None = None,
        readers: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> Op:
        """Return a later version, described by its difference from this one.

        Raises:
            TypeError: `readers` does not list the inherited parts that read an added attribute.
        """
        added = [name for name in attrs or {} if name not in self.attrs]
        inherited = [part for part in PARTS if part not in changes and getattr(self, part) not in (None, no_violations)]
        unclear = [name for name in added if inherited and name not in (readers or {})]
        if unclear:
            raise TypeError(
                f"{self.type}-{version} adds {', '.join(unclear)}: list in `readers` which of the inherited parts"
                f" ({', '.join(inherited)}) read it, or pass new ones"
            )
        later = {**self.readers, **(readers or {})}
        return replace(self, version=version, attrs={**self.attrs, **(attrs or {})}, readers=later, **changes)

    def not_carried_over(self, attrs: ObservedAttrs) -> str | None:
        """Return the name in the file of an attribute that was not read although its value has an effect, if any."""
        for name, spec in self.attrs.items():
            if name not in attrs.names_read and name not in self.unread and attrs.peek(name) != spec.absent:
                return spec.xml or name
        return None

    @property
    def fields(self) -> Mapping[str, Field]:
        """The attributes by the names that they have in files."""
        return _fields(self)

    def written(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Return attributes as a file has them, without those that are None, or empty as absent ones are.

        Args:
            values: by Python name, or as text.
        """
        said = {
            name: value
            for name, value in values.items()
            if value is not None and (value not in ((), "") or value != self.attrs[name].absent)
        }
        return {
            self.attrs[name].xml or name: value if isinstance(value, str) else self.attrs[name].render(value, ",")
            for name, value in said.items()
        }

    def absent(self, raw: Mapping[str, str]) -> frozenset[str]:
        """Return which attributes a layer's `<data>` does not have."""
        return frozenset(name for name, spec in self.attrs.items() if (spec.xml or name) not in raw)

    def read(self, raw: Mapping[str, str], violations: list[Violation]) -> Attrs | None:
        """Return the typed attributes of a layer's `<data>`; None, and an entry in `violations`, if they are not valid.

        Attributes that the operation does not have are ignored, unless they are known misspellings.
        """
        if self.respell is not None:
            raw = self.respell(raw)
        values: dict[str, Any] = {}
        usable = True
        for name, key, spec, parse in _parsers(self):
            text = raw.get(key)
            if text is not None and (text or not spec.is_absent(text)):
                try:
                    values[name] = parse(text)
                except ValueError as why:
                    kind = ViolationKind.RANGE if isinstance(why, OutOfRange) else ViolationKind.UNREADABLE
                    violations.append(Violation(key, str(why), kind=kind))
                    usable = False
                continue
            values[name] = spec.absent
            misspelled = next((alias for alias in spec.aliases if alias in raw), None)
            if values[name] is REQUIRED:
                remedy = f"{misspelled} is not read by the runtime; call it {key}" if misspelled else None
                violations.append(Violation(key, "is missing", remedy, ViolationKind.MISSING))
                usable = False
            elif misspelled:
                message = f"is not read by the runtime; the attribute is called {key}"
                violations.append(Violation(misspelled, message, f"call it {key}", ViolationKind.UNKNOWN))
        return Attrs(values) if usable else None


@cache
def _fields(op: Op) -> Mapping[str, Field]:
    return {spec.xml or name: spec for name, spec in op.attrs.items()}


@cache
def _parsers(op: Op) -> Sequence[tuple[str, str, Field, Callable[[str], Any]]]:
    """Return of each attribute: its name, that in files, the field, and how its text is parsed."""
    return [(name, spec.xml or name, spec, lru_cache(MAX_PARSED)(spec.parse)) for name, spec in op.attrs.items()]
