"""The tasks of the child process in which Inference Engine 2020.1 runs; `_foreign.py` calls them.

They run in the interpreter of another environment, Python 3.6 and later, and import nothing of ir_tools: numpy, and the
libraries of the wheel `opencv-python-inference-engine` through their C interface.
"""

import ctypes
import functools
import importlib.util
import os
from collections.abc import Callable
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

DTYPES = {"f32": "<f4", "f16": "<f2", "f64": "<f8", "i16": "<i2", "u16": "<u2", "u8": "u1", "i8": "i1", "i32": "<i4"}
DTYPES.update(i64="<i8", u64="<u8", u32="<u4", boolean="u1")
PRECISIONS = {10: "f32", 11: "f16", 30: "i16", 40: "u8", 50: "i8", 60: "u16", 70: "i32", 72: "i64", 73: "u64"}
STATUSES = {
    -1: "general error",
    -2: "not implemented",
    -3: "the network is not loaded",
    -4: "parameters do not fit",
    -5: "not found",
    -6: "out of bounds",
    -7: "unexpected error",
    -10: "not allocated",
    -12: "the network is not read",
}
IMPLEMENTATION = "N15InferenceEngine7details14CNNNetworkImpl"
ADD_OUTPUT = f"_Z{IMPLEMENTATION}9addOutputERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEmPNS_12ResponseDescE"
NETWORK = f"_ZTV{IMPLEMENTATION}E"
"""The method that makes a layer's tensor an output, which the C interface lacks, and the table of its class."""
READ_NETWORK, READ_WEIGHTS, LOAD_NETWORK = 3, 6, 5
"""Places in the tables of methods of a reader and of a plugin; these methods say why they fail."""
LATER = "ie_core_get_available_devices"
"""A function that the interface of 2020.1 does not have, and those of later releases, whose tables differ, have."""
WORDS = 8
"""Pointers at the start of the C interface's network that are looked at for the network of the library."""


class Refused(Exception):
    """The runtime refuses a step; the text says why."""


class Misused(Exception):
    """The request names what is not there, or a value that does not fit."""

    kind = "usage"


class Dimensions(ctypes.Structure):
    """The sizes of a tensor."""

    _fields_ = (("rank", c_size_t), ("sizes", c_size_t * 8))


class Config(ctypes.Structure):
    """A property of a device, and the next one."""


Config._fields_ = (("name", c_char_p), ("value", c_char_p), ("next", POINTER(Config)))


class Text(ctypes.Structure):
    """A `std::string` of GCC 5 and later."""

    _fields_ = (("data", c_char_p), ("size", c_size_t), ("buffer", ctypes.c_char * 16))


class Response(ctypes.Structure):
    """What a method of the library says about a failure."""

    _fields_ = (("message", ctypes.c_char * 256),)

    @property
    def text(self) -> str:
        """On one line."""
        return " ".join(self.message.decode("utf-8", "replace").split())


def method(instance: int, place: int) -> "Callable[..., int]":
    """Return a method of an object of the library, by its place in the table of the object's class."""
    function = POINTER(c_void_p).from_address(instance)[place]
    return functools.partial(ctypes.CFUNCTYPE(c_int)(function), c_void_p(instance))


