"""Messages of openvino, as it really words them, for people."""

import pytest

from ir_tools.runtime.messages import breaks_child, explain, is_memory, lacks_device, remedy_for, unknown_property

CORE = "Exception from src/inference/src/cpp/core.cpp:105:\n"
CASES = {
    "layer_without_a_name_yet": (
        CORE + "Check 'pads_begin.size() == num_spatial' failed at "
        "src/core/shape_inference/include/pooling_shape_inference_util.hpp:23:\n"
        "While validating node 'opset1::MaxPool MaxPool_47 (opset1::Relu ReLU1[0]:f32[1,64,36,36]) -> ()'"
        " with friendly_name 'MaxPool_47':\nExpected pads_begin size to be equal to input size - 2. Got: 2\n\n\n",
        "MaxPool that reads 'ReLU1': Expected pads_begin size to be equal to input size - 2. Got: 2",
    ),
    "layer_with_a_name": (
        "Check 'cmp::le(kernel, dim.get_length())' failed at src/core/x.hpp:149:\n"
        "While validating node 'opset1::MaxPool Pooling1 (opset1::Relu ReLU1[0]:f32[1,64,1,1]) -> (f32[1,64,18,18])'"
        " with friendly_name 'Pooling1':\nKernel is too large at axis 0.\n",
        "MaxPool 'Pooling1': Kernel is too large at axis 0.",
    ),
    "type_unknown": (
        CORE + "Exception from src/core/xml_util/src/xml_deserialize_util.cpp:1286:\n"
        "Opset opset1 doesn't contain the operation with type: Convo\n\n\n",
        "Opset opset1 doesn't contain the operation with type: Convo",
    ),
    "check_without_words": ("Check 'a > 0' failed at src/core/a.cpp:1\n", "it requires that a > 0"),
    "front_end": (
        CORE + "Check 'false' failed at src/frontends/common/src/frontend.cpp:53:\nConverting input model\n"
        "node <port> is missing mandatory attribute: precision at offset 169\n\n",
        "node <port> is missing mandatory attribute: precision at offset 169",
    ),
    "library": (
        CORE + "Check 'false' failed at src/frontends/common/src/frontend.cpp:53:\nConverting input model\nstoll\n",
        "an integer cannot be read or is too large (stoll)",
    ),
    "nothing": ("", "it gave no reason"),
    "a reason twice": (
        f"{CORE}the kernel is 0\n{CORE}the kernel is 0\nthe stride is 0:\n",
        "the kernel is 0; the stride is 0",
    ),
    "a reason behind a check": ("Check 'a > 0' failed at src/core/a.cpp:1: a is 0\n", "a is 0"),
    "a check that says nothing": ("Check 'false' failed at src/core/a.cpp:1\n", "it gave no reason"),
    "a layer without inputs": (
        "While validating node 'opset1::Parameter Parameter_3 () -> ()' with friendly_name 'Parameter_3':\nno shape",
        "Parameter: no shape",
    ),
}


@pytest.mark.parametrize(("said", "told"), CASES.values(), ids=CASES)
def test_reason_and_layer_are_kept(said: str, told: str) -> None:
    assert explain(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "std::bad_alloc",
        "bad allocation",
        "mmap: Cannot allocate memory",
        "Failed to allocate 3000048000192 bytes of memory",
        "MemoryError",
        "CL_OUT_OF_RESOURCES, Out of memory",
    ],
)
def test_want_of_memory_is_seen(said: str) -> None:
    assert is_memory(said)


def test_other_reasons_are_not_want_of_memory() -> None:
    assert not is_memory("could not construct a memory descriptor using a format tag")


def test_what_a_machine_lacks() -> None:
    assert lacks_device('Device with "GPU" name is not registered in the OpenVINO Runtime')
    assert lacks_device("Cannot load library 'libopenvino_intel_npu_plugin.so'")
    assert lacks_device("No device was found")
    assert not lacks_device("the kernel is 0")
    assert unknown_property("Unsupported property NO_SUCH by CPU plugin.") == "NO_SUCH"
    assert unknown_property("the kernel is 0") is None


def test_what_a_child_does_not_get_over() -> None:
    """A primitive that cannot be created; a descriptor is looked for in several ways, of which one may do."""
    assert breaks_child("could not create a primitive")
    assert not breaks_child("could not create a primitive descriptor for a convolution forward propagation primitive")


def test_remedies() -> None:
    assert "--extension" in str(remedy_for("Cannot create X layer x id:1 from unsupported opset: extension"))
    assert "--bin" in str(remedy_for("Empty weights data in bin file or bin file cannot be found!"))
    assert remedy_for("the kernel is 0") is None
