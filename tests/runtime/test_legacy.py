"""Inference Engine 2020.1 in a child process: what it returns, and what its failures become."""

import ast
from pathlib import Path

from ir_tools.runtime import legacy_worker


def test_worker_is_python_3_6() -> None:
    ast.parse(Path(legacy_worker.__file__).read_text(), feature_version=(3, 6))
