"""An ONNX file as an IR model: OpenVINO's frontend in a child process, with AveragePool translated here."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ir_tools.diagnostics import Diagnostic
from ir_tools.errors import RuntimeFailure
from ir_tools.format.read import read as read_ir
from ir_tools.graph import Model
from ir_tools.migration import parse_target
from ir_tools.onnx._failures import failure
from ir_tools.onnx.extension import Translated
from ir_tools.onnx.inspecting import check
from ir_tools.types import parse_shape

__all__ = ["Conversion", "convert", "read"]

LIMIT = 600.0
"""Seconds that a conversion may take."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """An ONNX model as IR, what became of its AveragePool nodes, and what was found on the way."""

    model: Model
    nodes: tuple[Translated, ...]
    diagnostics: tuple[Diagnostic, ...]


def read(path: str | Path, to: str = "opset8") -> Model:
    """The IR of an ONNX model, with average pooling in the layers of `to`; other layers as the frontend makes them.

    Raises:
        ReadError: the file is broken or holds what the frontend cannot convert; node and attribute are named.
        MigrationError: there is no such opset, or a node has no exact form in it (then with diagnostics).
        RuntimeFailure: the frontend crashed, took too long, or openvino is not installed.
    """
    return convert(path, to).model


def convert(path: str | Path, to: str = "opset8") -> Conversion:
    """As `read`, with the proofs."""
    path = Path(path)
    parse_target(to)
    diagnostics = check(path)
    with tempfile.TemporaryDirectory(prefix="ir_tools-") as folder:
        out = Path(folder) / "model.xml"
        report = _convert(path, out, to)
        model = read_ir(out.read_bytes(), out.with_suffix(".bin"))
    model.weights.path = None
    nodes = tuple(
        Translated(**{**entry, "shape": parse_shape(entry["shape"]), "notes": tuple(entry["notes"])})
        for entry in report["nodes"]
    )
    return Conversion(model, nodes, diagnostics)


def _convert(path: Path, out: Path, to: str) -> dict[str, list[dict[str, Any]]]:
    command = [sys.executable, "-m", "ir_tools.onnx.worker", str(path), str(out), to]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise RuntimeFailure(f"{path}: the frontend took more than {LIMIT:.0f} s", kind="timeout") from None
    if done.returncode < 0:
        raise RuntimeFailure(f"{path}: the frontend crashed (signal {-done.returncode})", kind="crashed")
    lines = done.stdout.splitlines()
    if not lines or not lines[-1].startswith("{"):
        last = done.stderr.strip().splitlines()[-1:] or ["it gave no reason"]
        raise RuntimeFailure(f"{path}: the frontend cannot run: {last[0]}", kind="missing")
    report = json.loads(lines[-1])
    if "error" in report:
        raise failure(path, str(report["error"]))
    found: dict[str, list[dict[str, Any]]] = report
    return found
