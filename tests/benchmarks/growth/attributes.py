"""Attributes: many in one tag, many in a file, long ones."""

from collections.abc import Callable, Mapping

from tests.benchmarks.growth.pieces import Sample, sample
from tests.ir_text import edge, layer, net, parameter, port, relu, result

__all__ = ["ATTRIBUTES"]

POOL = {
    "kernel": "3, 3",
    "strides": "1, 1",
    "pads_begin": "1, 1",
    "pads_end": "1, 1",
    "exclude-pad": "true",
    "auto_pad": "explicit",
    "rounding_type": "floor",
}


def numbered(word: str, count: int) -> str:
    """`word0="1" word1="1" ...`."""
    return "".join(f' {word}{at}="1"' for at in range(count))


def pool(number: int, version: str = "opset14", **changed: str) -> str:
    """An AvgPool; `changed`: attributes that differ, `_` for `-`."""
    data = POOL | {name.replace("exclude_", "exclude-"): text for name, text in changed.items()}
    words = " ".join(f'{name}="{text}"' for name, text in data.items())
    return layer(number, "AvgPool", version=version, data=words, inputs=[port(0)], outputs=[port(1)])


def in_data(word: str) -> Callable[[int], Sample]:
    """Many attributes in one `<data>` of a pooling."""
    words = " ".join(f'{name}="{text}"' for name, text in POOL.items())

    def make(count: int) -> Sample:
        data = words + numbered(word, count)
        return sample(middle=layer(1, "AvgPool", data=data, inputs=[port(0)], outputs=[port(1)]))

    return make


def of_layer(count: int) -> Sample:
    return sample(middle=layer(1, "ReLU", tag=numbered("more", count), inputs=[port(0)], outputs=[port(1)]))


def of_port(count: int) -> Sample:
    return sample(middle=layer(1, "ReLU", inputs=[port(0)], outputs=[port(1, tag=numbered("more", count))]))


def of_edge(count: int) -> Sample:
    wire = edge(0, 0, 1, 0).replace(" />", f"{numbered('more', count)} />")
    return Sample(net([parameter(0), relu(1), result(2)], [wire, edge(1, 1, 2, 0)]))


def of_net(count: int) -> Sample:
    return sample(tag=numbered("more", count))


def of_constant(count: int) -> Sample:
    data = f'element_type="u8" shape="4" offset="0" size="4"{numbered("more", count)}'
    return sample(layers=[layer(3, "Const", data=data, outputs=[port(0, [4], precision="U8")])], weights=bytes(4))


def large_constant(count: int) -> Sample:
    """A constant of very many large dimensions."""
    data = f'element_type="u8" shape="{",".join(["1000"] * count)}" offset="0" size="4"'
    return sample(layers=[layer(3, "Const", data=data, outputs=[port(0, [4], precision="U8")])], weights=bytes(4))


def repeated(count: int) -> Sample:
    return sample(middle=layer(1, "ReLU", data='a="1" ' * count, inputs=[port(0)], outputs=[port(1)]))


def everywhere(word: str) -> Callable[[int], Sample]:
    """Some attributes that nobody knows, others in each of many layers."""

    def make(count: int) -> Sample:
        inner = (relu(at + 3, data=f'{word}{at}="{at}" {word}_{at}x="{at}"') for at in range(count))
        return sample(layers=inner, edges=(edge(0, 0, at + 3, 0) for at in range(count)))

    return make


def wrong_words(count: int) -> Sample:
    """In each of many poolings another word that an attribute cannot have."""
    inner = (pool(at + 3, auto_pad=f"explicid{at}", rounding_type=f"flor{at}") for at in range(count))
    return sample(layers=inner, edges=(edge(0, 0, at + 3, 0) for at in range(count)))


def long_list(name: str, item: str) -> Callable[[int], Sample]:
    """One attribute of a pooling that is a list without end."""

    def make(count: int) -> Sample:
        return sample(middle=pool(1, **{name: ",".join([item] * count)}))

    return make


def long_word(name: str) -> Callable[[int], Sample]:
    def make(count: int) -> Sample:
        return sample(middle=pool(1, **{name: "explicit" * count}))

    return make


