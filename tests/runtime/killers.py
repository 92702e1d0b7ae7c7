"""Small models that kill, hang or exhaust the runtime, or that it rejects without naming a layer of the file.

Each has layers before and behind the offending one, one layer a line.
"""

from collections.abc import Mapping, Sequence

from tests.runtime.made import POOL

Raw = Mapping[str, str]
Port = tuple[int, int]


class Net:
    """A `<net>` or body that grows layer by layer; ports count inputs first, as openvino numbers them."""

    def __init__(self) -> None:
        self.layers: list[str] = []
        self.edges: list[str] = []

    def layer(
        self,
        kind: str,
        inputs: Sequence[Port] = (),
        raw: Raw | None = None,
        *,
        name: str = "",
        version: str = "opset1",
        outputs: Sequence[str] | None = None,
        inside: str = "",
    ) -> Port:
        """Add a layer; its first output."""
        number, count = len(self.layers), len(inputs)
        data = "".join(f' {key}="{value}"' for key, value in (raw or {}).items())
        types = (() if kind == "Result" else ("FP32",)) if outputs is None else outputs
        ins = "".join(f'<port id="{index}"/>' for index in range(count))
        outs = "".join(f'<port id="{count + index}" precision="{type_}"/>' for index, type_ in enumerate(types))
        self.layers.append(
            f'<layer id="{number}" name="{name or f"{kind}_{number}"}" type="{kind}" version="{version}"><data{data}/>'
            f"<input>{ins}</input><output>{outs}</output>{inside}</layer>"
        )
        self.edges += [
            f'<edge from-layer="{maker}" from-port="{out}" to-layer="{number}" to-port="{index}"/>'
            for index, (maker, out) in enumerate(inputs)
        ]
        return number, count

    def parameter(self, shape: str, kind: str = "f32", precision: str = "FP32") -> Port:
        return self.layer("Parameter", raw={"shape": shape, "element_type": kind}, outputs=[precision])

    def constant(self, kind: str, precision: str, shape: str, offset: int, size: int, name: str = "") -> Port:
        raw = {"element_type": kind, "shape": shape, "offset": str(offset), "size": str(size)}
        return self.layer("Const", raw=raw, outputs=[precision], name=name)

    def relus(self, port: Port, count: int) -> Port:
        for _ in range(count):
            port = self.layer("ReLU", [port])
        return port

    def text(self) -> str:
        lines = "\n".join(self.layers)
        return f"<layers>\n{lines}\n</layers><edges>{''.join(self.edges)}</edges>"

    def model(self) -> bytes:
        return f'<net name="made" version="11">{self.text()}</net>'.encode()


def amid(kind: str, version: str, raw: Raw, shape: str = "1,3,8,8", around: int = 12) -> bytes:
    """One layer called `offending` between ReLUs."""
    net = Net()
    middle = net.relus(net.parameter(shape), around)
    out = net.relus(net.layer(kind, [middle], raw, name="offending", version=version), around)
    net.layer("Result", [out])
    return net.model()


POOL_16 = ("AvgPool", "opset16", POOL)


def pool_without_dilations() -> bytes:
    return amid(*POOL_16)


def huge_pads() -> bytes:
    return amid("AvgPool", "opset1", {**POOL, "pads_begin": "1000000000,1000000000"})


def adaptive_to(size: int) -> tuple[bytes, bytes]:
    """AdaptiveAvgPool to `size` by `size`."""
    net = Net()
    middle = net.relus(net.parameter("1,3,8,8"), 5)
    sizes = net.constant("i64", "I64", "2", 0, 16)
    out = net.relus(net.layer("AdaptiveAvgPool", [middle, sizes], name="offending", version="opset8"), 5)
    net.layer("Result", [out])
    return net.model(), size.to_bytes(8, "little") * 2


def strings(shape: str) -> tuple[bytes, bytes]:
    """A string constant with another shape than it has texts: one, `ab`."""
    net = Net()
    net.layer("Result", [net.relus(net.parameter("1,3"), 5)])
    net.layer("Result", [net.constant("string", "STRING", shape, 0, 14, name="offending")])
    header = b"".join(number.to_bytes(4, "little") for number in (1, 0, 2))
    return net.model(), header + b"ab"


def no_parts() -> bytes:
    """A TensorIterator that cuts its input into parts of size 0."""
    body = Net()
    body.layer("Result", [body.layer("ReLU", [body.parameter("1,1,4")])])
    rows = (
        '<port_map><input axis="1" external_port_id="0" internal_layer_id="0" part_size="0" stride="1" start="0"'
        ' end="-1"/><output axis="1" external_port_id="1" internal_layer_id="2" part_size="1" stride="1" start="0"'
        ' end="-1"/></port_map><back_edges/>'
    )
    net = Net()
    middle = net.relus(net.parameter("1,6,4"), 5)
    inside = f"{rows}<body>{body.text()}</body>"
    net.layer("Result", [net.layer("TensorIterator", [middle], name="offending", inside=inside)])
    return net.model()


