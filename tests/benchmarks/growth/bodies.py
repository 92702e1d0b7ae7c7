"""Layers with bodies: many, deep ones, long port maps."""

from collections.abc import Callable, Mapping, Sequence

from tests.benchmarks.growth.attributes import pool
from tests.benchmarks.growth.pieces import Sample, sample
from tests.ir_text import edge, layer, net, parameter, port, relu, result

__all__ = ["BODIES"]

SMALL = (1, 8)


def body(inner: str, edges: str, tag: str = "body") -> str:
    return f"<{tag}>\n<layers>\n{inner}</layers>\n<edges>\n{edges}</edges>\n</{tag}>\n"


def row(side: str, outer: object, inner: object, **more: object) -> str:
    words = "".join(f' {name}="{text}"' for name, text in more.items())
    return f'<{side} external_port_id="{outer}" internal_layer_id="{inner}"{words} />\n'


PLAIN = body(parameter(0) + relu(1) + result(2), edge(0, 0, 1, 0) + edge(1, 1, 2, 0))


def iterator(number: int, inside: str, *, name: str = "") -> str:
    """A TensorIterator from port 0 to port 1."""
    return layer(number, "TensorIterator", name=name, inside=inside, inputs=[port(0)], outputs=[port(1)])


def iterators(count: int) -> Sample:
    rows = f"<port_map>\n{row('input', 0, 0)}{row('output', 1, 2)}</port_map>\n"
    inner = (iterator(at, rows + PLAIN) for at in range(3, count + 3))
    return sample(layers=inner, edges=(edge(0, 0, at, 0) for at in range(3, count + 3)))


def without_tables(count: int) -> Sample:
    inner = (iterator(at, PLAIN) for at in range(3, count + 3))
    return sample(layers=inner, edges=(edge(0, 0, at, 0) for at in range(3, count + 3)))


def long_body(count: int) -> Sample:
    """One body of as many layers."""
    inside = parameter(0) + "".join(map(relu, range(1, count + 1))) + result(count + 1)
    wires = edge(0, 0, 1, 0) + "".join(edge(at, 1, at + 1, 0) for at in range(1, count + 1))
    rows = f"<port_map>\n{row('input', 0, 0)}{row('output', 1, count + 1)}</port_map>\n"
    return sample(layers=[iterator(3, rows + body(inside, wires))], edges=[edge(0, 0, 3, 0)])


def rows(count: int, *, merged: bool, wrong: Callable[[int], int] = lambda at: at) -> Sample:
    """A TensorIterator with a row for each of many Parameters and Results."""
    inside = "".join(parameter(at, SMALL) + result(count + at, SMALL) for at in range(count))
    wires = "".join(edge(at, 0, count + at, 0) for at in range(count))
    table = "".join(row("input", at, wrong(at)) + row("output", count + at, count + wrong(at)) for at in range(count))
    back = "".join(f'<edge from-layer="{count + at}" to-layer="{at}" />\n' for at in range(count)) if merged else ""
    text = f"<port_map>\n{table}</port_map>\n<back_edges>\n{back}</back_edges>\n{body(inside, wires)}"
    inputs, outputs = [port(at, SMALL) for at in range(count)], [port(count + at, SMALL) for at in range(count)]
    made = layer(4, "TensorIterator", inputs=inputs, outputs=outputs, inside=text)
    start = parameter(3, SMALL)
    return sample(layers=[start, made], edges=(edge(3, 0, 4, at) for at in range(count)))


def one_row(text: Callable[[int], str]) -> Callable[[int], Sample]:
    """Rows that say the same, or cannot be read."""

    def make(count: int) -> Sample:
        table = row("input", 0, 0) + row("output", 1, 2) + "".join(map(text, range(count)))
        return sample(layers=[iterator(3, f"<port_map>\n{table}</port_map>\n{PLAIN}")], edges=[edge(0, 0, 3, 0)])

    return make


def back_edges(text: Callable[[int], str]) -> Callable[[int], Sample]:
    def make(count: int) -> Sample:
        table = f"<port_map>\n{row('input', 0, 0)}{row('output', 1, 2)}</port_map>\n"
        back = f"<back_edges>\n{''.join(map(text, range(count)))}</back_edges>\n"
        return sample(layers=[iterator(3, table + back + PLAIN)], edges=[edge(0, 0, 3, 0)])

    return make


