"""Broken legacy files: every answer is a finding, a refusal or an error of ir_tools, and what is migrated is valid."""

import random
import re
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

import ir_tools
from tests.legacy.makers import MAKERS

NUMBERS = ("", "-1", "x", "0", "9" * 20, "1.5", "1,2", "nan", "inf", "3,3,3,3,3,3", "-5", "4294967296", "1e30", "7")
Change = Callable[[re.Match[str], random.Random], str]
CHANGES: tuple[tuple[str, Change], ...] = (
    (r'(?<==")[^"]*(?=")', lambda found, rng: rng.choice(NUMBERS)),
    (r' [\w-]+="[^"]*"', lambda found, rng: ""),
    (r"(?<=<dim>)[^<]*", lambda found, rng: rng.choice(("0", "-1", "", "x", "7", "1000000", "2147483648"))),
    (r"<dim>[^<]*</dim>", lambda found, rng: ""),
    (r"(?s)<layer .*?</layer>", lambda found, rng: ""),
    (r"<edge [^>]*/>", lambda found, rng: ""),
    (r"(?s)<(blobs|data|input|output|port|weights)\b.*?(/>|</\1>)", lambda found, rng: ""),
    (r"(?s)<port .*?</port>", lambda found, rng: 2 * found[0]),
)


def broken(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice((1, 1, 2, 3))):
        pattern, change = rng.choice(CHANGES)
        places = list(re.finditer(pattern, text))
        if places:
            place = rng.choice(places)
            text = text[: place.start()] + change(place, rng) + text[place.end() :]
    return text


def check(kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    case = MAKERS[kind](np.random.default_rng(seed), rng.randrange(2, 8))
    xml = broken(case.xml, rng).encode()
    weights = case.weights[: rng.randrange(len(case.weights) + 1)] if rng.random() < 0.2 else case.weights
    assert not [one for one in ir_tools.validate(xml, weights) if "failed to check this file" in one.message]
    with suppress(ir_tools.IrToolsError):
        ir_tools.propagate_shapes(ir_tools.read(xml, weights))
    with suppress(ir_tools.IrToolsError):
        migration = ir_tools.migrate(ir_tools.read(xml, weights))
        if migration.ok:
            assert not [one for one in ir_tools.validate(migration.model) if one.severity == "error"]


@pytest.mark.parametrize("kind", MAKERS)
def test_broken_files_are_no_surprise(kind: str) -> None:
    for seed in range(4):
        check(kind, seed)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", MAKERS)
def test_many_broken_files_are_no_surprise(kind: str) -> None:
    for seed in range(4, 200):
        check(kind, seed)
