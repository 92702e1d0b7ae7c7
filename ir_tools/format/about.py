"""Who made a model: what its file says outside the layers."""

from ir_tools.format.content import SourceFile
from ir_tools.graph import Model

__all__ = ["about"]

_PLACES = ("rt_info", "meta_data")
_FACTS = ("MO_version", "Runtime_version", "IE_VERSION", "legacy_frontend")
_FRAMEWORK = ("framework", "conversion_parameters/framework", "cli_parameters/framework")


def about(model: Model) -> dict[str, str]:
    """Return `{"MO_version": ..., "Runtime_version": ..., "framework": ...}`: what of it the file holds."""
    if not isinstance(model.origin, SourceFile):
        return {}
    found: dict[str, str] = {}
    root = model.origin.document.root
    for place in _PLACES:
        for path in (*_FACTS, *_FRAMEWORK):
            element = root.find(f"{place}/{path}")
            value = element.get("value") if element is not None else None
            if value:
                found.setdefault(path.rpartition("/")[2], value)
    return found
