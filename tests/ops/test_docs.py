"""The complete example of docs/adding-an-operation.md against the files that it names."""

import re

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "adding-an-operation.md").read_text(encoding="utf-8")
TABLE = re.compile(r"ROWS = [({]\n.*?\.\.\.,\n(.*)[)}]\n", re.DOTALL)


def test_the_complete_example_is_in_the_files_that_it_names() -> None:
    (section,) = re.findall(r"^## 8\. A complete example.*", PAGE, re.DOTALL | re.MULTILINE)
    parts = section.partition("with the files.")[2].split("```")
    blocks = [(text, code.removeprefix("python\n")) for text, code in zip(parts[::2], parts[1::2], strict=False)]
    assert len(blocks) == 4
    for text, code in blocks[:3]:
        (path,) = re.findall(r"`((?:ir_tools|tests)/[\w/]+\.py)`", text)
        row = TABLE.fullmatch(code)
        assert (row[1] if row else code) in (ROOT / path).read_text(encoding="utf-8"), path