class Library:
    """The libraries of the wheel, and the devices that they have."""

    def __init__(self) -> None:
        """Load them."""
        spec = importlib.util.find_spec("cv2")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("there is no package cv2")
        folder = Path(spec.submodule_search_locations[0])
        self.engine = ctypes.CDLL(str(folder / "libinference_engine.so"), mode=ctypes.RTLD_GLOBAL)
        self.interface = ctypes.CDLL(str(folder / "libinference_engine_c_api.so"))
        if hasattr(self.interface, LATER):
            raise ImportError("it is a later release than 2020.1")
        self.plugin = ctypes.CDLL(str(folder / "libMKLDNNPlugin.so"))
        self.core = c_void_p()
        self.call("core_create", str(folder / "plugins.xml").encode(), byref(self.core))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the C interface; `Refused` if it fails."""
        status = getattr(self.interface, "ie_" + name)(*arguments)
        if status:
            raise Refused(STATUSES.get(status, f"status {status}"))

    def why_unread(self, model: str, weights: str) -> str:
        """Return what the library says of files that the C interface refuses silently; empty if nothing."""
        response = Response()
        create = self.engine.CreateCNNNetReader
        create.restype = c_void_p
        reader = create(byref(response))
        for place, path in ((READ_NETWORK, model), (READ_WEIGHTS, weights)):
            if method(reader, place)(c_char_p(os.fsencode(path)), byref(response)):
                break
        return response.text.replace(model, os.path.basename(model))

    def why_uncompiled(self, network: "Network") -> str:
        """Return what the plugin says of a network that the C interface refuses silently."""
        response, plugin, empty = Response(), c_void_p(), (c_void_p * 6)()
        empty[3] = empty[4] = ctypes.addressof(empty) + 8
        self.plugin.CreatePluginEngine(byref(plugin), byref(response))
        method(plugin.value or 0, LOAD_NETWORK)((c_void_p * 2)(), c_void_p(network.inner), empty, byref(response))
        return response.text

    def name(self, function: str, network: c_void_p, index: int) -> str:
        """Return a name that the interface allocates."""
        found = c_char_p()
        self.call(function, network, c_size_t(index), byref(found))
        text = (found.value or b"").decode("utf-8", "surrogateescape")
        self.interface.ie_network_name_free(byref(found))
        return text


class Network:
    """A model that was read; a context manager that frees it."""

    def __init__(self, library: Library, model: str, weights: str) -> None:
        """Read the files."""
        self.libraries = library
        self.handle = c_void_p()
        paths = os.fsencode(model), os.fsencode(weights)
        try:
            library.call("core_read_network", library.core, *paths, byref(self.handle))
        except Refused as why:
            raise Refused(library.why_unread(model, weights) or str(why)) from None

    def __enter__(self) -> "Network":
        """Return the network itself."""
        return self

    def __exit__(self, *_: Any) -> None:
        """Free it."""
        self.libraries.interface.ie_network_free(byref(self.handle))

    def names(self, kind: str) -> "list[str]":
        """Return the names of the inputs (`kind` is `input`) or outputs."""
        count = c_size_t()
        self.libraries.call(f"network_get_{kind}s_number", self.handle, byref(count))
        return [self.libraries.name(f"network_get_{kind}_name", self.handle, index) for index in range(count.value)]

    def describe(self, kind: str, name: str) -> "list[Any]":
        """Return name, element type and sizes of an input or output."""
        precision, sizes = c_int(), Dimensions()
        self.libraries.call(f"network_get_{kind}_precision", self.handle, name.encode(), byref(precision))
        self.libraries.call(f"network_get_{kind}_dims", self.handle, name.encode(), byref(sizes))
        type_ = PRECISIONS.get(precision.value, f"precision {precision.value}")
        return [name, type_, list(sizes.sizes[: sizes.rank])]

    def add_output(self, layer: str, index: int) -> None:
        """Make output `index` of a layer an output of the network."""
        method = getattr(self.libraries.engine, ADD_OUTPUT)
        text, response = layer.encode(), Response()
        name = Text(text, len(text), b"")
        if method(c_void_p(self.inner), byref(name), c_size_t(index), byref(response)):
            raise Refused(response.text)

    @property
    def inner(self) -> int:
        """The library's own object, which the C interface's holds a pointer to."""
        table = ctypes.addressof(ctypes.c_char.in_dll(self.libraries.engine, NETWORK)) + 16
        for word in (c_void_p * WORDS).from_address(self.handle.value or 0):
            if word and word % 8 == 0 and readable(word) and c_void_p.from_address(word).value == table:
                return word
        raise Misused("tensors inside this model cannot be returned")


class Inference:
    """A compiled network and a request for one inference; a context manager that frees them."""

    def __init__(self, network: Network, config: "dict[str, str]") -> None:
        """Compile the network for the CPU."""
        self.libraries = network.libraries
        self.compiled, self.request = c_void_p(), c_void_p()
        self.blobs = []  # type: list[c_void_p]
        chain = Config()
        for name, value in config.items():
            chain = Config(name.encode(), value.encode(), ctypes.pointer(chain) if chain.name else None)
        core = self.libraries.core
        try:
            self.libraries.call("core_load_network", core, network.handle, b"CPU", byref(chain), byref(self.compiled))
        except Refused as why:
            raise Refused(self.libraries.why_uncompiled(network) or str(why)) from None
        self.libraries.call("exec_network_create_infer_request", self.compiled, byref(self.request))

    def __enter__(self) -> "Inference":
        """Return the inference itself."""
        return self

    def __exit__(self, *_: Any) -> None:
        """Free both, and their tensors: the interface gives back the memory of a tensor with its handle."""
        for blob in self.blobs:
            self.libraries.interface.ie_blob_deallocate(byref(blob))
        if self.request:
            self.libraries.interface.ie_infer_request_free(byref(self.request))
        if self.compiled:
            self.libraries.interface.ie_exec_network_free(byref(self.compiled))

    def run(self) -> None:
        """Infer."""
        self.libraries.call("infer_request_infer", self.request)

    def fill(self, name: str, array: Any) -> None:
        """Copy an array into an input; another element type is cast if no value changes."""
        type_, tensor = self._tensor(name)
        if array.shape != tensor.shape:
            raise Misused(f"input '{name}' has shape {list(tensor.shape)}, not {list(array.shape)}")
        with np.errstate(all="ignore"):
            cast = array.astype(tensor.dtype)
            same = np.array_equal(cast[cast == cast], array[array == array])
        if not same:
            raise Misused(f"input '{name}' has element type {type_}, and its values would change in the cast")
        tensor[...] = cast

    def take(self, name: str) -> "tuple[str, tuple[int, ...], bytes]":
        """Return element type, sizes and bytes of an output."""
        type_, tensor = self._tensor(name)
        return type_, tensor.shape, tensor.tobytes()

    def _tensor(self, name: str) -> "tuple[str, Any]":
        """Element type and a view of an input or output."""
        blob, precision, sizes, buffer, size = c_void_p(), c_int(), Dimensions(), c_void_p(), c_int()
        call = self.libraries.call
        call("infer_request_get_blob", self.request, name.encode(), byref(blob))
        self.blobs.append(blob)
        call("blob_get_precision", blob, byref(precision))
        call("blob_get_dims", blob, byref(sizes))
        call("blob_get_buffer", blob, byref(buffer))
        call("blob_byte_size", blob, byref(size))
        if precision.value not in PRECISIONS:
            raise Misused(f"'{name}' has an element type that is not known ({precision.value})")
        type_, shape = PRECISIONS[precision.value], tuple(sizes.sizes[: sizes.rank])
        data = memoryview((ctypes.c_ubyte * size.value).from_address(buffer.value or 0))
        count = int(np.prod(shape, dtype=np.int64))
        return type_, np.frombuffer(data, DTYPES[type_], count).reshape(shape)


def readable(address: int) -> bool:
    """Return whether a word of this process's memory can be read."""
    with open("/proc/self/maps") as maps:
        spans = [line.split(" ", 2)[:2] for line in maps]
    bounds = (tuple(int(end, 16) for end in span.split("-")) for span, access in spans if access.startswith("r"))
    return any(start <= address < end - 8 for start, end in bounds)