def results_of_one(count: int) -> Sample:
    """A body with as many Results, which all give one tensor."""
    numbers = range(count)
    inside = parameter(0, SMALL) + relu(1, dims=SMALL) + "".join(result(2 + at, SMALL) for at in numbers)
    wires = edge(0, 0, 1, 0) + "".join(edge(1, 1, 2 + at, 0) for at in numbers)
    table = row("input", 0, 0) + "".join(row("output", 1 + at, 2 + at) for at in numbers)
    text, outputs = f"<port_map>\n{table}</port_map>\n{body(inside, wires)}", [port(1 + at, SMALL) for at in numbers]
    made = layer(1, "TensorIterator", inputs=[port(0, SMALL)], outputs=outputs, inside=text)
    ends = (result(2 + at, SMALL) for at in numbers)
    return Sample(
        net([parameter(0, SMALL), made, *ends], [edge(0, 0, 1, 0), *(edge(1, 1 + at, 2 + at, 0) for at in numbers)])
    )


def ifs_in_ifs(depth: int) -> Callable[[int], Sample]:
    """Ifs inside each other, each with a Result."""
    condition, table = port(0, (), precision="BOOL"), row("input", 1, 0) + row("output", 2, 2)
    choice = layer(3, "Parameter", data='shape="" element_type="boolean"', outputs=[condition])

    def branch(side: str, inner: str = "") -> str:
        if not inner:
            return f"<{side}_port_map>\n{table}</{side}_port_map>\n{PLAIN.replace('body>', f'{side}_body>')}"
        wires = edge(3, 0, 1, 0) + edge(0, 0, 1, 1) + edge(1, 2, 2, 0)
        inside = body(parameter(0) + choice + inner + result(2), wires, f"{side}_body")
        return f"<{side}_port_map>\n{table}{row('input', 0, 3)}</{side}_port_map>\n{inside}"

    def chosen(number: int, inner: str) -> str:
        inside = branch("then", inner) + branch("else")
        ports = [condition, port(1)]
        return layer(number, "If", version="opset8", inputs=ports, outputs=[port(2)], inside=inside)

    inner = ""
    for _ in range(depth):
        inner = chosen(1, inner)

    def make(count: int) -> Sample:
        numbers = range(4, 2 * count + 4, 2)
        made = (text for at in numbers for text in (chosen(at, inner), result(at + 1)))
        wires = (text for at in numbers for text in (edge(3, 0, at, 0), edge(0, 0, at, 1), edge(at, 2, at + 1, 0)))
        return Sample(net([parameter(0), choice, *made], wires))

    return make


def slices(count: int) -> Sample:
    """Rows that cut a tensor."""
    found = rows(count, merged=False)
    cut = found.xml.replace(b'<input external_port_id="', b'<input axis="1" part_size="1" external_port_id="')
    return found._replace(xml=cut)


def branches(count: int) -> Sample:
    """Ifs with two bodies."""
    table = row("input", 1, 0) + row("output", 2, 2)
    inside = "".join(
        f"<{side}_port_map>\n{table}</{side}_port_map>\n{PLAIN.replace('body>', f'{side}_body>')}"
        for side in ("then", "else")
    )
    condition = port(0, (), precision="BOOL")
    ports = [condition, port(1)]
    choice = layer(3, "Parameter", data='shape="" element_type="boolean"', outputs=[condition])
    numbers = range(4, count + 4)
    inner = (layer(at, "If", version="opset8", inputs=ports, outputs=[port(2)], inside=inside) for at in numbers)
    wires = (text for at in numbers for text in (edge(3, 0, at, 0), edge(0, 0, at, 1)))
    return sample(layers=[choice, *inner], edges=wires)


