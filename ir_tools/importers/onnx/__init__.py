"""ONNX files: what they hold, and their conversion by OpenVINO's frontend with our extension."""
