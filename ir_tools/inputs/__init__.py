"""The inputs of a run: arrays that callers give, and sizes and values chosen for the rest."""

from ir_tools.inputs._generators import GENERATORS, Generator, is_generator, parse_generator
from ir_tools.inputs._given import by_input, checked_inputs, fitted, input_facts, is_packed, parameter_fact
from ir_tools.inputs._plan import InputPlan, InputValue, PlannedInput, complete_inputs, generated_inputs, plan_inputs

__all__ = [
    "GENERATORS",
    "Generator",
    "InputPlan",
    "InputValue",
    "PlannedInput",
    "by_input",
    "checked_inputs",
    "complete_inputs",
    "fitted",
    "generated_inputs",
    "input_facts",
    "is_generator",
    "is_packed",
    "parameter_fact",
    "parse_generator",
    "plan_inputs",
]