def loops(count: int) -> Sample:
    """Loops whose trip count and condition are constants."""
    inside = (
        f"<port_map>\n{row('input', 2, 0)}{row('output', 3, 2)}"
        f"{row('output', -1, 3, purpose='execution_condition')}</port_map>\n"
        '<back_edges>\n<edge from-layer="2" to-layer="0" />\n</back_edges>\n'
    )
    yes = layer(
        4, "Const", data='element_type="boolean" shape="" offset="8" size="1"', outputs=[port(0, (), precision="BOOL")]
    )
    end = layer(3, "Result", inputs=[port(0, (), precision="BOOL")])
    inner = parameter(0) + relu(1) + result(2) + yes + end
    inside += body(inner, edge(0, 0, 1, 0) + edge(1, 1, 2, 0) + edge(4, 0, 3, 0))
    trips = layer(
        3, "Const", data='element_type="i64" shape="" offset="0" size="8"', outputs=[port(0, (), precision="I64")]
    )
    ports = [port(0, (), precision="I64"), port(1, (), precision="BOOL"), port(2)]
    numbers = range(5, count + 5)
    made = (layer(at, "Loop", version="opset5", inputs=ports, outputs=[port(3)], inside=inside) for at in numbers)
    wires = (text for at in numbers for text in (edge(3, 0, at, 0), edge(4, 0, at, 1), edge(0, 0, at, 2)))
    return sample(layers=[trips, yes, *made], edges=wires, weights=(4).to_bytes(8, "little") + b"\1")


TRIPS, YES = port(0, (), precision="I64"), port(1, (), precision="BOOL")
ENDLESS = layer(3, "Const", data='element_type="i64" shape="" offset="0" size="8"', outputs=[TRIPS])
GOES_ON = layer(
    4, "Const", data='element_type="boolean" shape="" offset="8" size="1"', outputs=[port(0, (), precision="BOOL")]
)
GOES_ON_INSIDE = GOES_ON + layer(5, "Result", inputs=[port(0, (), precision="BOOL")])
CONDITION = row("output", -1, 5, purpose="execution_condition")
MANY = (10**9).to_bytes(8, "little") + b"\1"


def endless(number: int, table: str, back: str, inside: str, ports: Sequence[str], outputs: Sequence[str]) -> str:
    """A Loop that runs for long; its states come in from port 2 on."""
    text = f"<port_map>\n{table}{CONDITION}</port_map>\n<back_edges>\n{back}</back_edges>\n{inside}"
    return layer(number, "Loop", version="opset5", inputs=[TRIPS, YES, *ports], outputs=outputs, inside=text)


def register(count: int) -> Sample:
    """A Loop each of whose states gets what the one before it was; the first one grows."""
    any_rows = (-1, 8)
    first, grown = 6, 6 + 2 * count
    inside = "".join(parameter(first + at, any_rows) + result(first + count + at, any_rows) for at in range(count))
    twice = [port(0, any_rows), port(1, any_rows)]
    inside += layer(grown, "Concat", data='axis="0"', inputs=twice, outputs=[port(2, any_rows)]) + GOES_ON_INSIDE
    wires = edge(first, 0, grown, 0) + edge(first, 0, grown, 1) + edge(grown, 2, first + count, 0) + edge(4, 0, 5, 0)
    wires += "".join(edge(first + at - 1, 0, first + count + at, 0) for at in range(1, count))
    numbers = range(count)
    table = "".join(
        row("input", 2 + at, first + at) + row("output", 2 + count + at, first + count + at) for at in numbers
    )
    back = "".join(f'<edge from-layer="{first + count + at}" to-layer="{first + at}" />\n' for at in numbers)
    ports, outputs = [port(2 + at, SMALL) for at in numbers], [port(2 + count + at, any_rows) for at in numbers]
    made = endless(1, table, back, body(inside, wires), ports, outputs)
    edges = [edge(3, 0, 1, 0), edge(4, 0, 1, 1), *(edge(0, 0, 1, 2 + at) for at in numbers), edge(1, 2 + count, 2, 0)]
    return Sample(net([parameter(0, SMALL), ENDLESS, GOES_ON, made, result(2, any_rows)], edges), MANY)


