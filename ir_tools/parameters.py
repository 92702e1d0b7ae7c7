"""What the parameters of public functions take, checked before any work begins."""

import functools
import inspect
import os
import reprlib
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

import numpy as np

from ir_tools.errors import UsageError
from ir_tools.graph import Model

__all__ = [
    "ATTRIBUTES",
    "CALLABLE",
    "CODES",
    "COUNT",
    "EXTENSIONS",
    "FLAG",
    "INPUT_SHAPES",
    "INPUT_VALUES",
    "INTEGERS",
    "LAYERS",
    "MODEL",
    "NAMES",
    "OPSET",
    "PATH",
    "RELEASES",
    "RUNTIME",
    "SAMPLES",
    "SEED",
    "SETTING",
    "SHAPE",
    "SOURCE",
    "TARGET",
    "TEXT",
    "TOLERANCE",
    "WEIGHTS",
    "Argument",
    "checked",
    "instance",
    "optional",
]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Argument:
    """One kind of argument: whether a value is one, and what it is in words."""

    fits: Callable[[object], bool]
    expected: str


def checked(**kinds: Argument) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function raise a UsageError for the first argument that is not of its kind, by name of the parameter."""

    def wrap(function: Callable[P, T]) -> Callable[P, T]:
        names = tuple(inspect.signature(function).parameters)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            for name, value in (*zip(names, args, strict=False), *kwargs.items()):
                kind = kinds.get(name)
                if kind is not None and not kind.fits(value):
                    shown = f"{reprlib.repr(value)} ({type(value).__name__})"
                    label = function.__qualname__.removesuffix(".__init__")
                    raise UsageError(f"{label}: {name} is {shown}; expected {kind.expected}")
            return function(*args, **kwargs)

        return call

    return wrap


def instance(kind: type | tuple[type, ...], expected: str) -> Argument:
    """Return the kind of all instances of a class."""
    return Argument(lambda value: isinstance(value, kind), expected)


def optional(kind: Argument) -> Argument:
    """Return a kind that None belongs to as well."""
    return Argument(lambda value: value is None or kind.fits(value), f"{kind.expected}, or None")


def _is_source(value: object) -> bool:
    openvino = sys.modules.get("openvino")
    kinds = (Model, str, os.PathLike, bytes)
    return isinstance(value, kinds if openvino is None else (*kinds, openvino.Model))


def _are_texts(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str) and all(isinstance(word, str) for word in value)


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def _is_shape(value: object) -> bool:
    return isinstance(value, str | Integral) or (isinstance(value, Sequence) and not isinstance(value, bytes))


def _is_array(value: object) -> bool:
    try:
        np.asarray(value)
    except (ValueError, TypeError):
        return False
    return True


def _are_by_name(value: object, fits: Callable[[object], bool] = lambda entry: True) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) and fits(entry) for name, entry in value.items())


SOURCE = Argument(_is_source, "a model, the path of an .xml or .onnx, the bytes of an .xml, or an openvino.Model")
MODEL = instance(Model, "a model, as from ir_tools.read")
PATH = Argument(_is_path, "a path")
WEIGHTS = instance((str, os.PathLike, bytes), "the path or the bytes of a .bin")
TEXT = instance(str, "a string")
FLAG = instance(bool, "True or False")
RUNTIME = instance((bool, str), "True, False or the name of a release")
ATTRIBUTES = Argument(_are_by_name, "attributes by name")
CALLABLE = Argument(callable, "a function")
COUNT = instance(Integral, "an integer")
SEED = Argument(lambda value: isinstance(value, Integral) and int(value) >= 0, "an integer of at least 0")
SAMPLES = Argument(lambda value: isinstance(value, Integral) and int(value) >= 1, "an integer of at least 1")
TOLERANCE = Argument(lambda value: isinstance(value, Real) and float(value) >= 0, "a number of at least 0")
TARGET = instance(str, "an opset, an IR version or a release, as in 'opset8', 'ir10' or 'openvino-2024.6'")
OPSET = instance(str, "an opset, as in 'opset8'")
NAMES = Argument(lambda value: isinstance(value, str) or _are_texts(value), "names, as in ['adaptive-to-avg-pool']")
RELEASES = Argument(
    lambda value: isinstance(value, str) or _are_texts(value), "names of releases, as in ['openvino-2021.4']"
)
CODES = Argument(
    lambda value: isinstance(value, str) or _are_texts(value), "codes or names of rules, as in ['IR103', 'IR2']"
)
LAYERS = Argument(
    lambda value: isinstance(value, bool | str) or _are_texts(value), "True, False or layer types, as in ['MaxPool']"
)
SETTING = Argument(
    lambda value: isinstance(value, str) or (isinstance(value, tuple) and len(value) == 2 and _are_texts(value)),
    "one release, device or precision, as in 'openvino-2024.6', 'GPU', 'CPU:bf16' or ('CPU', 'bf16')",
)
SHAPE = Argument(_is_shape, "a shape, as in '1,3,?,16..64' or [1, 3, -1, 64]")
INTEGERS = Argument(
    lambda value: isinstance(value, Sequence) and all(isinstance(number, Integral) for number in value),
    "a list of integers",
)
EXTENSIONS = Argument(
    lambda value: _is_path(value) or (isinstance(value, Sequence) and all(map(_is_path, value))),
    "paths of extension libraries",
)
ARRAYS = Argument(lambda value: _are_by_name(value, _is_array), "arrays by name")
INPUT_VALUES = Argument(
    lambda value: _are_by_name(value, _is_array), "arrays or generators by name of the input, as in {'data': array}"
)
INPUT_SHAPES = Argument(
    lambda value: _are_by_name(value, _is_shape),
    "shapes by name of the input, as in {'data': '1,3,?,16..64'}",
)
