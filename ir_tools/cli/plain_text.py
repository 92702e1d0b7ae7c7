"""Text from files of strangers on the terminals of people: nothing in it may steer the terminal."""

__all__ = ["visible"]


def visible(text: str) -> str:
    """The text with every character that is not printed (escapes, bells, directions) as a dot; blanks stay.

    Line ends stay as well, where a text has several lines.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in " \n" else "·" for letter in text.replace("\t", " "))
