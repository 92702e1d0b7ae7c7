"""Choose what each input of a model gets: the given array, or a shape and a generator, with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ir_tools.display import brief_fields, listing, plural
from ir_tools.errors import UsageError
from ir_tools.graph import Model
from ir_tools.infer import Refusal
from ir_tools.inputs._choice import Choice, Chooser
from ir_tools.inputs._generators import Generator, default_for, parse_generator
from ir_tools.inputs._given import Given, by_input, fitted, input_facts
from ir_tools.inputs._sizes import static_sizes
from ir_tools.ops import Array
from ir_tools.types import ElementType, Shape

__all__ = ["InputPlan", "InputValue", "PlannedInput", "complete_inputs", "generated_inputs", "plan_inputs"]

InputValue = Array | Generator | str
"""A value for an input: an array, a `Generator`, or the text of one (`uniform:0:255`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedInput:
    """The shape and values of one input.

    Attributes:
        name: the name of the input, `Endpoint.name`.
        dtype: the element type of the input.
        shape: the sizes of the array; for packed element types, those of the input.
        values: the given array, or the generator of the values.
        sizes_chosen: whether unknown sizes were chosen by `plan_inputs`.
        values_chosen: whether the generator was chosen by `plan_inputs`.
        why: the reason for the sizes and values, or how the array was cast; may be empty.
    """

    name: str
    dtype: ElementType
    shape: tuple[int, ...]
    values: Array | Generator
    sizes_chosen: bool = False
    values_chosen: bool = False
    why: str = ""

    __repr__ = brief_fields

    def __str__(self) -> str:
        """Return one line: `ids: i64 [1,32], integers:0:999, sizes and values chosen: indices of Gather 'embed'`."""
        values = str(self.values) if isinstance(self.values, Generator) else "as given"
        words = [word for word, chosen in (("sizes", self.sizes_chosen), ("values", self.values_chosen)) if chosen]
        chosen = f", {' and '.join(words)} chosen" if words else ""
        shape = ",".join(map(str, self.shape))
        return f"{self.name}: {self.dtype} [{shape}], {values}{chosen}{f': {self.why}' if self.why else ''}"

    def as_dict(self) -> dict[str, object]:
        """Return the same for JSON."""
        return {
            "name": self.name,
            "type": str(self.dtype),
            "shape": list(self.shape),
            "values": str(self.values) if isinstance(self.values, Generator) else "given",
            "sizes_chosen": self.sizes_chosen,
            "values_chosen": self.values_chosen,
            "why": self.why,
            "text": str(self),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPlan:
    """The shapes and values of all inputs of a model; `arrays` makes the arrays.

    Attributes:
        inputs: one entry per input, in the order of the model.
        seed: the seed of all generated values.
        refusal: the layer that rejects the best sizes, if no sizes were found that all layers accept.
        hopeless: whether that layer rejects any sizes, since the model itself is wrong.

    Example:
        >>> plan = ir_tools.plan_inputs("model.xml", {"data": "uniform:0:255"})
        >>> print(plan.inputs[0])
        data: f32 [1,2,8,8], uniform:0:255
    """

    inputs: tuple[PlannedInput, ...]
    seed: int = 0
    refusal: Refusal | None = None
    hopeless: bool = False

    def __repr__(self) -> str:
        """Return how many inputs there are and the seed, and a line for each of the first inputs."""
        return listing(f"InputPlan({plural(len(self.inputs), 'input')}, seed {self.seed})", self.inputs)

    def arrays(self, sample: int = 0) -> dict[str, Array]:
        """Return one array per input, by `Endpoint.name`.

        Args:
            sample: the number of the sample, from 0. Generators make other values for each sample; given arrays are the
                same in all samples.

        Raises:
            UsageError: an input cannot hold the values of its generator, or a layer rejects the sizes.
        """
        if self.refusal is not None:
            raise UsageError(self._refused(self.refusal))
        return {
            entry.name: self._array(number, entry, sample) if isinstance(entry.values, Generator) else entry.values
            for number, entry in enumerate(self.inputs)
        }

    def _refused(self, refusal: Refusal) -> str:
        """Return why nothing can run with these sizes."""
        where = f"{refusal.layer.type} '{refusal.path}' refuses"
        if self.hopeless:
            return f"{where} inputs of any size: {refusal.message}; ir-tools validate lists what is wrong"
        if any(entry.sizes_chosen for entry in self.inputs):
            text = f"no input sizes were found that the model accepts: {where} the best of them, {refusal.message}"
            return f"{text}; set shapes (--set) or pass arrays (--input)"
        return f"the arrays do not fit each other: {where} them, {refusal.message}"

    def _array(self, number: int, entry: PlannedInput, sample: int) -> Array:
        assert isinstance(entry.values, Generator)
        try:
            return entry.values.make(entry.shape, entry.dtype, np.random.default_rng((self.seed, sample, number)))
        except UsageError as why:
            raise UsageError(f"input '{entry.name}': {why}") from None

    @property
    def chosen(self) -> tuple[PlannedInput, ...]:
        """The inputs whose sizes or values were chosen by `plan_inputs`."""
        return tuple(entry for entry in self.inputs if entry.sizes_chosen or entry.values_chosen)

    def as_rows(self) -> list[dict[str, object]]:
        """Return one dictionary per input, for JSON."""
        return [entry.as_dict() for entry in self.inputs]


def plan_inputs(model: Model, given: Mapping[str, InputValue] | None = None, *, seed: int = 0) -> InputPlan:
    """Choose what each input gets: what is given, and for the rest sizes and values that suit the model.

    A plan is made once and can be shown before anything runs; samples of it are what several runs of one model get:

        plan = plan_inputs(model, {"data": "uniform:0:255"}, seed=3)
        for entry in plan.inputs:
            print(entry)
        for sample in range(5):
            run(model, plan.arrays(sample))

    Args:
        model: the model. New input shapes are set in it first (`reshaped`).
        given: arrays or generators by tensor name or layer name, or by `""` for the only input.
        seed: of the values.

    Raises:
        UsageError: a name that no input has, an array that the input does not take, a generator that does not exist.
    """
    facts = input_facts(model)
    arrays: dict[str, Given] = {}
    generators: dict[str, Generator] = {}
    for name, value in by_input(model, given or {}).items():
        if isinstance(value, str | Generator):
            generators[name] = _generator(name, value)
        else:
            arrays[name] = fitted(name, value, *facts[name])
    choice = Chooser(model, facts, arrays, generators).choose()
    planned = tuple(
        _planned(name, dtype, shape, arrays.get(name) or generators.get(name), choice)
        for name, (dtype, shape) in facts.items()
    )
    return InputPlan(inputs=planned, seed=seed, refusal=choice.refusal, hopeless=choice.hopeless)


def complete_inputs(model: Model, given: Mapping[str, InputValue] | None = None, *, seed: int = 0) -> dict[str, Array]:
    """Return one array per input, by `Endpoint.name`: the first sample of what `plan_inputs` chooses.

    Raises:
        UsageError: as `plan_inputs`.
    """
    return plan_inputs(model, given, seed=seed).arrays()


def generated_inputs(model: Model, given: Mapping[str, InputValue], *, seed: int = 0) -> dict[str, Array]:
    """Return the inputs that are given, by `Endpoint.name`: arrays, cast, and the values of generators; no others.

    Raises:
        UsageError: as `plan_inputs`.
    """
    named = by_input(model, given)
    if any(isinstance(value, Generator | str) for value in named.values()):
        plan = plan_inputs(model, given, seed=seed)
        return {name: array for name, array in plan.arrays().items() if name in named}
    facts = input_facts(model)
    return {name: fitted(name, value, *facts[name]).array for name, value in named.items()}


def _generator(name: str, value: str | Generator) -> Generator:
    try:
        return parse_generator(value) if isinstance(value, str) else value
    except UsageError as why:
        raise UsageError(f"input '{name}': {why}") from None


def _planned(
    name: str, dtype: ElementType, shape: Shape, given: Given | Generator | None, choice: Choice
) -> PlannedInput:
    if isinstance(given, Given):
        return PlannedInput(name=name, dtype=dtype, shape=given.array.shape, values=given.array, why=given.note)
    wish = choice.wishes.get(name)
    return PlannedInput(
        name=name,
        dtype=dtype,
        shape=choice.sizes[name],
        values=given or (default_for(dtype) if wish is None else wish.values),
        sizes_chosen=static_sizes(shape) is None,
        values_chosen=given is None,
        why="" if wish is None else wish.why,
    )
