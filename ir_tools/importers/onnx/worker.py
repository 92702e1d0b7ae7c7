"""The child process that converts an ONNX file, `python -m ir_tools.importers.onnx.worker MODEL OUT OPSET LIBRARY...`.

Its last line on standard output is a JSON object: the translated nodes, or what went wrong.
"""

import json
import sys

from ir_tools.errors import IrToolsError, MigrationError, UsageError
from ir_tools.importers.onnx.extension import Translated, extension
from ir_tools.runtime.extensions import add_extensions
from ir_tools.types import format_shape

__all__ = ["main"]


def main(model: str, out: str, to: str, *extensions: str) -> int:
    """Convert, write the IR, print the report."""
    import openvino as ov

    nodes, failed = list[Translated](), list[IrToolsError]()
    core = ov.Core()
    core.add_extension(extension(to, nodes.append, failed.append))
    try:
        add_extensions(core, extensions)
    except UsageError as error:
        print(json.dumps({"usage": str(error)}))
        return 1
    try:
        converted = core.read_model(model)
    except (RuntimeError, IrToolsError) as error:
        ours = [{"why": str(why), "refused": isinstance(why, MigrationError)} for why in failed]
        print(json.dumps({"error": str(error), "ours": ours}))
        return 1
    try:
        ov.save_model(converted, out, compress_to_fp16=False)
    except RuntimeError as error:
        print(json.dumps({"unwritten": str(error)}))
        return 1
    report = [_row(node) for node in nodes]
    print(json.dumps({"nodes": report, "version": ov.get_version()}))
    return 0


def _row(node: Translated) -> dict[str, object]:
    return {
        "name": node.output.get_node().get_friendly_name(),
        "shape": format_shape(node.shape),
        "layers": node.layers,
        "strategy": node.strategy,
        "proof": node.proof,
        "notes": node.notes,
    }


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
