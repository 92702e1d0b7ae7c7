"""Slices of port maps against loops that cut an axis piece by piece."""

from itertools import product

from lxml import etree

from ir_tools.format.rows import Row, Slice, slice_problems


def row(tag: str = "input", **attributes: int) -> Row:
    texts = {name: str(value) for name, value in attributes.items()}
    element = etree.Element(tag, {"external_port_id": "1", "internal_layer_id": "0", **texts})
    found, faults = Row.read(element)
    assert found is not None
    assert not faults
    return found


def pieces(start: int, end: int, stride: int, size: int) -> int | None:
    """How many pieces of `stride` elements there are from start to end; None unless they cover all between exactly."""
    places = [edge if edge >= 0 else size + 1 + edge for edge in (start, end)]
    at, last = places if stride > 0 else places[::-1]
    if min(at, last) < 0 or max(at, last) > size:
        return None
    count = 0
    while at < last:
        at, count = at + abs(stride), count + 1
    return count if count and at == last else None


def leads_away(start: int, end: int, stride: int) -> bool:
    """Whether start is counted from one end of the axis, end from the other, and the stride goes the other way."""
    return (start >= 0) != (end >= 0) and (start >= 0) == (stride < 0)


def test_an_axis_is_cut_into_equal_parts_or_refused() -> None:
    for start, end, stride, size in product(range(-4, 4), range(-4, 5), (-3, -2, -1, 1, 2, 3), (1, 2, 3, 4, 6)):
        one = row(axis=0, start=start, end=end, stride=stride, part_size=abs(stride))
        found = list(slice_problems([Slice(one, 2, size)], exact=True))
        wanted = None if leads_away(start, end, stride) else pieces(start, end, stride, size)
        assert (wanted is None) == bool(found), (start, end, stride, size)
        assert not [text for _, text, _ in slice_problems([Slice(one, 2, size)], exact=False) if "elements" in text]
        other = row(axis=1, start=0, end=-1, stride=1, part_size=1)
        for length in range(1, 7) if wanted else ():
            both = list(slice_problems([Slice(one, 2, size), Slice(other, 2, length)], exact=True))
            assert [one for one, *_ in both] == [other] * (length != wanted)


def test_what_is_wrong_whatever_the_sizes_are() -> None:
    right = {"axis": 0, "start": 0, "end": -1, "stride": 2, "part_size": 2}
    for changes, words in (
        ({}, ""),
        ({"axis": 1}, ""),
        ({"axis": -2}, ""),
        ({"axis": 2}, "axis is 2"),
        ({"axis": -3}, "axis is -3"),
        ({"stride": 0}, "stride is 0"),
        ({"part_size": 0}, "part_size is 0; expected at least 1"),
        ({"stride": -2}, "but end -1 is in the other direction from start 0"),
        ({"stride": -2, "start": -1, "end": 0}, ""),
        ({"start": -1, "end": 0}, "but end 0 is in the other direction from start -1"),
        ({"part_size": 1}, "part_size is 1, but stride is 2"),
    ):
        for tag in ("input", "output")[changes.get("axis", 0) < 0 :]:
            found = list(slice_problems([Slice(row(tag, **{**right, **changes}), 2, None)], exact=True))
            assert len(found) == bool(words), changes
            assert all(words in text for _, text, _ in found)
    assert not list(slice_problems([Slice(row("input", **{**right, "axis": 7}), 0, None)], exact=True))


def test_a_result_is_joined_of_as_many_parts_as_the_first_input_has() -> None:
    """The parts of an output are held against the number that the inputs are cut into."""
    for length, size in product(range(1, 6), repeat=2):
        given = row(axis=0, start=0, end=-1, stride=1, part_size=1)
        for end, stride in product((-1, size), (1, 2)):
            made = row("output", axis=0, start=0, end=end, stride=stride, part_size=stride)
            found = list(slice_problems([Slice(made, 1, None), Slice(given, 1, length)], exact=True))
            total = length * stride
            count = pieces(0, end, stride, total)
            assert bool(found) == (count is None or count != length), (length, end, stride)