def long_shape(item: str) -> Callable[[int], Sample]:
    """A Parameter of very many dimensions, which its port does not have."""

    def make(count: int) -> Sample:
        data = f'shape="{",".join([item] * count)}" element_type="f32"'
        return sample(layers=[layer(3, "Parameter", data=data, outputs=[port(0)]), result(4)], edges=[edge(3, 0, 4, 0)])

    return make


def long_digits(count: int) -> Sample:
    """A number of very many digits, wherever a number is read."""
    word = "9" * count
    numbers = layer(3, "ReLU", inputs=[port(0, [1, word])], outputs=[port(word)])
    const = f'element_type="u8" shape="{word}" offset="{word}" size="{word}"'
    more = [numbers, layer(word, "ReLU"), layer(5, "Const", data=const, outputs=[port(0)])]
    return sample(middle=pool(1, strides=f"{word}, 1"), layers=more, edges=[edge(word, word, 3, 0)])


def long_equation(count: int) -> Sample:
    data = f'equation="{"ab," * count}ab->ab"'
    return sample(middle=layer(1, "Einsum", version="opset7", data=data, inputs=[port(0)], outputs=[port(1)]))


def long_type(count: int) -> Sample:
    return sample(middle=layer(1, "AvgPool" * count, inputs=[port(0)], outputs=[port(1)]))


def long_version(count: int) -> Sample:
    return sample(middle=layer(1, "ReLU", version="opset1" * count, inputs=[port(0)], outputs=[port(1)]))


def long_precision(count: int) -> Sample:
    return sample(middle=layer(1, "ReLU", inputs=[port(0)], outputs=[port(1, precision="FP32" * count)]))


def long_name(count: int) -> Sample:
    return sample(middle=relu(1, name="name/" * count), layers=[relu(3, name="name/" * count)])


def wide_data(count: int) -> Sample:
    """Poolings with kernels of as many axes as their inputs have."""
    sizes, ones = [1] * (count + 2), ",".join(["1"] * count)
    zeros = ones.replace("1", "0")
    words = POOL | {"kernel": ones, "strides": ones, "pads_begin": zeros, "pads_end": zeros}
    data = " ".join(f'{name}="{text}"' for name, text in words.items())
    middle = layer(1, "AvgPool", version="opset14", data=data, inputs=[port(0, sizes)], outputs=[port(1, sizes)])
    return Sample(net([parameter(0, sizes), middle, result(2, sizes)], [edge(0, 0, 1, 0), edge(1, 1, 2, 0)]))


ATTRIBUTES: Mapping[str, Callable[[int], Sample]] = {
    "unknown attributes in one <data>": in_data("more"),
    "misspelled attributes in one <data>": in_data("stride"),
    "attributes like two known ones": in_data("pads_"),
    "attributes of one <layer>": of_layer,
    "attributes of one <port>": of_port,
    "attributes of one <edge>": of_edge,
    "attributes of <net>": of_net,
    "attributes of a constant": of_constant,
    "a constant of large dimensions": large_constant,
    "one attribute repeated": repeated,
    "unknown attributes in many layers": everywhere("more"),
    "wrong words in many layers": wrong_words,
    "a long list of strides": long_list("strides", "1"),
    "a long kernel": long_list("kernel", "3"),
    "a long list of large kernels": long_list("kernel", "2147483647"),
    "a long list that is not of numbers": long_list("pads_begin", "x"),
    "a long list of blanks": long_list("pads_begin", " "),
    "a long list of dilations": long_list("dilations", "1"),
    "a long word for auto_pad": long_word("auto_pad"),
    "a long word for a number": long_word("strides"),
    "a long shape": long_shape("1"),
    "a long shape of large sizes": long_shape("1000"),
    "a long shape of any sizes": long_shape("?"),
    "a long shape of intervals": long_shape("1..8"),
    "a long shape of words": long_shape("x"),
    "a number of many digits": long_digits,
    "a long equation": long_equation,
    "a long type": long_type,
    "a long version": long_version,
    "a long precision": long_precision,
    "long equal names": long_name,
    "pooling over many axes": wide_data,
}
