"""The bytes on disk: the document as it was read, exact places in it, and edits that leave the rest alone."""

from ir_tools.source.document import Document, Element, Span, Wiring
from ir_tools.source.encoding import MAX_SIZE, may_begin_so
from ir_tools.source.patch import Patch
from ir_tools.source.style import Style

__all__ = ["MAX_SIZE", "Document", "Element", "Patch", "Span", "Style", "Wiring", "may_begin_so"]
