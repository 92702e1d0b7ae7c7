"""Means in `<pre-process>`, a relic of IR v2 to v7, held against the runtime."""

import pytest

from ir_tools.diagnostics import Severity
from ir_tools.errors import RuntimeFailure
from ir_tools.runtime.client import RuntimeClient
from ir_tools.validation import validate
from tests.ir_text import edge, net, parameter, result


def with_means(count: int, *inputs: tuple[int, ...], reference: str = "") -> bytes:
    """A model whose inputs `in0`, `in1` are its outputs, with means for so many channels."""
    layers = [parameter(number, dims, name=f"in{number}") for number, dims in enumerate(inputs)]
    layers += [result(number, dims) for number, dims in enumerate(inputs, len(inputs))]
    edges = [edge(number, 0, len(inputs) + number, 0) for number in range(len(inputs))]
    means = "".join(f'<channel id="{number}"><mean value="1.5"/></channel>' for number in range(count))
    text = net(layers, edges).decode()
    return text.replace("</net>", f"<pre-process{reference}>{means}</pre-process></net>").encode()


def is_read(client: RuntimeClient, text: bytes) -> bool:
    try:
        client.shapes(text, b"")
    except RuntimeFailure:
        return False
    return True


def severities(text: bytes) -> list[Severity]:
    return [found.severity for found in validate(text, b"", select="IR134")]


@pytest.mark.parametrize(
    "dims",
    [
        (3,),
        (3, 2),
        (2, 3),
        (3, 2, 4),
        (2, 3, 4),
        (2, 4, 3),
        (1, 3, 2, 4),
        (3, 1, 2, 4),
        (1, 3, 2, 2, 2),
        (1, 3, *4 * [2]),
    ],
    ids=str,
)
def test_there_is_a_mean_for_each_channel(dims: tuple[int, ...], client: RuntimeClient) -> None:
    text = with_means(3, dims)
    assert severities(text) == [Severity.WARNING if is_read(client, text) else Severity.ERROR]


@pytest.mark.parametrize("reference", ["", ' reference-layer-name="in0"', ' reference-layer-name="in1"'])
@pytest.mark.parametrize("count", [2, 3])
def test_the_means_are_of_the_first_input_or_of_the_one_that_is_named(
    reference: str, count: int, client: RuntimeClient
) -> None:
    text = with_means(count, (1, 2, 4, 4), (1, 3, 4, 4), reference=reference)
    read = count == (3 if "in1" in reference else 2)
    assert is_read(client, text) is read
    assert severities(text) == [Severity.WARNING if read else Severity.ERROR]
