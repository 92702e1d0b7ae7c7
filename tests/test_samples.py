"""Every sample runs on its own, from any folder, and ends well."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "samples"
INCEPTION, DISAGREEMENTS = FOLDER / "inception_v2.py", FOLDER / "onnx_disagreements.py"
LEAVES_NOTHING = "a sample leaves nothing behind"
SMALL = [path for path in sorted(FOLDER.glob("*.py")) if path not in {INCEPTION, DISAGREEMENTS}]


def run_sample(path: Path, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", path], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert not list(folder.iterdir()), LEAVES_NOTHING
    return done.stdout


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_a_small_sample_runs_and_says_something(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, where little has to be loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    check_output(capsys.readouterr().out)
    assert not list(tmp_path.iterdir()), LEAVES_NOTHING


@pytest.mark.sweep
@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_a_small_sample_runs_on_its_own(path: Path, tmp_path: Path) -> None:
    check_output(run_sample(path, tmp_path))


def check_output(text: str) -> None:
    assert text.strip()
    assert "False" not in text


@pytest.mark.sweep
def test_the_page_of_disagreements_is_what_its_sample_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "onnx-average-pooling.md").read_text(encoding="utf-8")
    shown = page.partition("onnx_disagreements.py -->\n")[2].partition("<!-- end -->")[0]
    printed = run_sample(DISAGREEMENTS, tmp_path)
    if printed.splitlines()[0] != shown.splitlines()[0]:
        pytest.skip(f"the page was made with other versions: {shown.splitlines()[0]}")
    assert printed == shown


@pytest.mark.sweep
def test_inception_proves_every_step(tmp_path: Path) -> None:
    output = run_sample(INCEPTION, tmp_path)
    verdicts = output.partition("What is proved")[2].splitlines()[2:8]
    assert [line.split()[-1] for line in verdicts] == ["yes"] * 6
    assert output.count("AvgPool opset8") == 8
