"""The `.bin`: stub to be replaced."""


class Weights:
    """Mapped weights."""
