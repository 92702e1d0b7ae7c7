"""The XML itself: rt_info, comments, white space, text, unknown elements, encodings, files that are cut off."""

from collections.abc import Callable, Mapping

from tests.benchmarks.growth.pieces import Sample, sample
from tests.ir_text import edge, layer, port, relu

__all__ = ["MARKUP"]

SMALL = (1, 8)


def inside_of_layer(text: Callable[[int], str]) -> Callable[[int], Sample]:
    def make(count: int) -> Sample:
        return sample(
            middle=layer(1, "ReLU", inputs=[port(0)], outputs=[port(1)], inside="".join(map(text, range(count))))
        )

    return make


def inside_of_port(text: Callable[[int], str]) -> Callable[[int], Sample]:
    def make(count: int) -> Sample:
        full = port(1).replace("</port>", f"{''.join(map(text, range(count)))}</port>")
        return sample(middle=layer(1, "ReLU", inputs=[port(0)], outputs=[full]))

    return make


def between_layers(text: Callable[[int], str]) -> Callable[[int], Sample]:
    def make(count: int) -> Sample:
        return sample(layers=map(text, range(count)))

    return make


def between_edges(text: Callable[[int], str]) -> Callable[[int], Sample]:
    def make(count: int) -> Sample:
        return sample(edges=map(text, range(count)))

    return make


def behind(text: Callable[[int], str]) -> Callable[[int], Sample]:
    def make(count: int) -> Sample:
        return sample(after="".join(map(text, range(count))))

    return make


def nested(opening: str, closing: str, around: str = "{}") -> Callable[[int], Sample]:
    """Elements inside each other at the end of the file."""

    def make(count: int) -> Sample:
        return sample(after=around.format(opening * count + closing * count))

    return make


def rt_info(attribute: Callable[[int], str]) -> Callable[[int], Sample]:
    """One rt_info of a layer."""

    def make(count: int) -> Sample:
        text = "".join(f"<attribute {attribute(at)} />\n" for at in range(count))
        return sample(
            middle=layer(1, "ReLU", inputs=[port(0)], outputs=[port(1)], inside=f"<rt_info>\n{text}</rt_info>\n")
        )

    return make


def rt_info_of_all(count: int) -> Sample:
    """An rt_info in each of many layers."""
    inside = '<rt_info>\n<attribute name="fused_names_0" version="0" value="{}" />\n</rt_info>\n'
    numbers = range(3, count + 3)
    made = (layer(at, "ReLU", inputs=[port(0)], outputs=[port(1)], inside=inside.format(f"name{at}")) for at in numbers)
    return sample(layers=made, edges=(edge(0, 0, at, 0) for at in numbers))


def long_layout(word: str) -> Callable[[int], Sample]:
    def make(count: int) -> Sample:
        text = f'<attribute name="layout" version="0" layout="[{",".join([word] * count)}]" />\n'
        return sample(middle=layer(1, "ReLU", inputs=[port(0)], outputs=[port(1)], inside=f"<rt_info>{text}</rt_info>"))

    return make


def layout_of_names(count: int) -> Sample:
    text = f'<attribute name="layout" version="0" layout="[{",".join(f"D{at}" for at in range(count))}]" />\n'
    return sample(middle=layer(1, "ReLU", inputs=[port(0)], outputs=[port(1)], inside=f"<rt_info>{text}</rt_info>"))


def wrong(at: int) -> str:
    """A layer of which everything is wrong."""
    inputs, outputs = [port(0, (3, at + 9), precision=f"FP{at}")], [port(1, ("x", 5), precision="")]
    data = f'kernel="{at}" strides="x" stride="7" mode{at}="1" auto_pad="same{at}"'
    inside = "<rt_inf/>text<data/>"
    return layer(at, "AvgPool", name="wrong", data=data, inputs=inputs, outputs=outputs, inside=inside)


def all_wrong(count: int) -> Sample:
    numbers = range(3, count + 3)
    return sample(layers=map(wrong, numbers), edges=(edge(0, at, at, 7) for at in numbers))


def small_mistakes(count: int) -> Sample:
    """Layers with a wrong shape and an attribute that nobody knows, on a line each."""
    numbers = range(3, count + 3)
    inner = (relu(at, dims=(1, at % 7 + 1, 9, 9), data='more="1"') for at in numbers)
    return sample(layers=inner, edges=(edge(0, 0, at, 0) for at in numbers))


def on_one_line(make: Callable[[int], Sample], letters: bytes = b"") -> Callable[[int], Sample]:
    """The same without line ends; `letters`: in names."""

    def flat(count: int) -> Sample:
        found = make(count)
        text = b"".join(line.strip(b"\t") + b" " * (not line.endswith(b">")) for line in found.xml.split(b"\n"))
        return found._replace(xml=text.replace(b'name="ReLU', b'name="' + letters + b"ReLU"))

    return flat


def encoded(codec: str, letters: str = "") -> Callable[[int], Sample]:
    def make(count: int) -> Sample:
        text = small_mistakes(count).xml.decode().replace('name="ReLU', f'name="{letters}ReLU')
        return Sample(text.replace("?>", f' encoding="{codec}"?>', 1).encode(codec))

    return make


