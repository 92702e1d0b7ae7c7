"""Inception v2 from end to end: read, migrate to opset8, run the poolings in numpy, compare with OpenVINO.

The network is one of the small models that the `onnx` package carries for its own tests. It has constant weights, which
hide every difference, so it gets seeded random ones (He-scaled) first. OpenVINO makes an IR of it. Nothing is
downloaded.

    python samples/inception_v2.py [FOLDER]     # FOLDER keeps the models; a temporary one otherwise
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import openvino
from onnx import numpy_helper

import ir_tools
from ir_tools import Comparison, Migration

LIGHT_MODEL = Path(onnx.__file__).parent / "backend/test/data/light/light_inception_v2.onnx"


def main() -> None:
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        sys.exit(prove(folder))
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(prove(Path(temporary)))


def prove(folder: Path) -> int:
    """Go the whole way in `folder`; return 0 if every step holds."""
    source, copy, target = (folder / name for name in ("inception_v2.xml", "copy.xml", "inception_v2.opset8.xml"))
    openvino.save_model(openvino.convert_model(seeded_onnx(folder)), source, compress_to_fp16=False)

    model = ir_tools.read(source)
    ir_tools.write(model, copy)
    identical = all(
        source.with_suffix(end).read_bytes() == copy.with_suffix(end).read_bytes() for end in (".xml", ".bin")
    )

    shapes = ir_tools.propagate_shapes(source)
    migration = ir_tools.migrate(model, to="opset8")
    ir_tools.write(migration.model, target)

    before_after = ir_tools.compare(model, ir_tools.read(target))
    isolated = ir_tools.compare(ir_tools.read(target), layers={"AvgPool"})

    show_steps(migration)
    show_layers(isolated)
    rows = [
        ("read and written back", "the same bytes, .xml and .bin", identical),
        ("shapes", f"{len(shapes.facts)} ports computed, {len(shapes.mismatches)} differ", not shapes.mismatches),
        (
            "migrated to opset8",
            f"{len(migration.steps)} layers, each with its proof",
            len(migration.steps) == 8 and not migration.refused,
        ),
        ("original and migrated on OpenVINO", worst_output(before_after), before_after.ok),
        ("numpy and OpenVINO, 8 poolings", worst_layer(isolated), isolated.ok and len(isolated.layers) == 8),
        ("outputs, untouched and tapped", worst_output(isolated), all(entry.ok for entry in isolated.outputs)),
    ]
    return show_verdict(rows, isolated)


def seeded_onnx(folder: Path) -> Path:
    """Write the light model with random weights, as a file in `folder`."""
    model = onnx.load(LIGHT_MODEL)
    generator = np.random.default_rng(0)
    fixed = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    weights, nodes = {}, []
    for node in model.graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in fixed:
            weights[node.output[0]] = random_weights(generator, node.output[0], tuple(fixed[node.input[0]]))
        else:
            nodes.append(node)
    for name, array in fixed.items():
        if array.dtype == np.float32:
            weights[name] = random_weights(generator, name, array.shape)
    kept = [tensor for tensor in model.graph.initializer if tensor.name not in weights]
    inputs = [entry for entry in model.graph.input if entry.name not in fixed]
    new = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = onnx.helper.make_graph(nodes, "inception_v2", inputs, model.graph.output, [*kept, *new])
    path = folder / "inception_v2.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version), path)
    return path


def random_weights(generator: np.random.Generator, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """He-scaled for kernels, about 1 for scales and variances, about 0 for the rest."""
    if len(shape) > 1:
        values = generator.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
    elif any(word in name for word in ("scale", "var", "sc_w")):
        values = generator.uniform(0.9, 1.1, shape)
    else:
        values = generator.normal(0, 0.1, shape)
    return np.asarray(values, dtype=np.float32)


def worst_output(comparison: Comparison) -> str:
    return f"largest difference {max(entry.difference.max_abs for entry in comparison.outputs):.1e}"


def worst_layer(comparison: Comparison) -> str:
    found = [entry.difference for entry in comparison.layers if entry.difference]
    absolute, relative = max(entry.max_abs for entry in found), max(entry.needed for entry in found)
    return f"largest difference {absolute:.1e}, relative {relative:.1e}"


def show_steps(migration: Migration) -> None:
    print_table(
        "Average pooling migrated to opset8, each layer with its proof",
        ("layer", "before", "after", "proof"),
        [(step.path, step.before, step.after, step.proof) for step in migration.steps],
    )


def show_layers(comparison: Comparison) -> None:
    rows = [
        (
            entry.path,
            "x".join(map(str, entry.shape or ())),
            f"{found.max_abs:.1e}",
            f"{found.max_rel:.1e}",
            entry.status,
        )
        for entry in comparison.layers
        if (found := entry.difference)
    ]
    title = "The same layers in numpy, each on the inputs that OpenVINO gave it"
    print_table(title, ("layer", "output", "max abs", "max rel", "result"), rows)


def show_verdict(rows: list[tuple[str, str, bool]], comparison: Comparison) -> int:
    print_table(
        "What is proved",
        ("step", "found", "holds"),
        [(step, found, "yes" if holds else "NO") for step, found, holds in rows],
    )
    print(f"OpenVINO {comparison.runtime}, {comparison.device}, precision {comparison.precision}")
    return 0 if all(holds for *_, holds in rows) else 1


def print_table(title: str, heading: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
    print(title)
    for row in (heading, *rows):
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print()


if __name__ == "__main__":
    main()
