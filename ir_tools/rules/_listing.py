"""The code table as a page of documentation; `python -m ir_tools.rules._listing` prints it."""

from collections.abc import Iterator

from ir_tools.rules import RULES, Rule

__all__ = ["listing"]

HEAD = """# Rules

The findings of `ir-tools validate`, by code. This page is generated from the table in `ir_tools/rules`, and
`ir-tools explain CODE` prints the same text. Each example is part of a file that the tests of the rule check.

## Severity

- **error**: the runtime refuses the file, crashes, hangs or runs out of memory; or the meaning of the file is
  ambiguous: it is not well-formed XML, two parts of it contradict each other, or the runtime ignores a part that
  changes the meaning.
- **warning**: the file runs and its meaning is clear, but it is probably not the intended one: the runtime assumes the
  value of an attribute that the specification requires, ignores a part that has no effect, or computes something
  useless; or the file is valid, and the newest OpenVINO does not compile it.
- **info**: worth knowing; nothing is wrong.

"error or warning" means that the findings of a rule differ in severity; the fragment then shows an error. The tests run
the bad file of every rule on the runtime: a file with a warning runs, and a file with an error does not, or is listed
in `tests/rules/test_severity.py` with the reason.
"""
GROUPS = {
    "IR0": "Bytes, XML and weights",
    "IR1": "Structure: layers, ids, ports, edges, bodies",
    "IR2": "Operations: attributes, inputs, outputs, element types",
    "IR3": "Shapes: what is recorded against what is computed",
    "IR4": "Suspect settings",
    "IR5": "Compatibility",
    "RUN": "What the reference and the installed runtime (`--runtime`) do",
}
"""Headings by the beginning of the code."""


def listing() -> str:
    """Return the page."""
    return HEAD + "".join(_groups())


def _groups() -> Iterator[str]:
    for group, heading in GROUPS.items():
        rules = [rule for rule in RULES if rule.code.startswith(group)]
        if not rules:
            continue
        yield f"\n## {heading}\n\n| code | name | severity | what is wrong |\n|---|---|---|---|\n"
        for rule in rules:
            yield f"| [{rule.code}](#{rule.code.lower()}) | {rule.name} | {rule.severity_text} | {_summary(rule)} |\n"
    yield "\n## In full\n"
    for rule in RULES:
        yield f"\n### {rule.code}\n\n**{rule.name}** ({rule.severity_text})\n\n{_text(rule)}\n"


def _summary(rule: Rule) -> str:
    return rule.what


def _text(rule: Rule) -> str:
    """Return the documentation with its fragments as blocks of XML."""
    lines: list[str] = []
    fenced = False
    for line in rule.doc.splitlines():
        inside = line.startswith("    ") or (fenced and not line.strip())
        if inside and not fenced:
            lines.append("```xml")
        if fenced and not inside:
            while not lines[-1].strip():
                lines.pop()
            lines += ["```", ""]
        lines.append(line[4:] if inside else line + "\n" if line in {"Bad:", "Good:"} else line)
        fenced = inside
    return "\n".join([*lines, "```"] if fenced else lines)


if __name__ == "__main__":
    print(listing(), end="")
