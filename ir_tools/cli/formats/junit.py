"""Findings as a JUnit report: a file is a suite, a finding with which `validate` fails a test case that failed.

It is valid by the schemas of Jenkins (`junit-10.xsd`) and of Apache Ant (`JUnit.xsd`); the latter asks for times and a
host, which mean nothing here.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ir_tools.cli.checking import Checked
from ir_tools.cli.formats._texts import relative, sentence
from ir_tools.cli.plain_text import visible
from ir_tools.diagnostics import Diagnostic

__all__ = ["to_junit"]


def to_junit(checked: Sequence[Checked]) -> str:
    """Return the report. Findings that do not fail are output of the suite, in which one case passes if none fails."""
    root, now = Path.cwd(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    suites = Element("testsuites")
    for number, file in enumerate(checked):
        _add_suite(suites, number, file, visible(relative(str(file.file), root)), now)
    indent(suites)
    return tostring(suites, encoding="unicode", xml_declaration=True)


def _add_suite(suites: Element, number: int, file: Checked, name: str, now: str) -> None:
    failures = file.failures
    suite = SubElement(
        suites,
        "testsuite",
        name=name,
        tests=str(max(len(failures), 1)),
        failures=str(len(failures)),
        errors="0",
        skipped="0",
        time="0",
        timestamp=now,
        hostname="localhost",
        package="ir-tools",
        id=str(number),
    )
    SubElement(suite, "properties")
    for index, finding in enumerate(failures, 1):
        case = SubElement(suite, "testcase", name=f"{index}: {_title(finding)}", classname=name, time="0")
        failure = SubElement(case, "failure", type=finding.code, message=sentence(finding))
        failure.text = visible(str(finding))
    if not failures:
        SubElement(suite, "testcase", name="valid", classname=name, time="0")
    rest = [finding for finding in file.findings if finding.severity not in file.task.failing]
    SubElement(suite, "system-out").text = "\n".join(visible(str(finding)) for finding in rest)
    SubElement(suite, "system-err")


def _title(finding: Diagnostic) -> str:
    line = f"line {finding.line}" if finding.line else ""
    return visible(" ".join(filter(None, (finding.code, line, finding.layer))))
