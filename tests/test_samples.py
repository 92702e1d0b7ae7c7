"""Every sample runs on its own, from any folder, and ends well."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "samples"
INCEPTION = FOLDER / "inception_v2.py"
SMALL = [path for path in sorted(FOLDER.glob("*.py")) if path != INCEPTION]


def run_sample(path: Path, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", path], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert not list(folder.iterdir()), "a sample leaves nothing behind"
    return done.stdout


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_a_small_sample_runs_and_says_something(path: Path, tmp_path: Path) -> None:
    output = run_sample(path, tmp_path)
    assert output.strip()
    assert "False" not in output


def test_inception_proves_every_step(tmp_path: Path) -> None:
    output = run_sample(INCEPTION, tmp_path)
    verdicts = output.partition("What is proved")[2].splitlines()[2:8]
    assert [line.split()[-1] for line in verdicts] == ["yes"] * 6
    assert output.count("AvgPool opset8") == 8