def cut_off(make: Callable[[int], Sample]) -> Callable[[int], Sample]:
    """A file that ends in the middle."""

    def cut(count: int) -> Sample:
        found = make(count)
        return found._replace(xml=found.xml[: len(found.xml) // 2])

    return cut


def broken(piece: str) -> Callable[[int], Sample]:
    """A file that is not well-formed: the piece again and again."""

    def make(count: int) -> Sample:
        return Sample(b'<?xml version="1.0"?>\n<net name="large" version="11">\n' + piece.encode() * count)

    return make


def ended_wrongly(count: int) -> Sample:
    """Layers of which the last one has another end tag."""
    found = small_mistakes(count)
    head, _, tail = found.xml.rpartition(b"</layer>")
    return found._replace(xml=head + b"</leyer>" + tail)


def prefixed(count: int) -> Sample:
    found = small_mistakes(count)
    return found._replace(
        xml=found.xml.replace(b"<net ", b'<net xmlns:a="b" ').replace(b"<dim>9</dim>", b"<a:dim>9</a:dim>")
    )


def namespaces(count: int) -> Sample:
    return sample(tag="".join(f' xmlns:a{at}="b{at}"' for at in range(count)))


MARKUP: Mapping[str, Callable[[int], Sample]] = {
    "attributes of one rt_info": rt_info(lambda at: f'name="n{at}" version="0" value="{at}"'),
    "one attribute of rt_info repeated": rt_info(lambda at: 'name="n" version="0" value="1"'),
    "attributes of rt_info without names": rt_info(lambda at: 'value="1"'),
    "rt_info in many layers": rt_info_of_all,
    "a layout of many dimensions": layout_of_names,
    "a layout of one dimension repeated": long_layout("N"),
    "a layout of question marks": long_layout("?"),
    "model_info": behind(lambda at: f'<rt_info><model_info><key{at} value="1" /></model_info></rt_info>\n'),
    "elements of one model_info": lambda count: sample(
        after="<rt_info><model_info>"
        + "".join(f'<k{at} value="1"/>' for at in range(count))
        + "</model_info></rt_info>"
    ),
    "one element of model_info repeated": lambda count: sample(
        after="<rt_info><model_info>" + '<key value="1"/>' * count + "</model_info></rt_info>"
    ),
    "elements inside each other in rt_info": nested("<a>", "</a>", "<rt_info>{}</rt_info>"),
    "unknown elements inside each other": nested("<unknown>", "</unknown>"),
    "layers inside each other": nested("<layer>", "</layer>"),
    "unknown elements in <net>": behind(lambda at: f"<foo{at} />\n"),
    "misspelled elements in <net>": behind(lambda at: f"<layers{at} />\n"),
    "unknown elements in a layer": inside_of_layer(lambda at: f"<foo{at} />\n"),
    "misspelled elements in a layer": inside_of_layer(lambda at: f"<output{at} />\n"),
    "unknown elements in a port": inside_of_port(lambda at: f"<foo{at} />\n"),
    "unknown elements between layers": between_layers(lambda at: f"<foo{at} />\n"),
    "misspelled elements between layers": between_layers(lambda at: f'<layer{at} id="{at}" />\n'),
    "unknown elements between edges": between_edges(lambda at: f"<foo{at} />\n"),
    "misspelled elements between edges": between_edges(lambda at: f'<edge{at} from-layer="1" to-layer="2" />\n'),
    "second <data>": inside_of_layer(lambda at: '<data a="1" />\n'),
    "second <input>": inside_of_layer(lambda at: "<input />\n"),
    "second <layers>": behind(lambda at: "<layers />\n"),
    "comments": between_layers(lambda at: "<!-- c -->\n"),
    "comments in a layer": inside_of_layer(lambda at: "<!-- c -->\n"),
    "comments with tags": between_layers(lambda at: '<!-- <layer id="1"> -->\n'),
    "one long comment": lambda count: sample(layers=[f"<!--{'<layer ' * count}-->\n"]),
    "processing instructions": between_layers(lambda at: "<?pi?>\n"),
    "CDATA": inside_of_port(lambda at: "<![CDATA[x]]>\n"),
    "texts": inside_of_port(lambda at: "<dim>1</dim>x\n"),
    "one long text": lambda count: sample(layers=["x" * count]),
    "white space": lambda count: sample(layers=["\n" * count]),
    "white space in a tag": lambda count: sample(
        middle=layer(1, "ReLU", data="\n" * count, inputs=[port(0)], outputs=[port(1)])
    ),
    "entities": lambda count: sample(middle=relu(1, name="&amp;&#65;" * count)),
    "line ends in a name": lambda count: sample(middle=relu(1, name="&#10;" * count)),
    "everything wrong": all_wrong,
    "small mistakes": small_mistakes,
    "everything wrong on one line": on_one_line(all_wrong),
    "small mistakes on one line": on_one_line(small_mistakes),
    "small mistakes on one line of other letters": on_one_line(small_mistakes, "é".encode()),
    "carriage returns": lambda count: Sample(small_mistakes(count).xml.replace(b"\n", b"\r\n")),
    "UTF-16": encoded("utf-16"),
    "Latin-1": encoded("latin-1", "é"),
    "cut off": cut_off(small_mistakes),
    "cut off on one line": cut_off(on_one_line(small_mistakes)),
    "another end tag": ended_wrongly,
    "another end tag on one line": on_one_line(ended_wrongly),
    "elements without end": broken("<layer>"),
    "end tags without elements": broken("</layer>"),
    "tags without end": broken("<layer "),
    "less-than signs": broken("<"),
    "quotation marks without end": broken('<a b="'),
    "ampersands": broken("&"),
    "comments without end": broken("<!--"),
    "a prefix": prefixed,
    "namespaces": namespaces,
}