def loops_in_loops(depth: int) -> Callable[[int], Sample]:
    """Loops inside each other, each of which makes its state longer along another axis."""
    ones, unknown = (1,) * depth, (-1,) * depth

    def loop(number: int, axis: int) -> str:
        inside, wires = parameter(0, unknown) + result(2, unknown) + GOES_ON_INSIDE, edge(4, 0, 5, 0)
        twice = [port(0, unknown), port(1, unknown)]
        inside += layer(1, "Concat", data=f'axis="{axis}"', inputs=twice, outputs=[port(2, unknown)])
        wires += edge(0, 0, 1, 0) + edge(0, 0, 1, 1) + edge(1, 2, 2, 0)
        table, outputs = row("input", 2, 0) + row("output", 3, 2), [port(3, unknown)]
        if axis:
            inside += ENDLESS + loop(6, axis - 1) + result(7, unknown)
            wires += edge(3, 0, 6, 0) + edge(4, 0, 6, 1) + edge(0, 0, 6, 2) + edge(6, 3, 7, 0)
            table, outputs = table + row("output", 4, 7), [*outputs, port(4, unknown)]
        back = '<edge from-layer="2" to-layer="0" />\n'
        ports = [port(2, ones if axis == depth - 1 else unknown)]
        return endless(number, table, back, body(inside, wires), ports, outputs)

    def make(count: int) -> Sample:
        numbers = range(5, count + 5)
        made = (loop(at, depth - 1) + result(count + at, unknown) for at in numbers)
        wires = (
            text
            for at in numbers
            for text in (edge(3, 0, at, 0), edge(4, 0, at, 1), edge(0, 0, at, 2), edge(at, 3, count + at, 0))
        )
        return Sample(net([parameter(0, ones), ENDLESS, GOES_ON, *made], wires), MANY)

    return make


def poolings(count: int) -> Sample:
    """Bodies with a layer to migrate."""
    rows = f"<port_map>\n{row('input', 0, 0)}{row('output', 1, 2)}</port_map>\n"
    inside = parameter(0) + pool(1) + result(2)
    text = rows + body(inside, edge(0, 0, 1, 0) + edge(1, 1, 2, 0))
    numbers = range(3, count + 3)
    return sample(layers=(iterator(at, text) for at in numbers), edges=(edge(0, 0, at, 0) for at in numbers))


def nested(depth: int) -> Callable[[int], Sample]:
    """Many layers, each with bodies inside each other."""
    rows = f"<port_map>\n{row('input', 0, 0)}{row('output', 1, 2)}</port_map>\n"
    text = rows + PLAIN
    for _ in range(depth):
        inner = parameter(0) + iterator(1, text) + result(2)
        text = rows + body(inner, edge(0, 0, 1, 0) + edge(1, 1, 2, 0))

    def make(count: int) -> Sample:
        made = (iterator(at, text) for at in range(3, count + 3))
        return sample(layers=made, edges=(edge(0, 0, at, 0) for at in range(3, count + 3)))

    return make


def deep(count: int) -> Sample:
    """Bodies inside each other, as many as there are."""
    opening = '<layer id="0" name="loop" type="Loop" version="opset5">\n<body>\n<layers>\n'
    closing = "</layers>\n</body>\n</layer>\n"
    return sample(layers=[opening * count, closing * count])


def second_bodies(count: int) -> Sample:
    """A layer with as many bodies."""
    return sample(layers=[iterator(3, PLAIN * count)], edges=[edge(0, 0, 3, 0)])


BODIES: Mapping[str, Callable[[int], Sample]] = {
    "TensorIterators": iterators,
    "TensorIterators without port map": without_tables,
    "Ifs": branches,
    "many of 8 Ifs inside each other": ifs_in_ifs(8),
    "Loops": loops,
    "a register of a Loop": register,
    "8 Loops inside each other": loops_in_loops(8),
    "16 Loops inside each other": loops_in_loops(16),
    "bodies with poolings to migrate": poolings,
    "bodies inside each other": deep,
    "many of 8 bodies inside each other": nested(8),
    "many of 40 bodies inside each other": nested(40),
    "bodies of one layer": second_bodies,
    "layers of one body": long_body,
    "rows of a port map": lambda count: rows(count, merged=False),
    "rows of a port map with back edges": lambda count: rows(count, merged=True),
    "Results of a body that give one tensor": results_of_one,
    "rows that cut": slices,
    "rows that lead to one layer": lambda count: rows(count, merged=False, wrong=lambda at: 0),
    "rows that lead nowhere": lambda count: rows(count, merged=False, wrong=lambda at: -1 - at),
    "one row repeated": one_row(lambda at: row("input", 0, 0)),
    "rows without numbers": one_row(lambda at: row("input", "x", f"y{at}")),
    "rows of unknown purpose": one_row(lambda at: row("output", -1, 2, purpose=f"execution_conditio{at}")),
    "one back edge repeated": back_edges(lambda at: '<edge from-layer="2" to-layer="0" />\n'),
    "back edges that lead nowhere": back_edges(lambda at: f'<edge from-layer="{at + 9}" to-layer="x" />\n'),
}
