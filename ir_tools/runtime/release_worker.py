"""The tasks of the child process in which a release of OpenVINO runs; `_foreign.py` calls them.

They run in the interpreter of another environment, Python 3.6 and later, and import nothing of ir_tools. 2021 has the
API `openvino.inference_engine`, 2022 and later have `openvino.runtime` or `openvino`. `worker.py` runs the tasks of
`Modern` in this environment.
"""

import contextlib
import ctypes
import glob
import importlib
import importlib.util
import os
import re
import sys
import time
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import numpy as np

DTYPES = {"f32": "<f4", "f16": "<f2", "f64": "<f8", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8"}
DTYPES.update(u8="u1", u16="<u2", u32="<u4", u64="<u8", boolean="u1")
PRECISIONS = {"FP32": "f32", "FP16": "f16", "FP64": "f64", "BOOL": "boolean"}
"""Names of element types in the API of 2021 that are not those of today in capitals."""
OLD_NET = re.compile(rb"(<net\b[^>]*?\bversion\s*=\s*[\"'])10([\"'])")
HINT = "INFERENCE_PRECISION_HINT"
INT8 = "LP_TRANSFORMS_MODE"
"""Whether quantized models run in int8. Until 2023.0 they do if either the device or the model has it."""
BF16_KEY = "ENFORCE_BF16"
"""What the releases before the hint have in its place."""
SIZES = (32, 8, 1, 224)
"""What dynamic dimensions are tried with, one after the other, within their bounds; a dynamic batch is 1."""
MAX_ELEMENTS = 1 << 24
"""Of an input with dynamic dimensions; sizes that would make more are not tried."""


class Misused(Exception):
    """The request names what is not there, or a value that does not fit."""

    kind = "usage"


KEPT = {}  # type: dict[str, Any]
MAX_KEPT = 64
"""Small models that stay compiled, the last ones."""


def kept(request: Any, prepare: Any) -> Any:
    """Return what was prepared for an equal request, or prepare it; kept if the request says so."""
    key = request.header.get("kept")
    found = KEPT.pop(key, None) or prepare(request)
    if key is not None:
        KEPT[key] = found
        if len(KEPT) > MAX_KEPT:
            del KEPT[next(iter(KEPT))]
    return found


# --- the API of its time -----------------------------------------------------------------------------------------

API = []  # type: list[Any]


def api() -> Any:
    """Return the runtime: `Modern`, or `Classic` for a release of 2021. It is loaded once."""
    if not API:
        not_installed = None  # type: Any
        sys.modules["openvino.tools.ovc"] = not_installed
        sys.modules["openvino.tools.mo"] = not_installed
        import openvino

        if not hasattr(openvino, "Core"):
            if importlib.util.find_spec("openvino.runtime") is None:
                API.append(Classic())
                return API[0]
            import openvino.runtime as openvino
        API.append(Modern(openvino))
    return API[0]


class Modern:
    """2022.1 and later."""

    title = "it"
    """What messages call the runtime."""

    def __init__(self, openvino: Any) -> None:
        """Keep the module, and make its one core."""
        self.ov = openvino
        self.core = openvino.Core()
        home = "openvino" if importlib.util.find_spec("openvino.opset1") else "openvino.runtime"
        self.ops = importlib.import_module(home + ".opset1")

    @property
    def version(self) -> str:
        """Of the release."""
        return str(self.ov.get_version())

    def read(self, request: Any) -> Any:
        """Return the model of a request, as this release presents it."""
        request.stage("reading the model")
        return self.core.read_model(request["model"], request["weights"])

    def read_as_written(self, request: Any, rename: Any = None) -> Any:
        """Return the model layer by layer as in the file: IR v10 as v11, without Converts at its borders."""
        with open(request["model"], "rb") as file:
            text = file.read()
        as_v11 = OLD_NET.sub(rb"\g<1>11\2", rename(text) if rename else text, count=1)
        if as_v11 == text:
            return self.read(request)
        path = os.path.join(request["folder"], "model.v11.xml")
        with open(path, "wb") as file:
            file.write(as_v11)
        return self.core.read_model(path, request["weights"])

    def compile(self, model: Any, request: Any) -> Any:
        """Compile for the device, with those properties that are known; f32 is asked for in the way of the release."""
        request.stage("compiling the model")
        device, config = request["device"], dict(request["config"])
        if device not in self.core.available_devices and device.partition(".")[0] not in self.core.available_devices:
            raise Misused(f"it has no device '{device}' here; it has {', '.join(self.core.available_devices)}")
        known = self.core.get_property(device, "SUPPORTED_PROPERTIES")
        if config.get(HINT) == "f32" and "KV_CACHE_PRECISION" in known:
            config.setdefault("KV_CACHE_PRECISION", "f32")
        if HINT not in known and HINT in config:
            config[BF16_KEY] = "YES" if config.pop(HINT) == "bf16" else "NO"
        if "DYNAMIC_QUANTIZATION_GROUP_SIZE" not in known:
            config.pop("DYNAMIC_QUANTIZATION_GROUP_SIZE", None)
        if device == "CPU":
            self.core.set_property("CPU", {INT8: config.get(INT8, "YES")})
        return self.core.compile_model(model, device, config)

    # --- tasks

    def describe(self, request: Any) -> "Any":
        """Return inputs and outputs."""
        model = self.read(request)
        self.reshape(model, request)
        return {kind: [self.row(item) for item in getattr(model, kind)] for kind in ("inputs", "outputs")}, []

    def infer(self, request: Any) -> "Any":
        """Run one inference."""
        presented, model, tapped, compiled, _ = kept(request, self.prepare)
        run = compiled.create_infer_request()
        inputs, states = sent(request)
        self.feed(run, model, inputs)
        self.set_states(run, states)
        request.stage("running the model")
        for _ in range(request["times"]):
            run.infer()
        after = run.query_state()
        results = [self.taken(run.get_output_tensor(index)) for index in range(len(model.outputs))]
        header = {
            "outputs": [self.row(output) for output in presented.outputs],
            "version": self.version,
            "device": self.device_name(compiled, request["device"]),
            "precision": self.precision(compiled, request["config"].get(HINT, "dynamic")),
            "executed": executed(compiled.get_runtime_model()) if request["executed"] else [],
            "states": [variable.name for variable in after],
        }
        taps = [results[index] for index in tapped]
        return header, results[: len(presented.outputs)] + taps + [self.taken(variable.state) for variable in after]

    def prepare(self, request: Any) -> "Any":
        """Return the model as it is presented, that with taps, the numbers of their outputs, and it compiled.

        The request comes along: it holds the bytes of constants, which openvino may not copy.
        """
        presented = self.read(request)
        model, tapped = presented, []  # type: tuple[Any, list[int]]
        if request["taps"]:
            model, tapped = self.tapped(request, presented)
            self.reshape(presented, request)
        self.reshape(model, request)
        return presented, model, tapped, self.compile(model, request), request

    def shapes(self, request: Any) -> "Any":
        """Return element type and partial shape of every output of every layer, bodies included."""
        model = self.read_as_written(request)
        if any(duplicates(graph) for graph in graphs(model)):
            model = self.read_as_written(request, unique_names)
        self.reshape(model, request)
        return {"shapes": list(walk(model, ""))}, []

    def attempt(self, request: Any) -> str:
        """Read, compile and run on inputs that are given or made up, as far as is asked; why no sizes suit, if so."""
        model = self.read(request)
        if request["until"] == "reading the model":
            return ""
        compiled = self.compile(model, request)
        if request["until"] == "compiling the model":
            return ""
        run = compiled.create_infer_request()
        if request["inputs"]:
            request.stage("making up inputs")
            self.feed(run, compiled, sent(request)[0])
            request.stage("running the model")
            run.infer()
            return ""
        reasons = []
        inputs = compiled.inputs
        for sizes in self.choices(compiled):
            for fill in request["fills"]:
                request.stage("making up inputs")
                for index, (item, shape) in enumerate(zip(inputs, sizes)):
                    run.set_input_tensor(index, self.made_up(item, shape, fill))
                request.stage("running the model")
                try:
                    run.infer()
                    return ""
                except RuntimeError as error:
                    if self.is_final(error):
                        raise
                    reasons.append(str(error))
        if all(shape_words(item) and not item.get_partial_shape().is_dynamic for item in inputs):
            raise RuntimeError(reasons[0])
        return reasons[0]

    def is_final(self, error: RuntimeError) -> bool:
        """Return whether no other sizes or values of inputs are worth a try."""
        return False

    # --- the model

    def tapped(self, request: Any, presented: Any) -> "tuple[Any, list[int]]":
        """Return the model with an output for every tap, after its own, and the numbers of these outputs.

        It is read as written, so that layers keep their own types, and then given the presented types at its borders.
        """
        model = self.read_as_written(request)
        if any("#" in name for name, _ in request["taps"]) and duplicates(model):
            model = self.read_as_written(request, unique_names)
        named = {}  # type: dict[str, list[Any]]
        for node in model.get_ops():
            named.setdefault(node.get_friendly_name(), []).append(node)
        places = {}  # type: dict[tuple[str, int], int]
        tapped = []
        for name, index in request["taps"]:
            source = find(named, name, index, self.title)
            key = (source.get_node().get_name(), source.get_index())
            if key not in places:
                places[key] = len(model.outputs)
                type_ = source.get_element_type().get_type_name()
                if request["wide"] and type_ in ("f16", "bf16"):
                    source = self.ops.convert(source, "f32").output(0)
                self.add_result(model, source)
            tapped.append(places[key])
        self.present(model, presented)
        model.validate_nodes_and_infer_types()
        return model, tapped

    def add_result(self, model: Any, source: Any) -> None:
        """Add a Result; an API that only knows outputs would take the one that is there, so a Convert precedes it."""
        if hasattr(model, "add_results"):
            model.add_results([self.ops.result(source)])
        else:
            model.add_outputs(self.ops.convert(source, source.get_element_type().get_type_name()).output(0))

    def present(self, model: Any, presented: Any) -> None:
        """Give inputs and outputs the types of `presented`, with Convert layers inside, as for IR v10."""
        for own, shown in zip(model.get_parameters(), presented.get_parameters()):
            wanted, type_ = shown.get_element_type(), own.get_element_type()
            if wanted != type_:
                consumers = own.output(0).get_target_inputs()
                own.set_element_type(wanted)
                with contextlib.suppress(AttributeError):
                    own.validate_and_infer_types()
                inner = self.ops.convert(own, type_.get_type_name())
                for consumer in consumers:
                    consumer.get_node().set_argument(consumer.get_index(), inner.output(0))
        for own, shown in zip(model.get_results(), presented.get_results()):
            wanted = shown.get_element_type()
            if wanted != own.get_element_type():
                outer = self.ops.convert(own.input_value(0), wanted.get_type_name())
                own.set_argument(0, outer.output(0))

    def reshape(self, model: Any, request: Any) -> None:
        """Give inputs new shapes."""
        if request["shapes"]:
            request.stage("reshaping the model")
            numbers = self.numbers(model)
            shapes = {number(numbers, name): self.ov.PartialShape(text) for name, text in request["shapes"].items()}
            model.reshape(shapes)

    def row(self, output: Any) -> "dict[str, Any]":
        """Return an input or output of a model: every name that it answers to, type and shape."""
        node = output.get_node()
        row = {"names": sorted(output.get_names()), "layer": node.get_friendly_name()}  # type: dict[str, Any]
        if node.get_type_name() == "Result":
            producer = node.input_value(0)
            label = producer.get_node().get_friendly_name()
            several = producer.get_node().get_output_size() > 1
            row["producer"] = f"{label}.{producer.get_index()}" if several else label
        row.update(type=output.get_element_type().get_type_name(), shape=shape_words(output))
        return row

    # --- tensors

    def numbers(self, model: Any) -> "dict[str, int]":
        """Return the number of each input by all of its names."""
        found = {}  # type: dict[str, int]
        for index, item in enumerate(model.inputs):
            for name in [*item.get_names(), item.get_node().get_friendly_name()]:
                found.setdefault(name, index)
        return found

    def feed(self, run: Any, model: Any, given: "dict[str, Any]") -> None:
        """Set every input."""
        numbers, inputs = self.numbers(model), model.inputs
        tensors = {}
        for name, blob in given.items():
            index = number(numbers, name)
            tensors[index] = self.input_tensor(f"input '{name}'", blob, inputs[index])
        for index, item in enumerate(inputs):
            if index not in tensors:
                raise Misused(f"input '{item.get_node().get_friendly_name()}' has no value")
            run.set_input_tensor(index, tensors[index])

    def input_tensor(self, what: str, blob: Any, item: Any) -> Any:
        """Return a tensor for an input: of its type, whose elements may be packed into the bytes of the blob."""
        type_ = item.get_element_type()
        packed = blob[0] == "u8" and type_.get_type_name() not in (*DTYPES, "string")
        if packed and item.get_partial_shape().is_dynamic:
            raise Misused(f"{what} takes {type_.get_type_name()}, packed into bytes, and a static shape")
        return self.tensor(what, (blob[0], list(item.get_shape()), blob[2]) if packed else blob, type_)

    def set_states(self, run: Any, given: "dict[str, Any]") -> None:
        """Give variables values."""
        known = {variable.name: variable for variable in run.query_state()} if given else {}
        for name, blob in given.items():
            if name not in known:
                raise Misused(f"there is no state '{name}'; the model has {', '.join(map(repr, known)) or 'none'}")
            known[name].state = self.tensor(f"state '{name}'", blob, known[name].state.get_element_type())

    def tensor(self, what: str, blob: Any, type_: Any) -> Any:
        """Return a tensor of a type with the values of a blob, cast if no value changes."""
        kind, (given, sizes, data) = type_.get_type_name(), blob
        if "string" in (given, kind):
            if given != kind:
                raise Misused(f"{what} takes {kind}, not {given}")
            return self.ov.Tensor(np.array(texts(sizes, data)).reshape(sizes))
        flat = np.frombuffer(data, "u1")
        if given != kind and (kind in DTYPES or given in DTYPES) and not (given == "u8" and kind not in DTYPES):
            flat = cast(what, blob, kind).reshape(-1).view("u1")
        tensor = self.ov.Tensor(type_, self.ov.Shape(list(sizes)))
        if flat.nbytes != tensor.get_byte_size():
            raise Misused(f"{what} takes {tensor.get_byte_size()} bytes, not {flat.nbytes}")
        tensor.data.reshape(-1).view("u1")[:] = flat
        return tensor

    def taken(self, tensor: Any) -> Any:
        """Return element type, sizes and bytes."""
        kind, sizes = tensor.get_element_type().get_type_name(), tuple(tensor.get_shape())
        if kind == "string":
            rows = [item if isinstance(item, bytes) else item.encode() for item in tensor.bytes_data.ravel()]
            return kind, sizes, np.array([len(row) for row in rows], "<i8").tobytes() + b"".join(rows)
        data = tensor.data.tobytes() if tensor.get_byte_size() else b""
        return kind, sizes, data

    def made_up(self, item: Any, sizes: "tuple[int, ...]", fill: int) -> Any:
        """Return normal floats; integers and booleans are all `fill`."""
        kind = item.get_element_type().get_type_name()
        if kind == "string":
            return self.ov.Tensor(np.full(sizes, "text"))
        tensor = self.ov.Tensor(item.get_element_type(), self.ov.Shape(list(sizes)))
        data = tensor.data.reshape(-1)
        if kind in ("f16", "f32", "f64"):
            data[:] = np.random.RandomState(0).standard_normal(data.size).astype(data.dtype)
        else:
            data.view("u1")[:] = 0
            if kind in DTYPES:
                data.view(DTYPES[kind])[:] = fill
        return tensor

    def choices(self, compiled: Any) -> "list[list[tuple[int, ...]]]":
        """Return shapes for all inputs: one choice if they are static, else one for each of `SIZES`."""
        found = []  # type: list[list[tuple[int, ...]]]
        for size in SIZES:
            shapes = []
            for item in compiled.inputs:
                partial = item.get_partial_shape()
                if partial.rank.is_dynamic:
                    raise Misused(f"input '{item.get_node().get_friendly_name()}' has no known rank")
                shapes.append(tuple(within(dim, size if axis else 1) for axis, dim in enumerate(partial)))
            large = any(np.prod(shape, dtype=float) > MAX_ELEMENTS for shape in shapes)
            if shapes not in found and not (found and large):
                found.append(shapes)
        return found

    # --- facts

    def device_name(self, compiled: Any, asked: str) -> str:
        """Return the full name of a device, or the name that was asked for."""
        with contextlib.suppress(RuntimeError):
            return str(self.core.get_property(asked, "FULL_DEVICE_NAME"))
        return asked

    def precision(self, compiled: Any, asked: str) -> str:
        """Return the element type that floats are computed in, or that was asked for if the device does not say."""
        with contextlib.suppress(RuntimeError, TypeError):
            found = compiled.get_property(HINT)
            return str(found.get_type_name() if hasattr(found, "get_type_name") else found)
        return asked


def executed(model: Any) -> "list[Any]":
    """Return what the device made of the layers: name, layers, type, element type, and the code that computes it."""
    rows = []
    for node in model.get_ordered_ops():
        info = node.get_rt_info()
        cells = []
        for key in ("originalLayersNames", "layerType", "runtimePrecision", "primitiveType"):
            value = info[key] if key in info else ""  # noqa: SIM401  # it has no `get` in all releases
            cells.append(str(value.astype(str)) if hasattr(value, "astype") else str(getattr(value, "value", value)))
        cells[2] = type_of(cells[2])
        rows.append((node.get_friendly_name(), [name for name in cells[0].split(",") if name], *cells[1:]))
    return rows


def sent(request: Any) -> "tuple[dict[str, Any], dict[str, Any]]":
    """Return the blobs of inputs and of variables by name; they are the last ones."""
    inputs, states = request["inputs"], request.header.get("states", [])
    blobs = request.blobs[len(request.blobs) - len(inputs) - len(states) :]
    return dict(zip(inputs, blobs)), dict(zip(states, blobs[len(inputs) :]))


def find(named: "dict[str, list[Any]]", name: str, index: int, runtime: str) -> Any:
    """Output `index` of the layer called `name`; what a Result reads, for a Result."""
    found = named.get(name, [])
    if not found:
        raise Misused(f"{runtime} has no layer '{name}': nothing that leads to an output of the model has this name")
    if len(found) > 1:
        raise Misused(f"{len(found)} layers are called '{name}'; rename all but one")
    if found[0].get_type_name() == "Result":
        return found[0].input_value(0)
    if index >= found[0].get_output_size():
        raise Misused(f"layer '{name}' has no output {index}")
    return found[0].output(index)


def number(numbers: "dict[str, int]", name: str) -> int:
    """Return the number of an input."""
    if name not in numbers:
        raise Misused(f"there is no input '{name}'; the model has {', '.join(map(repr, numbers)) or 'none'}")
    return numbers[name]


def within(dim: Any, wanted: int) -> int:
    """Return a size that a dimension allows, the wanted one if it does."""
    low, high = dim.get_min_length(), dim.get_max_length()
    return int(max(low, wanted if high < 0 else min(wanted, high)))


def shape_words(output: Any) -> str:
    """Return the partial shape as `ir_tools` writes it; the releases differ in brackets, and in an unknown rank."""
    inner = str(output.get_partial_shape()).strip("[]{}").replace(" ", "")
    partial = output.get_partial_shape()
    return "..." if partial.rank.is_dynamic else inner or "[]"


def bodies(node: Any) -> "dict[str, Any]":
    """Return the bodies of a layer by the name that they have in the file."""
    kind = node.get_type_name()
    if kind in ("TensorIterator", "Loop"):
        return {"body": node.get_function()}
    if kind == "If" and hasattr(node, "get_then_body"):
        return {"then_body": node.get_then_body(), "else_body": node.get_else_body()}
    return {}


def graphs(model: Any) -> "Any":
    """Yield a model and all bodies in it."""
    yield model
    for node in model.get_ops():
        for body in bodies(node).values():
            yield from graphs(body)


def walk(model: Any, prefix: str) -> "Any":
    """Yield path, number, element type and partial shape of every output."""
    for node in model.get_ordered_ops():
        path = prefix + node.get_friendly_name()
        for output in node.outputs():
            yield path, output.get_index(), output.get_element_type().get_type_name(), shape_words(output)
        for name, body in bodies(node).items():
            yield from walk(body, f"{path}/{name}/")


def duplicates(model: Any) -> bool:
    """Return whether layers of a graph share a name."""
    names = [node.get_friendly_name() for node in model.get_ops()]
    return len(set(names)) < len(names)


def unique_names(text: bytes) -> bytes:
    """Return the document with `#id` after names that two layers of a graph share."""
    root = ElementTree.fromstring(text)
    for group in root.iter("layers"):
        counts = Counter(layer.get("name") for layer in group)
        for layer in group:
            if counts[layer.get("name")] > 1:
                layer.set("name", f"{layer.get('name', '')}#{layer.get('id')}")
    document = ElementTree.tostring(root, encoding="utf-8")
    return bytes(document)


def cast(what: str, blob: "tuple[str, tuple[int, ...], bytes]", kind: str) -> Any:
    """Return the array of a blob as another element type; refused if a value changes."""
    given, sizes, data = blob
    if given not in DTYPES or kind not in DTYPES:
        raise Misused(f"{what} takes {kind}, not {given}")
    array = np.frombuffer(data, DTYPES[given]).reshape(sizes)
    with np.errstate(all="ignore"):
        found = array.astype(DTYPES[kind])
        back = found.astype(array.dtype)
        same = bool(np.all((back == array) | ((back != back) & (array != array))))
    if not same:
        raise Misused(f"{what} takes {kind}, not {given}: values change when they are cast")
    return found


def texts(sizes: "tuple[int, ...]", data: bytes) -> "list[str]":
    """Return the texts of a blob."""
    count = int(np.prod(sizes, dtype=np.int64))
    ends = np.cumsum(np.frombuffer(data, "<i8", count)) + 8 * count
    starts = [8 * count] + [int(end) for end in ends[:-1]]
    return [data[start:end].decode() for start, end in zip(starts, ends)]


# --- 2021 --------------------------------------------------------------------------------------------------------


class Layers:
    """What a file says of inputs and outputs, which the API of 2021 does not: their order, and all of their names."""

    def __init__(self, path: str) -> None:
        """Read the file."""
        root = ElementTree.parse(path).getroot()
        layers = {layer.get("id"): layer for layer in root.findall("layers/layer")}
        edges = {edge.get("to-layer"): edge for edge in root.findall("edges/edge")}
        self.inputs = []  # type: list[tuple[str, list[str]]]
        self.outputs = []  # type: list[tuple[str, str, list[str]]]
        self.sizes = {layer.get("name", ""): len(layer.findall("output/port")) for layer in layers.values()}
        for layer in layers.values():
            ports = layer.findall("output/port")
            if layer.get("type") == "Parameter":
                self.inputs.append((layer.get("name", ""), names_of(ports[0])))
            elif layer.get("type") == "Result":
                edge = edges[layer.get("id")]
                producer = layers[edge.get("from-layer")]
                ends = [port.get("id") for port in producer.findall("output/port")]
                index = ends.index(edge.get("from-port"))
                label = self.label(producer.get("name", ""), index)
                names = names_of(producer.findall("output/port")[index])
                self.outputs.append((layer.get("name", ""), label, names))

    def label(self, layer: str, index: int) -> str:
        """Return the name of an output of a layer as the API calls it."""
        return f"{layer}.{index}" if self.sizes.get(layer, 1) > 1 else layer


def names_of(port: Any) -> "list[str]":
    """Return the tensor names of a port."""
    return [name for name in port.get("names", "").split(",") if name]


def preload() -> None:
    """Load the libraries of 2021.2, which its wheel puts where the linker does not look, each after those it needs."""
    left = glob.glob(os.path.join(sys.prefix, "lib", "lib*.so*"))
    for _ in range(len(left)):
        before, left = left, [path for path in left if not loads(path)]
        if before == left:
            return


def loads(path: str) -> bool:
    """Return whether a library can be loaded."""
    with contextlib.suppress(OSError):
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        return True
    return False


class Classic:
    """2021: models of IR v10 with static shapes; without states."""

    def __init__(self) -> None:
        """Make the one core."""
        preload()
        import openvino.inference_engine as engine

        self.engine = engine
        self.core = engine.IECore()

    @property
    def version(self) -> str:
        """Of the release."""
        return str(self.engine.get_version()).replace("2.1.20", "20", 1)

    def read(self, request: Any) -> Any:
        """Return the network of a request."""
        request.stage("reading the model")
        return self.core.read_network(model=request["model"], weights=request["weights"])

    def compile(self, network: Any, request: Any) -> Any:
        """Compile for the device."""
        request.stage("compiling the model")
        device, config = request["device"], dict(request["config"])
        if device not in self.core.available_devices:
            raise Misused(f"it has no device '{device}' here; it has {', '.join(self.core.available_devices)}")
        config.pop("DYNAMIC_QUANTIZATION_GROUP_SIZE", None)
        hint = config.pop(HINT, "f32")
        if device == "CPU":
            config[BF16_KEY] = "YES" if hint == "bf16" else "NO"
            config["CPU_BIND_THREAD"] = "NO"
        threads = config.pop("INFERENCE_NUM_THREADS", None)
        if threads is not None:
            config["CPU_THREADS_NUM"] = threads
        return self.core.load_network(network, device, config)

    # --- tasks

    def describe(self, request: Any) -> "Any":
        """Return inputs and outputs."""
        network, layers = self.read(request), Layers(request["model"])
        self.reshape(network, request, layers)
        inputs = [
            {"names": names, "layer": name, **tensor_row(network.input_info[name].input_data)}
            for name, names in layers.inputs
            if name in network.input_info
        ]
        return {"inputs": inputs, "outputs": self.outputs(network, layers)}, []

    def outputs(self, network: Any, layers: Layers) -> "list[dict[str, Any]]":
        """Return the outputs in the order of the file."""
        return [
            {"names": names, "layer": name, "producer": label, **tensor_row(network.outputs[label])}
            for name, label, names in layers.outputs
        ]

    def infer(self, request: Any) -> "Any":
        """Run one inference."""
        if request["states"]:
            raise Misused("a release of 2021 takes no values of variables")
        rows, labels, layers, compiled = kept(request, self.prepare)
        run = compiled.requests[0]
        self.feed(run, layers, dict(zip(request["inputs"], request.blobs)))
        request.stage("running the model")
        for _ in range(request["times"]):
            run.infer()
        graph = compiled.get_exec_graph_info() if request["executed"] else None
        header = {
            "outputs": rows,
            "version": self.version,
            "device": str(self.core.get_metric(request["device"], "FULL_DEVICE_NAME")),
            "precision": "f32",
            "executed": executed(function_of(graph)) if graph else [],
            "states": [],
        }
        return header, [self.taken(run.output_blobs[label]) for label in labels]

    def prepare(self, request: Any) -> "Any":
        """Return the rows of the outputs, the labels of these and of taps, what the file says, and it compiled."""
        network, layers = self.read(request), Layers(request["model"])
        self.reshape(network, request, layers)
        rows = self.outputs(network, layers)
        labels = [label for _, label, _ in layers.outputs]
        for name, index in request["taps"]:
            label = dict((layer, end) for layer, end, _ in layers.outputs).get(name) or layers.label(name, index)
            labels.append(label)
            if label not in network.outputs:
                if name not in layers.sizes:
                    raise Misused(f"it has no layer '{name}'")
                network.add_outputs((name, index))
        return rows, labels, layers, self.compile(network, request)

    def shapes(self, request: Any) -> "Any":
        """Return element type and shape of every output of every layer."""
        network = self.read(request)
        self.reshape(network, request, Layers(request["model"]))
        return {"shapes": list(walk(function_of(network), ""))}, []

    def attempt(self, request: Any) -> str:
        """Read, compile and run on inputs that are given or made up, as far as is asked."""
        network, layers = self.read(request), Layers(request["model"])
        if request["until"] == "reading the model":
            return ""
        compiled = self.compile(network, request)
        if request["until"] == "compiling the model":
            return ""
        run = compiled.requests[0]
        fills = request["fills"]
        for count, fill in enumerate(fills, 1):
            request.stage("making up inputs")
            if request["inputs"]:
                self.feed(run, layers, dict(zip(request["inputs"], request.blobs)))
            else:
                for blob in run.input_blobs.values():
                    self.make_up(blob, fill)
            request.stage("running the model")
            try:
                run.infer()
                return ""
            except RuntimeError:
                if count == len(fills) or request["inputs"]:
                    raise
        return ""

    # --- tensors

    def reshape(self, network: Any, request: Any, layers: Layers) -> None:
        """Give inputs new shapes."""
        if request["shapes"]:
            request.stage("reshaping the model")
            numbers = self.numbers(layers)
            wanted = {}
            for name, text in request["shapes"].items():
                sizes = [] if text == "[]" else text.split(",")
                if not all(size.strip().isdigit() for size in sizes):
                    raise Misused(f"a release of 2021 has no dynamic shapes: {name}={text}")
                wanted[layers.inputs[number(numbers, name)][0]] = [int(size) for size in sizes]
            network.reshape(wanted)

    def numbers(self, layers: Layers) -> "dict[str, int]":
        """Return the number of each input by all of its names."""
        found = {}  # type: dict[str, int]
        for index, (name, names) in enumerate(layers.inputs):
            for alias in [*names, name]:
                found.setdefault(alias, index)
        return found

    def feed(self, run: Any, layers: Layers, given: "dict[str, Any]") -> None:
        """Set every input."""
        numbers, blobs = self.numbers(layers), run.input_blobs
        fed = set()
        for name, (type_, sizes, data) in given.items():
            label = layers.inputs[number(numbers, name)][0]
            fed.add(label)
            if label not in blobs:
                continue
            blob = blobs[label]
            wanted = type_of(blob.tensor_desc.precision)
            if tuple(blob.tensor_desc.dims) != tuple(sizes):
                raise Misused(f"input '{name}' has shape {list(blob.tensor_desc.dims)}, not {list(sizes)}")
            same = type_ == wanted and wanted not in DTYPES
            array = np.frombuffer(data, "u1") if same else cast(f"input '{name}'", (type_, sizes, data), wanted)
            if array.size:
                buffer = blob.buffer
                buffer[...] = array.reshape(-1).view(buffer.dtype).reshape(buffer.shape)
        for label in blobs:
            if label not in fed:
                raise Misused(f"input '{label}' has no value")

    def make_up(self, blob: Any, fill: int) -> None:
        """Fill an input with normal floats, or with `fill`."""
        buffer = blob.buffer
        if buffer.dtype.kind == "f":
            buffer[...] = np.random.RandomState(0).standard_normal(buffer.size).reshape(buffer.shape)
        else:
            buffer[...] = fill

    def taken(self, blob: Any) -> "tuple[str, tuple[int, ...], bytes]":
        """Return element type, sizes and bytes."""
        return type_of(blob.tensor_desc.precision), tuple(blob.tensor_desc.dims), blob.buffer.tobytes()


def function_of(network: Any) -> Any:
    """Return the layers of a network of 2021."""
    return importlib.import_module("ngraph").function_from_cnn(network)


def type_of(precision: str) -> str:
    """Return the name of an element type."""
    return PRECISIONS.get(precision, precision.lower())


def tensor_row(data: Any) -> "dict[str, Any]":
    """Return element type and shape of an input or output."""
    return {"type": type_of(data.precision), "shape": ",".join(map(str, data.shape)) or "[]"}


# --- tasks -------------------------------------------------------------------------------------------------------


def hello(request: Any) -> "Any":
    """Load the release."""
    request.stage("loading the runtime")
    found = api().version
    if f".{request['version']}." not in f".{found}":
        raise ImportError(f"it has {found}")
    return {}, []


def describe(request: Any) -> "Any":
    """Return inputs and outputs as the release presents them."""
    return api().describe(request)


def infer(request: Any) -> "Any":
    """Run one inference."""
    return api().infer(request)


def shapes(request: Any) -> "Any":
    """Return element type and shape of every tensor."""
    return api().shapes(request)


def attempt(request: Any, runtime: Any = None) -> "Any":
    """Go as far as `until`; answer processor time, peak memory and why no sizes suit."""
    started = time.process_time()
    reset_peak()
    unfit = (runtime or api()).attempt(request)
    return {"seconds": time.process_time() - started, "peak": peak(), "unfit": unfit}, []


def reset_peak() -> None:
    """Let the system count the most memory from here on."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def peak() -> int:
    """Return the most memory that was held at once, in bytes; 0 if the system does not say."""
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


TASKS = {"hello": hello, "describe": describe, "infer": infer, "shapes": shapes, "attempt": attempt}
