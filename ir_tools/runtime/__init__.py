"""The OpenVINO runtime, always in a child process."""
