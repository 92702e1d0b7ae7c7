"""nGraph's AvgPool as layers of today: the worked example of its documentation, in numpy and on OpenVINO."""

import numpy as np

import ir_tools

IMAGE = np.array([[1, 3, 5], [7, 11, 13], [17, 19, 23]], np.float32).reshape(1, 1, 3, 3)


def main() -> None:
    for include in (False, True):
        pooling = ir_tools.ngraph.avg_pool((2, 2), strides=(1, 1), padding_below=(1, 1), include_padding=include)
        model = ir_tools.ngraph.to_model(pooling, "1,1,3,3", to="opset8")
        print(f"include_padding {'on' if include else 'off'}:")
        print(ir_tools.run(model, {"data": IMAGE})["AvgPool"][0, 0])
        print(f"the same values on OpenVINO: {ir_tools.compare(model, inputs={'data': IMAGE}).ok}")


if __name__ == "__main__":
    main()