LOADED = []  # type: list[Library]


def library(request: Any) -> Library:
    """Return the libraries, which are loaded once."""
    if not LOADED:
        request.stage("loading the runtime")
        LOADED.append(Library())
    return LOADED[0]


def read(request: Any) -> Network:
    """Read the model of a request."""
    loaded = library(request)
    request.stage("reading the model")
    return Network(loaded, request["model"], request["weights"])


def describe(request: Any) -> "tuple[dict[str, Any], list[Any]]":
    """Return inputs and outputs, each as name, element type and sizes."""
    with read(request) as network:
        return {
            kind + "s": [network.describe(kind, name) for name in network.names(kind)] for kind in ("input", "output")
        }, []


def infer(request: Any) -> "tuple[dict[str, Any], list[Any]]":
    """Run one inference: the tensors `outputs`, or those of the model."""
    with read(request) as network:
        own = network.names("output")
        wanted = own if request["outputs"] is None else request["outputs"]
        places = outputs_by_name(request["model"]) if set(wanted) - set(own) else {}
        for name in wanted:
            if name not in own:
                if name not in places:
                    raise Misused(f"there is no layer output '{name}' in the model")
                network.add_output(*places[name])
        inputs, given = network.names("input"), dict(enumerate(request["inputs"]))
        missing = [name for name in inputs if name not in given.values()]
        if missing:
            raise Misused(f"input '{missing[0]}' has no value")
        request.stage("compiling the model")
        with Inference(network, request["config"]) as inference:
            for index, name in given.items():
                if name not in inputs:
                    raise Misused(f"there is no input '{name}'; the model has {', '.join(map(repr, inputs))}")
                type_, shape, data = request.blobs[index]
                inference.fill(name, np.frombuffer(data, DTYPES[type_]).reshape(shape))
            request.stage("running the model")
            inference.run()
            return {"outputs": wanted}, [inference.take(name) for name in wanted]


def outputs_by_name(model: str) -> "dict[str, tuple[str, int]]":
    """Layer and number of every output, by the name that the runtime gives it: `pool`, or `split.0`, `split.1`."""
    places = {}
    for layer in ElementTree.parse(model).getroot().findall("layers/layer"):
        name, count = layer.get("name", ""), len(layer.findall("output/port"))
        for index in range(count):
            places[name if count == 1 else f"{name}.{index}"] = name, index
    return places


def hello(request: Any) -> "tuple[dict[str, Any], list[Any]]":
    """Answer once the libraries are loaded."""
    library(request)
    return {}, []


TASKS = {"hello": hello, "describe": describe, "infer": infer}
