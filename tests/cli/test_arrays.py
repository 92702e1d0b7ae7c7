"""What a command line says of inputs: files of arrays, images, generators, new shapes."""

import shlex
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import ir_tools
from ir_tools.cli.arrays import InputOptions
from ir_tools.cli.images import ImageOptions
from ir_tools.errors import UsageError
from ir_tools.graph import Model
from ir_tools.ops import Array
from tests.cli.conftest import Cli, pooling_xml


def model(dims: tuple[int, ...], kind: str = "f32", name: str = "data") -> Model:
    text = pooling_xml(dims=dims).replace('element_type="f32"', f'element_type="{kind}"')
    return ir_tools.read(text.replace('name="data"', f'name="{name}"').replace('names="data"', "").encode())


def taken(options: InputOptions, target: Model) -> Array:
    (array,) = options.plan(target).arrays().values()
    return array


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """Red above, blue below; 8 wide, 4 high."""
    pixels = np.zeros((4, 8, 3), np.uint8)
    pixels[:2, :, 0] = 255
    pixels[2:, :, 2] = 255
    path = tmp_path / "picture.png"
    Image.fromarray(pixels).save(path)
    return path


# --- images -----------------------------------------------------------------------------------------------------


def test_an_image_gets_the_layout_of_the_input(picture: Path) -> None:
    first = taken(InputOptions((f"data={picture}",)), model((1, 3, 4, 8)))
    assert first.shape == (1, 3, 4, 8)
    assert first.dtype == np.float32
    assert first[0, 0, 0, 0] == 255
    assert first[0, 2, 3, 7] == 255
    assert first[0, 1].max() == 0
    last = taken(InputOptions((str(picture),)), model((1, 4, 8, 3)))
    np.testing.assert_array_equal(last, first.transpose(0, 2, 3, 1))


def test_an_image_gets_the_size_of_the_input(picture: Path) -> None:
    assert taken(InputOptions((str(picture),)), model((1, 1, 16, 16))).shape == (1, 1, 16, 16)


def test_a_layout_decides_between_axes(picture: Path) -> None:
    options = InputOptions((str(picture),), images=ImageOptions(layout=("HWC",)))
    assert taken(options, model((3, 8, 3)))[0, 0].tolist() == [255, 0, 0]
    guessed = InputOptions((str(picture),))
    assert taken(guessed, model((3, 8, 3)))[:, 0, 0].tolist() == [255, 0, 0]
    two = InputOptions((str(picture),), images=ImageOptions(layout=("data=NCHW",)))
    assert taken(two, model((2, 3, 4, 8))).shape == (2, 3, 4, 8)


@pytest.mark.parametrize(("layout", "dims"), [("NHWC", (-1, 3, -1, -1)), ("NCWH", (-1, -1, 8, 4)), ("HWC", (5, 1, -1))])
def test_a_layout_that_takes_the_channels_for_a_side_of_the_image(
    picture: Path, layout: str, dims: tuple[int, ...]
) -> None:
    options = InputOptions((str(picture),), images=ImageOptions(layout=(layout,)))
    with pytest.raises(UsageError, match=f"--layout {layout} does not match the input .*: its channel axis"):
        taken(options, model(dims))


def test_mean_scale_and_color(picture: Path) -> None:
    images = ImageOptions(mean=("10,20,30",), scale=("2",), color=("bgr",))
    array = taken(InputOptions((str(picture),), images=images), model((1, 3, 4, 8)))
    assert array[0, :, 0, 0].tolist() == [-5, -10, 112.5]
    assert array[0, :, 3, 0].tolist() == [122.5, -10, -15]


@pytest.mark.parametrize(
    ("images", "kind", "says"),
    [
        (ImageOptions(layout=("NCH",)), "f32", "letters N, C, H and W"),
        (ImageOptions(layout=("CHW",)), "f32", "the input has 4"),
        (ImageOptions(mean=("1,2",)), "f32", "one per channel"),
        (ImageOptions(mean=("1,2,nan",)), "f32", "one per channel"),
        (ImageOptions(scale=("inf",)), "f32", "one per channel"),
        (ImageOptions(scale=("1,0,1",)), "f32", "has a 0"),
        (ImageOptions(mean=("1",)), "u8", "need a float input"),
        (ImageOptions(color=("cmyk",)), "f32", "rgb or bgr"),
        (ImageOptions(mean=("other=1",)), "f32", "no input 'other'"),
    ],
)
def test_wrong_options_of_images(picture: Path, images: ImageOptions, kind: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        taken(InputOptions((str(picture),), images=images), model((1, 3, 4, 8), kind))


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32])
def test_an_image_of_more_than_8_bits_is_refused(tmp_path: Path, dtype: type) -> None:
    """Pillow would limit its values to 255."""
    Image.fromarray(np.full((4, 8), 300, dtype)).save(tmp_path / "wide.tiff")
    with pytest.raises(UsageError, match="more than 8 bits per channel"):
        taken(InputOptions((str(tmp_path / "wide.tiff"),)), model((1, 3, 4, 8)))


def test_an_input_that_takes_no_image(picture: Path) -> None:
    with pytest.raises(UsageError, match="no axis of 1, 3 or 4 channels"):
        taken(InputOptions((f"data={picture}",)), model((1, 2, 4, 8)))
    with pytest.raises(UsageError, match="no input 'nobody'; it has 'data'"):
        taken(InputOptions((f"nobody={picture}",)), model((1, 3, 4, 8)))


# --- arrays -----------------------------------------------------------------------------------------------------


