"""The files of `--input`."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import ir_tools
from ir_tools.cli.arrays import load_inputs
from ir_tools.errors import UsageError
from ir_tools.graph import Model
from tests.cli.conftest import pooling_xml


def model(dims: tuple[int, ...]) -> Model:
    return ir_tools.read(pooling_xml(dims=dims).encode())


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """Red above, blue below; 8 wide, 4 high."""
    pixels = np.zeros((4, 8, 3), np.uint8)
    pixels[:2, :, 0] = 255
    pixels[2:, :, 2] = 255
    path = tmp_path / "picture.png"
    Image.fromarray(pixels).save(path)
    return path


def test_an_image_gets_the_layout_of_the_input(picture: Path) -> None:
    (first,) = load_inputs([("data", str(picture))], model((1, 3, 4, 8))).values()
    assert first.shape == (1, 3, 4, 8)
    assert first.dtype == np.float32
    assert first[0, 0, 0, 0] == 255
    assert first[0, 2, 3, 7] == 255
    assert first[0, 1].max() == 0
    (last,) = load_inputs([("data", str(picture))], model((1, 4, 8, 3))).values()
    np.testing.assert_array_equal(last, first.transpose(0, 2, 3, 1))


def test_an_image_gets_the_size_of_the_input(picture: Path) -> None:
    (array,) = load_inputs([("data", str(picture))], model((1, 1, 16, 16))).values()
    assert array.shape == (1, 1, 16, 16)


def test_all_arrays_of_an_archive(tmp_path: Path) -> None:
    arrays = {"data": np.ones(3), "other": np.zeros(2)}
    np.savez(tmp_path / "all.npz", data=arrays["data"], other=arrays["other"])
    found = load_inputs([("", str(tmp_path / "all.npz"))], None)
    assert {name: array.tolist() for name, array in found.items()} == {"data": [1, 1, 1], "other": [0, 0]}
    (one,) = load_inputs([("data", str(tmp_path / "all.npz"))], None).values()
    assert one.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("nowhere.npy", "No such file"),
        ("nowhere.png", "No such file"),
        ("text.npy", "not a .npy"),
        ("text.png", "neither a .npy, a .npz nor an image"),
        ("two.npz", "holds a, b, and no 'data'"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, file: str, text: str) -> None:
    for name in ("text.npy", "text.png"):
        (tmp_path / name).write_text("no array")
    np.savez(tmp_path / "two.npz", a=np.ones(1), b=np.ones(1))
    with pytest.raises(UsageError, match=text):
        load_inputs([("data", str(tmp_path / file))], model((1, 3, 4, 8)))


def test_an_input_that_takes_no_image(picture: Path) -> None:
    with pytest.raises(UsageError, match="takes no image"):
        load_inputs([("data", str(picture))], model((1, 2, 4, 8)))
    with pytest.raises(UsageError, match="the model has data"):
        load_inputs([("nobody", str(picture))], model((1, 3, 4, 8)))
