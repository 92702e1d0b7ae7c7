"""An AvgPool-1 as old files have it, attributes missing and misspelled, becomes the opset8 layer that means the same.

The runtime does not read `exclude_pad` (the attribute is `exclude-pad`) and takes its absence for true. The migrated
layer says so, with the complete set of attributes; everything else in the file keeps its bytes.
"""

import difflib

import numpy as np

import ir_tools
from ir_tools.format.write import render

LEGACY = b"""<?xml version="1.0" ?>
<net name="legacy" version="10">
	<layers>
		<layer id="0" name="data" type="Parameter" version="opset1">
			<data element_type="f32" shape="1,1,4,4"/>
			<output><port id="0" precision="FP32"><dim>1</dim><dim>1</dim><dim>4</dim><dim>4</dim></port></output>
		</layer>
		<layer id="1" name="pool" type="AvgPool" version="opset1">
			<data exclude_pad="false" kernel="3,3" pads_begin="1,1" pads_end="1,1" strides="1,1"/>
			<input><port id="0"><dim>1</dim><dim>1</dim><dim>4</dim><dim>4</dim></port></input>
			<output><port id="1" precision="FP32"><dim>1</dim><dim>1</dim><dim>4</dim><dim>4</dim></port></output>
		</layer>
		<layer id="2" name="result" type="Result" version="opset1">
			<input><port id="0"><dim>1</dim><dim>1</dim><dim>4</dim><dim>4</dim></port></input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
		<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
	</edges>
</net>
"""


def main() -> None:
    model = ir_tools.read(LEGACY)
    migration = ir_tools.migrate(model, to="opset8")
    for step in migration.steps:
        print(f"{step.path}: {step.before} -> {step.after}: {step.proof}")
        for note in step.notes:
            print(f"  note: {note}")

    before, after = LEGACY.decode().splitlines(), render(migration.model).decode().splitlines()
    print(
        *(line for line in difflib.unified_diff(before, after, lineterm="", n=0) if line[:2] not in ("--", "++", "@@")),
        sep="\n",
    )

    data = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    corner = ir_tools.run(migration.model, {"data": data})["pool"][0, 0, 0, 0]
    print(f"the corner is {corner} = (0 + 1 + 4 + 5) / 4: padding does not count")
    print("the same on OpenVINO:", ir_tools.compare(model, migration.model).ok)


if __name__ == "__main__":
    main()
