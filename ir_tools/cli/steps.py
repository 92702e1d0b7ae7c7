"""Steps of `run`: which value each input has in which step, and which values variables have before the first."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ir_tools.cli.arrays import InputOptions, read_arrays
from ir_tools.display import plural, quoted, quoted_names
from ir_tools.errors import UsageError

if TYPE_CHECKING:
    from ir_tools.graph import Model
    from ir_tools.inputs import InputPlan, InputValue
    from ir_tools.ops import Array
    from ir_tools.types import Shape

__all__ = ["STATE", "load_states", "plans_by_step"]

Pair = tuple[str, str]
STATE = "state/"
"""Before the ids of variables among the names of a .npz that `run` writes."""


def plans_by_step(options: InputOptions, model: "Model", steps: int | None) -> "list[InputPlan]":
    """Return what the inputs get in the first steps; all later ones get what the last of these gets.

    The values that are given for one input are those of the first steps, the last of them of all later steps. With
    `steps`, an array with one dimension more than its input holds one value per step along its first axis.

    Args:
        options: of the command line.
        model: the model.
        steps: how many; None for one.

    Raises:
        UsageError: as `InputOptions.plan`; an array with values for fewer or more steps.
    """
    from ir_tools.inputs import by_input, input_facts, plan_inputs

    if steps is None:
        return [options.plan(model)]
    facts = input_facts(model)
    given = {
        name: [value for entry in values for value in _per_step(name, entry, facts[name][1], steps)]
        for name, values in by_input(model, options.values(model)).items()
    }
    plans: list[InputPlan] = []
    for step in range(min(steps, max(map(len, given.values()), default=1))):
        current = {name: values[min(step, len(values) - 1)] for name, values in given.items()}
        plans.append(plan_inputs(model, current, seed=options.seed))
    return plans


def _per_step(name: str, value: "InputValue", shape: "Shape", steps: int) -> "Sequence[InputValue]":
    """Return the values of an array along its first axis, if it has one dimension more than its input."""
    if not isinstance(value, np.ndarray) or shape is None or value.ndim != len(shape) + 1:
        return [value]
    if len(value) != steps:
        raise UsageError(f"input '{name}' has values for {plural(len(value), 'step')}; expected {steps} (--steps)")
    return list(value)


def load_states(pairs: Sequence[Pair]) -> "dict[str, Array]":
    """Read the files of `--state`: a .npy of one variable, or a .npz without a name, such as `run -o` writes.

    Raises:
        UsageError: a file that cannot be read or holds no array, or two arrays of one variable.
    """
    states: dict[str, Array] = {}
    for name, array in (entry for pair in pairs for entry in _load(*pair)):
        if name in states:
            raise UsageError(f"--state: variable '{quoted(name)}' has 2 values; leave out all but one")
        states[name] = array
    return states


def _load(name: str, file: str) -> "Iterator[tuple[str, Array]]":
    label = f"--state {name}={file}" if name else f"--state {file}"
    arrays = read_arrays(file, label)
    if "" in arrays:
        yield name, arrays[""]
        return
    own = {key.removeprefix(STATE): array for key, array in arrays.items() if key.startswith(STATE)} or arrays
    if name and name not in own:
        raise UsageError(f"{label} has no array '{name}'; it has {quoted_names(own)}")
    yield from ((known, array) for known, array in own.items() if name in {"", known})
