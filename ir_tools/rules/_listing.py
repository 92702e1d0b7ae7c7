"""The code table as a page of documentation; `python -m ir_tools.rules._listing` prints it."""

from collections.abc import Iterator

from ir_tools.rules import RULES, Rule

__all__ = ["listing"]

HEAD = """# Rules

What `ir-tools validate` finds, by code. This page is made from the table in `ir_tools/rules`; `ir-tools explain CODE`
shows the same. The examples are in the files that the tests of the rules run on.

## Severity

- **error**: the runtime refuses the file, crashes on it, does not end or runs out of memory; or the file has no single
  meaning: it breaks the rules of XML, two parts of it contradict each other, or the runtime does not read a part that
  changes the meaning.
- **warning**: the file runs and has one meaning, but hardly the intended one: the runtime assumes an attribute that the
  specification requires, ignores what changes nothing, or computes what nobody would ask for.
- **info**: worth knowing; nothing is wrong.

"error or warning": the findings of the rule differ, and the fragment shows one of the worst. The tests run every bad
file on the runtime: a file with a warning runs, and a file with an error does not, or is listed in
`tests/rules/test_severity.py` with the reason.
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
