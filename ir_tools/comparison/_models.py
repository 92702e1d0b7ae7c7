"""Two models side by side: which of their inputs and outputs belong together, and what follows for what is inside."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

from ir_tools.comparison._pairing import Pairs, paired
from ir_tools.comparison._structure import Side
from ir_tools.errors import UsageError
from ir_tools.graph import Endpoint, Layer, Model, Source
from ir_tools.inputs import is_packed, parameter_fact
from ir_tools.ops import Array
from ir_tools.ops.bodies import port_maps
from ir_tools.types import holds, parse_shape, shape_text

__all__ = ["output_names", "paired_bodies", "paired_models", "renamed"]

Ends = list[tuple[Layer, Layer]]


def paired_models(own: Model, other: Model) -> Pairs:
    """Return which layers and tensors of two models belong together."""
    outputs = [(one.layer, two.layer) for one, two in _by_names(own.outputs, other.outputs)]
    inputs = [(one.layer, two.layer) for one, two in _inputs(own, other)]
    return paired(Side(own, own.graph), Side(other, other.graph), [*inputs, *outputs])


def paired_bodies(own: Model, layer: Layer, other: Model, twin: Layer, body: str) -> Pairs:
    """Return which layers and tensors belong together in one body of two layers, which belong together themselves."""
    sides = Side(own, layer.bodies[body]), Side(other, twin.bodies[body])
    return paired(*sides, _body_ends(layer, twin, body))


def renamed(model: Model, other: Model, fed: Mapping[str, Array]) -> dict[str, Array]:
    """Return the same arrays under the other model's names.

    Raises:
        UsageError: the models have different numbers of inputs, or an input of the other model has another shape.
    """
    own, theirs = model.inputs, other.inputs
    if len(own) != len(theirs):
        raise UsageError(f"the models have {len(own)} and {len(theirs)} inputs, so they cannot get the same inputs")
    found = {}
    for one, two in _inputs(model, other):
        found[two.name] = fed[one.name]
        shape = parse_shape(two.layer.raw["shape"]) if "shape" in two.layer.raw else None
        packed = "element_type" in two.layer.raw and is_packed(fed[one.name], *parameter_fact(two.layer))
        if not packed and not holds(shape, fed[one.name].shape):
            raise UsageError(
                f"the models cannot get the same inputs: input '{one.name}' has shape "
                f"{list(fed[one.name].shape)}, but '{two.name}' of the other model has {shape_text(shape)}"
            )
    return found


def output_names(model: Model, other: Model, pairs: Pairs) -> dict[str, str]:
    """Return the other model's output for each one of the first: by name, else by what makes it, else in their order.

    Raises:
        UsageError: there are different numbers of them.
    """
    own, theirs = model.outputs, other.outputs
    if len(own) != len(theirs):
        raise UsageError(f"the models have {len(own)} and {len(theirs)} outputs")
    found = {one.name: two.name for one, two in _by_names(own, theirs)}
    taken = {*found.values()}
    made = {source: end.name for end, source in _made(other, theirs)}
    for end, source in _made(model, own):
        partner = made.get(pairs.sources.get(source, source))
        if source in pairs.sources and end.name not in found and partner and partner not in taken:
            found[end.name] = partner
            taken.add(partner)
    rest = (end.name for end in theirs if end.name not in taken)
    return {end.name: found[end.name] if end.name in found else next(rest) for end in own}


def _made(model: Model, ends: Sequence[Endpoint]) -> Iterator[tuple[Endpoint, Source]]:
    """Yield each output with the tensor that it is."""
    for end in ends:
        for source in model.graph.sources(end.layer.id).values():
            yield end, source


def _inputs(model: Model, other: Model) -> list[tuple[Endpoint, Endpoint]]:
    """Return the inputs that belong together: by name, else by type and shape if only one has them, else in order."""
    found = list(_by_names(model.inputs, other.inputs))
    own, theirs = _free(model.inputs, other.inputs, found)
    sides = Counter(map(_form, own)), Counter(map(_form, theirs))
    single = {_form(two): two for two in theirs if sides[0][_form(two)] == sides[1][_form(two)] == 1}
    found += [(one, single[_form(one)]) for one in own if _form(one) in single]
    return [*found, *zip(*_free(own, theirs, found), strict=False)]


def _free(
    own: Sequence[Endpoint], theirs: Sequence[Endpoint], pairs: Sequence[tuple[Endpoint, Endpoint]]
) -> tuple[list[Endpoint], list[Endpoint]]:
    """Return the inputs that are in none of the pairs."""
    taken = {one.layer.id for one, _ in pairs}, {two.layer.id for _, two in pairs}
    return [end for end in own if end.layer.id not in taken[0]], [end for end in theirs if end.layer.id not in taken[1]]


def _form(end: Endpoint) -> tuple[str | None, tuple[int, ...]]:
    return end.record.precision, end.record.dims


def _by_names(own: Sequence[Endpoint], theirs: Sequence[Endpoint]) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Yield inputs or outputs of one name, or, of the others, with any shared name."""
    called, known = defaultdict[str, deque[int]](deque), defaultdict[str, deque[int]](deque)
    for number, end in enumerate(theirs):
        called[end.name].append(number)
        for name in end.names:
            known[name].append(number)
    taken, later = set[int](), list[Endpoint]()
    for one in own:
        if called[one.name]:
            number = called[one.name].popleft()
            taken.add(number)
            yield one, theirs[number]
        else:
            later.append(one)
    for one in later:
        for name in one.names:
            while known[name] and known[name][0] in taken:
                known[name].popleft()
        free = [known[name][0] for name in one.names if known[name]]
        if free:
            taken.add(min(free))
            yield one, theirs[min(free)]


def _body_ends(layer: Layer, twin: Layer, body: str) -> Ends:
    """Return the Parameters and Results of a body that stand for the same ports of the layer, or for the same state."""
    maps = port_maps(layer)[body], port_maps(twin)[body]
    layers, keyed = (layer, twin), []
    for side, rows in enumerate(maps):
        places = {
            port.id: (kind, place)
            for kind in ("inputs", "outputs")
            for place, port in enumerate(getattr(layers[side], kind))
        }
        keyed.append(
            {(places.get(row.port), row.purpose, row.axis is None): row.layer for row in (*rows.inputs, *rows.outputs)}
        )
    found = {keyed[0][key]: keyed[1][key] for key in keyed[0] if key in keyed[1]}
    for parameter, result in maps[0].back_edges.items():
        partner = maps[1].back_edges.get(found.get(parameter, -1))
        if partner is not None:
            found.setdefault(result, partner)
    graphs = layer.bodies[body], twin.bodies[body]
    return [(graphs[0].layer(one), graphs[1].layer(two)) for one, two in found.items()]
