"""Inference Engine 2020.1, which runs IR v2 to v7, in a child process of another interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.runtime._foreign_files import Files, foreign_program
from ir_tools.runtime._process import WorkerProcess
from ir_tools.runtime.environments import remedy
from ir_tools.runtime.frames import from_array, to_array

__all__ = ["LegacyClient", "LegacyTensor"]

Array = npt.NDArray[Any]
NAME = "Inference Engine 2020.1"
PLAIN = {"LP_TRANSFORMS_MODE": "LP_TRANSFORMS_MODE_OFF"}
"""Low precision is off: the plugin would compute quantized layers in integers, and refuses some of them."""


@dataclass(frozen=True, slots=True)
class LegacyTensor:
    """An input or output as the runtime presents it: f16 as f32."""

    name: str
    element_type: str
    shape: tuple[int, ...]


class LegacyClient(WorkerProcess):
    """Inference Engine 2020.1 in a child process, started when first needed, kept, and started again after a crash.

    Small files take about a millisecond each. A context manager; `close` ends the child.

    Example:
        >>> with LegacyClient(Path("ie2020/bin/python")) as client:
        ...     client.infer(Path("old.xml").read_bytes(), Path("old.bin"), {"data": array})["prob"].shape
        (1, 1000)
    """

    def __init__(self, python: Path, *, timeout: float = 300.0) -> None:
        """Prepare a child.

        Args:
            python: the interpreter of an environment with the wheel `opencv-python-inference-engine==4.2.0.4`.
            timeout: seconds that one request may take.
        """
        program, hello = foreign_program(python, "legacy_worker.py", NAME)
        super().__init__(program, hello, name=NAME, timeout=timeout, memory=None)
        self._remedy = remedy(python)
        self._files = Files()

    def infer(
        self,
        model_xml: bytes,
        weights: Path | bytes,
        inputs: Mapping[str, Array],
        *,
        outputs: Sequence[str] | None = None,
        config: Mapping[str, str] = PLAIN,
        timeout: float | None = None,
    ) -> dict[str, Array]:
        """Run one inference.

        Args:
            model_xml: the bytes of an `.xml` of IR v2 to v7.
            weights: the bytes of the `.bin`, or its path; may be empty.
            inputs: arrays of the file's shapes by the names of its input layers; cast if no value changes.
            outputs: names of tensors to return: a layer's name, or `NAME.0`, `NAME.1` if it has several outputs. By
                default the outputs of the model: what no layer reads.
            config: properties of the CPU plugin.
            timeout: seconds, in place of the client's.

        Returns:
            The tensors by name: those of `outputs` in their order, or the outputs of the model by name.

        Raises:
            UsageError: an unknown name, an input that is missing or does not fit.
            RuntimeFailure: the runtime rejected the file (`kind` is `rejected`), crashed (`crashed`), took too long
                (`timeout`) or ran out of memory (`memory`), or is not in the environment (`missing`).
        """
        header = {
            **self._files.of(model_xml, weights),
            "do": "infer",
            "inputs": list(inputs),
            "outputs": None if outputs is None else list(dict.fromkeys(outputs)),
            "config": dict(config),
        }
        blobs = [from_array(np.asarray(array)) for array in inputs.values()]
        answer, found = self._exchange(header, blobs, self.timeout if timeout is None else timeout)
        return dict(zip(answer["outputs"], map(to_array, found), strict=True))

    def describe(self, model_xml: bytes, weights: Path | bytes) -> tuple[list[LegacyTensor], list[LegacyTensor]]:
        """Return the inputs and the outputs of a file.

        Raises:
            RuntimeFailure: as in `infer`.
        """
        answer, _ = self._exchange({**self._files.of(model_xml, weights), "do": "describe"}, [], self.timeout)
        inputs, outputs = (
            [LegacyTensor(name, type_, tuple(shape)) for name, type_, shape in answer[kind]]
            for kind in ("inputs", "outputs")
        )
        return inputs, outputs
