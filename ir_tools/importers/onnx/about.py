"""What an ONNX file says of itself."""

from dataclasses import dataclass
from pathlib import Path

from ir_tools.errors import UnsupportedError

__all__ = ["About", "about"]


@dataclass(frozen=True, slots=True)
class About:
    """Hold the head of an ONNX file. `opsets`: version by domain, the standard one as `ai.onnx`."""

    ir_version: int
    opsets: dict[str, int]
    producer: str
    average_pools: int


def about(path: Path) -> About:
    """Return the head of a readable ONNX file and the number of its AveragePool nodes, subgraphs left out.

    Raises:
        UnsupportedError: the `onnx` package is not installed.
    """
    try:
        import onnx
    except ImportError:
        raise UnsupportedError("the onnx package is not installed; pip install onnx") from None
    model = onnx.load(str(path), load_external_data=False)
    return About(
        ir_version=model.ir_version,
        opsets={entry.domain or "ai.onnx": entry.version for entry in model.opset_import},
        producer=f"{model.producer_name} {model.producer_version}".strip(),
        average_pools=sum(node.op_type == "AveragePool" for node in model.graph.node),
    )
