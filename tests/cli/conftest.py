"""The command line in this process, and small models on disk."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ir_tools.cli import main

Dims = tuple[int, ...]


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def is_one_line(self) -> bool:
        """Whether all that came of the command is a line of what is wrong with its words or files."""
        return (self.code, self.out, self.err.count("\n")) == (2, "", 1)

    @property
    def document(self) -> dict[str, Any]:
        """Standard output as the one JSON document that it has to be."""
        loaded = json.loads(self.out)
        assert isinstance(loaded, dict)
        return loaded


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*words: object) -> Outcome:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Outcome(int(ended.value.code or 0), out, err)

    return call


def port(number: int, dims: Dims, side: str = "") -> str:
    sizes = "".join(f"<dim>{size}</dim>" for size in dims)
    return f'<port id="{number}" precision="FP32"{side}>{sizes}</port>'


def pooling_xml(
    attributes: str = 'kernel="2,2" strides="2,2" pads_begin="0,0" pads_end="0,0" exclude-pad="true"',
    *,
    version: str = "opset1",
    dims: Dims = (1, 2, 8, 8),
    recorded: Dims = (1, 2, 4, 4),
    name: str = "pool",
) -> str:
    """Parameter -> AvgPool -> Result."""
    shape = ",".join(map(str, dims))
    return f"""<?xml version="1.0"?>
<net name="small" version="11">
	<layers>
		<layer id="0" name="data" type="Parameter" version="opset1">
			<data shape="{shape}" element_type="f32" />
			<output>{port(0, dims, ' names="data"')}</output>
		</layer>
		<layer id="1" name="{name}" type="AvgPool" version="{version}">
			<data {attributes} />
			<input>{port(0, dims)}</input>
			<output>{port(1, recorded, ' names="pooled"')}</output>
		</layer>
		<layer id="2" name="result" type="Result" version="opset1">
			<input>{port(0, recorded)}</input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="1" to-port="0" />
		<edge from-layer="1" from-port="1" to-layer="2" to-port="0" />
	</edges>
	<rt_info>
		<Runtime_version value="2026.4.1-test" />
	</rt_info>
</net>
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """An AvgPool-1 over [1, 2, 8, 8]."""
    path = tmp_path / "model.xml"
    path.write_text(pooling_xml())
    return path


@pytest.fixture
def dilated(tmp_path: Path) -> Path:
    """An AvgPool-16 with dilations."""
    settings = 'kernel="2,2" strides="1,1" pads_begin="0,0" pads_end="0,0" dilations="2,2" exclude-pad="true"'
    path = tmp_path / "dilated.xml"
    path.write_text(pooling_xml(settings, version="opset16", recorded=(1, 2, 6, 6)))
    return path
