"""The ways in which the runtime fails over a file, in words: the findings of `ir_tools.runtime.trial`."""

from typing import NamedTuple

from ir_tools.rules import Rule
from ir_tools.rules.running import (
    REJECTED_WHILE_COMPILING,
    REJECTED_WHILE_READING,
    REJECTED_WHILE_RUNNING,
    RUNTIME_CRASH,
    RUNTIME_OUT_OF_MEMORY,
    RUNTIME_TOO_SLOW,
)

__all__ = ["COMPILING", "CRASHED", "ENDLESS", "READING", "RUNNING", "TOO_LARGE", "Outcome"]


class Outcome(NamedTuple):
    """A way in which the runtime fails: its rule, the message with gaps, and what to do about it."""

    rule: Rule
    message: str
    help: str


READING = Outcome(
    REJECTED_WHILE_READING,
    "the runtime rejects the file: {reason}",
    "correct the layer as the message says",
)
COMPILING = Outcome(
    REJECTED_WHILE_COMPILING,
    "the runtime cannot compile the model: {reason}",
    "correct the layer, or choose another device, if this one lacks the operation or its element type",
)
RUNNING = Outcome(
    REJECTED_WHILE_RUNNING,
    "the runtime compiles the model but cannot run it: {reason}",
    "correct the layer as the message says",
)
CRASHED = Outcome(
    RUNTIME_CRASH,
    "the runtime crashes ({reason}) while {stage}",
    "correct the layer; every program that loads the file crashes",
)
ENDLESS = Outcome(
    RUNTIME_TOO_SLOW,
    "the runtime does not finish within {seconds:g} s while {stage}",
    "look for a trip count or size that is far too large, or allow more time for a large model",
)
TOO_LARGE = Outcome(
    RUNTIME_OUT_OF_MEMORY,
    "the runtime runs out of memory (it may have {memory:.3g} GiB) while {stage}{words}",
    "look for pads, strides or sizes that are far too large, or allow more memory for a large model",
)
