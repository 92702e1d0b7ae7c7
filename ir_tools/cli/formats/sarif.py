"""Diagnostics as SARIF 2.1.0, the format that code-scanning services take.

Specification: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Files below `root` get paths relative to it, as such a
service wants them; others get a `file:` address.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from ir_tools import __version__
from ir_tools.cli.checking import Checked
from ir_tools.cli.formats._texts import fingerprint, json_text
from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.rules import RULES, Rule

__all__ = ["sarif_log", "to_sarif"]

SCHEMA = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

Json = dict[str, object]


def to_sarif(checked: Sequence[Checked]) -> str:
    """Return one log with one run, with paths relative to the current folder."""
    log = sarif_log([finding for file in checked for finding in file.findings], version=__version__, root=Path.cwd())
    return json_text(log)


def sarif_log(found: Sequence[Diagnostic], *, version: str, root: Path) -> Json:
    """Return one log with one run.

    Args:
        found: the findings.
        version: of ir_tools.
        root: the folder that paths are relative to.
    """
    codes = sorted({diagnostic.code for diagnostic in found})
    known = {rule.code: rule for rule in RULES}
    driver: Json = {
        "name": "ir-tools",
        "version": version,
        "semanticVersion": version,
        "rules": [_rule(code, known.get(code)) for code in codes],
    }
    run: Json = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"uri": root.resolve().as_uri() + "/"}},
        "results": [_result(finding, codes, root) for finding in found],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, rule: Rule | None) -> Json:
    if rule is None:
        return {"id": code}
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": rule.doc},
        "help": {"text": rule.doc},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _result(diagnostic: Diagnostic, codes: Sequence[str], root: Path) -> Json:
    text = f"{diagnostic.message}; {diagnostic.help}" if diagnostic.help else diagnostic.message
    key = "\0".join((diagnostic.code, diagnostic.path or diagnostic.layer_name or "", diagnostic.message))
    result: Json = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": LEVELS[diagnostic.severity],
        "message": {"text": text},
        "partialFingerprints": {"layerAndMessage/v1": fingerprint(key)},
    }
    location: Json = {}
    if diagnostic.file:
        location["physicalLocation"] = _physical(diagnostic, root)
    if diagnostic.layer_name or diagnostic.path:
        location["logicalLocations"] = [_logical(diagnostic)]
    return {**result, "locations": [location]} if location else result


def _physical(diagnostic: Diagnostic, root: Path) -> Json:
    path = Path(diagnostic.file or "")
    try:
        relative = path.resolve().relative_to(root.resolve()).as_posix()
        artifact: Json = {"uri": quote(os.fsencode(relative)), "uriBaseId": "SRCROOT"}
    except ValueError:
        artifact = {"uri": path.resolve().as_uri()}
    region: Json = {"startLine": diagnostic.line}
    if diagnostic.column:
        region["startColumn"] = diagnostic.column
        region["endColumn"] = diagnostic.end_column or diagnostic.column + 1
    return {"artifactLocation": artifact, **({"region": region} if diagnostic.line else {})}


def _logical(diagnostic: Diagnostic) -> Json:
    named: Json = {"name": diagnostic.layer_name or diagnostic.path, "kind": "element"}
    return {**named, "fullyQualifiedName": diagnostic.path} if diagnostic.path else named
