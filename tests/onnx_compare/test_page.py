"""The page of disagreements shows what its script prints."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx")
ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_script_prints() -> None:
    page = (ROOT / "docs" / "onnx-average-pooling.md").read_text(encoding="utf-8")
    shown = page.partition("onnx_disagreements.py -->\n")[2].partition("<!-- end -->")[0]
    script = ROOT / "samples" / "onnx_disagreements.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    if done.stdout.splitlines()[0] != shown.splitlines()[0]:
        pytest.skip(f"the page was made with other versions: {shown.splitlines()[0]}")
    assert done.stdout == shown
