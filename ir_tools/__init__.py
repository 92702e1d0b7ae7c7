"""Check, move and prove OpenVINO IR models."""

__version__ = "0.1.0"
