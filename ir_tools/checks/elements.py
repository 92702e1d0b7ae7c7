"""Elements that are where they should not be: misspelled, in the wrong place, unknown, or there twice.

Two relics of IR v2 to v7 stop the runtime: `<meta_data>` and `<pre-process>` that it cannot read.
"""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, notes_read
from ir_tools.diagnostics import Severity
from ir_tools.display import plural, quoted
from ir_tools.errors import UsageError
from ir_tools.format.nets import Net, adds_nothing, text_of
from ir_tools.format.problems import MAX_IN_ELEMENT, ElementProblem
from ir_tools.graph import Layer
from ir_tools.rules.structure import REPEATED_ELEMENT, UNKNOWN_ELEMENT
from ir_tools.source import Element
from ir_tools.source.grammar import BODIES, GRAMMAR, LEGACY, MAPS, NOTES, Tag
from ir_tools.types import closest, parse_shape

__all__ = ["CHECK"]

WORDS = {word for tag in GRAMMAR.values() for word in tag.children} - set(NOTES)


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield the problems of each element whose children are not all as usual."""
    legacy = file.model.is_legacy
    for net, parent in _parents(file):
        tag = (LEGACY if legacy and parent.tag in LEGACY else GRAMMAR).get(str(parent.tag))
        if tag is not None:
            yield from _unknown(net, parent, tag)
            yield from _repeated(parent, tag.children if tag.once else frozenset())
    if not legacy:
        yield from _refused_notes(file)
        yield from _means(file)


def _refused_notes(file: IrFile) -> Iterator[ElementProblem]:
    """Yield the notes that the runtime cannot read, and stops on (measured)."""
    notes = notes_read(file)
    refused = [child for child in (() if notes is None else notes) if _is_refused_note(child)]
    for child in refused[:MAX_IN_ELEMENT]:
        message = f"<{child.tag}> in <meta_data> has no attribute value, so the runtime refuses the file"
        yield ElementProblem(UNKNOWN_ELEMENT, child, message, "delete it, or move it into the <rt_info> of <net>")


def _is_refused_note(child: Element) -> bool:
    return isinstance(child.tag, str) and child.tag != "cli_parameters" and child.get("value") is None


def _means(file: IrFile) -> Iterator[ElementProblem]:
    """Yield what is wrong with `<pre-process>`, which the runtime still applies."""
    element = file.document.root.find("pre-process")
    name = None if element is None else element.get("reference-layer-name")
    if element is None:
        return
    inputs = {end.layer.name: end.layer for end in reversed(file.model.inputs)}
    means = [mean for mean in element.iterfind("channel/mean") if mean.get("value") or mean.get("size")]
    if name and name not in inputs:
        message = f"<pre-process> refers to '{quoted(name)}', which is not an input, so the runtime refuses the file"
        yield ElementProblem(UNKNOWN_ELEMENT, element, message, "delete it")
    elif means and not _are_taken(inputs[name] if name else next(iter(reversed(inputs.values())), None), len(means)):
        message = (
            f"<pre-process> has {plural(len(means), 'mean')}; the runtime refuses the file if their number is not "
            "the number of channels"
        )
        yield ElementProblem(UNKNOWN_ELEMENT, element, message, "use a Subtract after the input instead")
    elif element.find("channel/mean") is not None:
        message = "the runtime subtracts the means of <pre-process>, an element of IR v2 to v7; other tools ignore them"
        remedy = "use a Subtract after the input"
        yield ElementProblem(UNKNOWN_ELEMENT, element, message, remedy, Severity.WARNING)


def _are_taken(layer: Layer | None, count: int) -> bool:
    """Return whether an input may have so many means, as far as its shape can be read; of rank 3, it is an image."""
    try:
        shape = None if layer is None else parse_shape(layer.raw.get("shape", "..."))
    except UsageError:
        return True
    return shape is None or (1 < len(shape) < 6 and count in shape[len(shape) != 3])


def _parents(file: IrFile) -> Iterator[tuple[Net, Element]]:
    """Yield the elements whose children are not all as usual, with the graph around them."""
    for net in file.nets:
        yield net, net.element
        yield from ((net, parent) for parent in net.unusual)
        for part in (part for layer in net.bodied for part in layer):
            if part.tag in MAPS or (part.tag in BODIES and part.find("layers") is None):
                yield net, part
    yield from ((file.nets[0], blobs) for blobs in file.document.root.iter("blobs") if file.model.is_legacy)
    for port in () if file.usual.ports else file.document.root.iter("port"):
        for parent in (port, *port):
            if len(parent) and parent.tag in {"port", "dim"}:
                yield file.nets[0], parent


def _unknown(net: Net, parent: Element, tag: Tag) -> Iterator[ElementProblem]:
    words, unknown = tuple(sorted(tag.children - set(NOTES))), _not_in(parent, tag)
    for child in unknown[:MAX_IN_ELEMENT]:
        local = str(child.tag).rpartition("}")[2]
        shown = local if child.prefix is None else f"{child.prefix}:{local}"
        meant = closest(local, words)
        severity = None
        if child.prefix is not None and meant is not None:
            message = (
                f"<{shown}> has a namespace prefix; the runtime does not support namespaces and does not read it as "
                f"<{meant}>"
            )
            remedy = "write element names without a prefix"
        elif meant is not None:
            message = f"<{shown}> is not known in <{parent.tag}>; did you mean <{meant}>?"
            remedy = (
                f"write <{meant}>" if parent.find(meant) is None else f"<{meant}> exists already; delete one of the two"
            )
        elif child.tag in WORDS or _holds_words(child) or (not tag.once and _may_be_part(child)):
            message = f"<{shown}> does not belong in <{parent.tag}>, so the runtime ignores it"
            listed = ", ".join(f"<{word}>" for word in words)
            remedy = f"<{parent.tag}> may contain {listed}" if words else f"<{parent.tag}> may not contain elements"
        else:
            message = f"<{shown}> is not known in <{parent.tag}>, so the runtime ignores it"
            remedy, severity = "delete it, unless another tool needs it", Severity.WARNING
        yield ElementProblem(UNKNOWN_ELEMENT, child, message, remedy, severity, _layer_of(net, parent, child))
    if len(unknown) > MAX_IN_ELEMENT:
        message = f"<{parent.tag}> has {len(unknown)} unknown elements; the first {MAX_IN_ELEMENT} are listed"
        severity = None if not tag.once and any(map(_may_be_part, unknown)) else Severity.WARNING
        yield ElementProblem(UNKNOWN_ELEMENT, unknown[MAX_IN_ELEMENT], message, None, severity)


def _not_in(parent: Element, tag: Tag) -> list[Element]:
    """Return the children that the runtime does not read."""
    return [child for child in parent if child.tag not in tag.children]


def _layer_of(net: Net, parent: Element, child: Element) -> Element | None:
    """Return the layer that an unknown element seems to be, or to lead to; None for the one around it."""
    if parent.tag == "edges":
        return net.layer_at(child)
    return child if parent.tag == "layers" and child.get("id") is not None else None


def _holds_words(element: Element) -> bool:
    """Return whether there is something in an element that the runtime would read elsewhere."""
    return any(child.tag in {"port", "layers", "layer", "edges", "edge", "input", "output"} for child in element)


def _may_be_part(element: Element) -> bool:
    """Return whether an element may be a layer, an edge, a port, a row or a dimension under another name."""
    return bool({"id", "from-layer", "to-layer", "external_port_id"} & {*element.attrib} or text_of(element))


def _repeated(parent: Element, once: frozenset[str]) -> Iterator[ElementProblem]:
    seen: dict[str, Element] = {}
    for child in parent:
        name = str(child.tag)
        first = seen.setdefault(name, child)
        if name in once and first is not child:
            message = f"<{parent.tag}> has a second <{name}>; the runtime reads only the first one"
            severity = Severity.WARNING if name in NOTES or adds_nothing(child, first) else None
            yield ElementProblem(
                REPEATED_ELEMENT, child, message, f"merge them into one <{name}>, or delete one", severity
            )


CHECK = Check(find, (UNKNOWN_ELEMENT, REPEATED_ELEMENT))