def test_all_arrays_of_an_archive(tmp_path: Path) -> None:
    ones = np.ones((1, 2, 8, 8))
    np.savez(tmp_path / "one.npz", data=ones)
    np.savez(tmp_path / "two.npz", data=ones, other=np.zeros(2))
    target = model((1, 2, 8, 8))
    for text in ("one.npz", "data=one.npz", "data=two.npz"):
        name, sign, file = text.rpartition("=")
        assert taken(InputOptions((f"{name}{sign}{tmp_path / file}",)), target).all()
    with pytest.raises(UsageError, match="no input 'other'"):
        taken(InputOptions((str(tmp_path / "two.npz"),)), target)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("nowhere.npy", "No such file"),
        ("nowhere.png", "No such file"),
        ("text.npy", r"not a \.npy"),
        ("text.png", r"expected an array \(.npy, .npz\), an image or a generator"),
        ("two.npz", "has no array 'data'; it has 'a', 'b'"),
    ],
)
def test_what_cannot_be_read_is_reported(tmp_path: Path, file: str, text: str) -> None:
    for name in ("text.npy", "text.png"):
        (tmp_path / name).write_text("no array")
    np.savez(tmp_path / "two.npz", a=np.ones(1), b=np.ones(1))
    with pytest.raises(UsageError, match=text):
        taken(InputOptions((f"data={tmp_path / file}",)), model((1, 3, 4, 8)))


def test_memory_layouts_and_byte_orders_of_arrays(tmp_path: Path) -> None:
    wanted = np.arange(128, dtype=np.float32).reshape(1, 2, 8, 8)
    for number, array in enumerate(
        (np.asfortranarray(wanted), wanted.astype(">f4"), wanted.astype(">i8"), wanted * 1.0)
    ):
        np.save(tmp_path / f"{number}.npy", array)
        found = taken(InputOptions((str(tmp_path / f"{number}.npy"),)), model((1, 2, 8, 8)))
        np.testing.assert_array_equal(found, wanted, strict=True)


# --- the command line -------------------------------------------------------------------------------------------

NAMES = ("data", "in put", "a=b", "it's", "$(x)")
KINDS = ("file", "image", "generator", "archive", "nameless", "shape")


@pytest.mark.parametrize(
    ("name", "kind"), [*((name, "file") for name in NAMES), *(("a=b in put, it's $(x)", kind) for kind in KINDS)]
)
def test_the_printed_command_runs(cli: Cli, tmp_path: Path, picture: Path, name: str, kind: str) -> None:
    path = tmp_path / "m o'del.xml"
    ir_tools.write(model((1, 3, 8, 8), name=name), path)
    np.save(tmp_path / "one =.npy", np.full((1, 3, 8, 8), 0.3))
    with zipfile.ZipFile(tmp_path / "all.npz", "w") as archive:
        archive.write(tmp_path / "one =.npy", f"{name}.npy")
    words: dict[str, list[object]] = {
        "file": ["--input", f"{name}={tmp_path / 'one =.npy'}"],
        "image": ["--input", f"{name}={picture}", "--layout", f"{name}=NCHW", "--mean", "1,2,3", "--color", "bgr"],
        "generator": ["--input", f"{name}=uniform:-3:255", "--seed", "3"],
        "archive": ["--input", tmp_path / "all.npz"],
        "nameless": ["--input", tmp_path / "one =.npy"],
        "shape": ["--set", f"{name}=2,3,?,16..32"],
    }
    found = cli("compare", path, *words[kind], "--json").document
    assert found["ok"]
    again = shlex.split(found["replay"])
    assert again[0] == "ir-tools"
    assert cli(*again[1:], "--json").document == found


def test_new_shapes_and_generators(cli: Cli, model: Path) -> None:
    outcome = cli("run", model, "--set", "data=2,2,6..,?", "--input", "uniform:5:6", "--json")
    (entry,) = outcome.document["inputs"]
    assert entry["shape"][:2] == [2, 2]
    assert (entry["values"], entry["sizes_chosen"], entry["values_chosen"]) == ("uniform:5:6", True, False)
    assert 5 <= entry["min"] < entry["max"] <= 6


def test_what_is_made_up_is_shown(cli: Cli, model: Path, tmp_path: Path) -> None:
    shown = cli("run", model).out
    assert "data: f32 [1,2,8,8], normal, values chosen" in shown
    np.save(tmp_path / "wide.npy", np.full((1, 2, 8, 8), 0.1))
    for command in ("run", "compare"):
        shown = cli(command, model, "--input", tmp_path / "wide.npy").out
        assert "data: f32 [1,2,8,8], as given: cast from f64 to f32" in shown
    assert (
        cli("migrate", model, "--dry-run", "--verify", "--set", "data=?,2,8,8").out.count("sizes and values chosen")
        == 1
    )


@pytest.mark.parametrize("values", ["zeros", "data.npy", None])
@pytest.mark.parametrize("option", ["--layout", "--mean", "--scale", "--color"])
def test_options_of_images_without_an_image_are_refused(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, option: str, values: str | None
) -> None:
    """Arrays stayed as they were, as if they had been normalized."""
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", np.zeros((1, 3, 4, 4)))
    ir_tools.write(model((1, 3, 4, 4)), tmp_path / "model.xml")
    found = cli("run", "model.xml", option, "1", *(["--input", values] if values else []))
    assert found.code == 2
    assert found.err.strip() == f"ir-tools: {option} 1 applies to images, but no --input is an image"