LOOP_WEIGHTS = b"\x01" + bytes(7)


def loop(trips: int, body: Net, last: Port, shape: str = "1,3,8,8") -> tuple[bytes, bytes]:
    """A Loop called `loop` around a body whose first layer is its only Parameter."""
    going = body.constant("boolean", "BOOL", "", 0, 1)
    outputs = [body.layer("Result", [port])[0] for port in (going, last)]
    rows = (
        '<port_map><input external_port_id="2" internal_layer_id="0"/>'
        f'<output external_port_id="-1" internal_layer_id="{outputs[0]}" purpose="execution_condition"/>'
        f'<output external_port_id="3" internal_layer_id="{outputs[1]}"/></port_map>'
        f'<back_edges><edge from-layer="{outputs[1]}" to-layer="0"/></back_edges>'
    )
    net = Net()
    middle = net.relus(net.parameter(shape), 5)
    count = net.constant("i64", "I64", "", 8, 8)
    yes = net.constant("boolean", "BOOL", "", 0, 1)
    inside = f"{rows}<body>{body.text()}</body>"
    out = net.layer("Loop", [count, yes, middle], name="loop", version="opset5", inside=inside)
    net.layer("Result", [net.relus(out, 5)])
    return net.model(), LOOP_WEIGHTS + trips.to_bytes(8, "little", signed=True)


def endless(trips: int) -> tuple[bytes, bytes]:
    """A Loop whose body is cheap."""
    body = Net()
    return loop(trips, body, body.relus(body.parameter("1,3,8,8"), 2))


def crash_in_a_body() -> tuple[bytes, bytes]:
    """AvgPool of opset16 without dilations inside a Loop."""
    body = Net()
    middle = body.relus(body.parameter("1,3,8,8"), 3)
    raw = {**POOL, "kernel": "1,1", "strides": "1,1"}
    return loop(2, body, body.relus(body.layer("AvgPool", [middle], raw, name="offending", version="opset16"), 3))


def rejected_in_a_body() -> tuple[bytes, bytes]:
    """A Transpose without its order inside a Loop."""
    body = Net()
    middle = body.relus(body.parameter("1,3,8,8"), 3)
    return loop(2, body, body.relus(body.layer("Transpose", [middle], name="offending"), 3))


def nested(depth: int) -> bytes:
    """TensorIterators in each other."""
    text = '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,4" element_type="f32"/><output>'
    start = text + '<port id="0" precision="FP32"/></output></layer>'
    end = '<layer id="2" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>'
    edges = (
        '<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges>'
    )
    ports = '<input><port id="0"/></input><output><port id="1" precision="FP32"/></output>'
    rows = (
        '<port_map><input external_port_id="0" internal_layer_id="0"/>'
        '<output external_port_id="1" internal_layer_id="2"/></port_map><back_edges/>'
    )
    inner = f'<layer id="1" name="relu" type="ReLU" version="opset1">{ports}</layer>'
    opened = (
        f'<layer id="1" name="ti{level}" type="TensorIterator" version="opset1">{ports}{rows}<body><layers>{start}'
        for level in reversed(range(depth))
    )
    closed = f"{end}</layers>{edges}</body></layer>\n" * depth
    text = "".join((*opened, inner, closed))
    return f'<net name="made" version="11"><layers>{start}{text}{end}</layers>{edges}</net>'.encode()


def unfit_values() -> tuple[bytes, bytes]:
    """A ReverseSequence of lengths beyond the axis, which the runtime looks at only when the model runs."""
    net = Net()
    lengths = net.constant("i64", "I64", "2", 0, 16)
    raw = {"batch_axis": "0", "seq_axis": "1"}
    out = net.layer("ReverseSequence", [net.relus(net.parameter("2,3,8,8"), 5), lengths], raw, name="offending")
    net.layer("Result", [net.relus(out, 5)])
    return net.model(), b"".join(number.to_bytes(8, "little") for number in (1, 9))


def dilated_integers() -> bytes:
    """An AvgPool that the runtime reads and the CPU does not compile: one channel of i32, and dilations."""
    net = Net()
    x = net.layer("Abs", [net.parameter("1,1,8,8", "i32", "I32")], outputs=["I32"])
    raw = {**POOL, "dilations": "2,2"}
    out = net.layer("AvgPool", [x], raw, name="offending", version="opset16", outputs=["I32"])
    net.layer("Result", [net.layer("Abs", [out], outputs=["I32"])])
    return net.model()


def chain(count: int) -> bytes:
    """Layers one after the other."""
    net = Net()
    net.layer("Result", [net.relus(net.parameter("1,3"), count)])
    return net.model()
