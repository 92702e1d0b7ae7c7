"""Bytes, XML and weights."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

UNREADABLE_FILE = Rule(
    "IR001",
    "unreadable-file",
    Severity.ERROR,
    what="The file does not exist, is a folder, or cannot be opened.",
    why="nothing can be checked.",
)
MALFORMED_XML = Rule(
    "IR002",
    "malformed-xml",
    Severity.ERROR,
    what=(
        "The text is not well-formed XML: tags that do not match, repeated attributes, forbidden characters, a second "
        "root."
    ),
    why=(
        "the runtime's parser accepts many such files but reads them differently from other tools; if it "
        "rejects one, its message has only an offset in bytes."
    ),
    bad='<port id="0" precision="FP32" precision="FP16">',
    good='<port id="0" precision="FP32">',
)
WRONG_ENCODING = Rule(
    "IR003",
    "wrong-encoding",
    Severity.ERROR,
    what="The bytes of the file are not valid text in its encoding, or that encoding is unknown.",
    why=(
        "names are decoded wrongly, and tools disagree about them; a byte 0xff in a name makes the runtime "
        "fail later, when a program asks for that name."
    ),
    bad='<?xml version="1.0" encoding="klingon"?>',
    good='<?xml version="1.0" encoding="utf-8"?>',
)
DOCUMENT_TYPE = Rule(
    "IR004",
    "document-type",
    Severity.ERROR,
    what="The file has a DOCTYPE.",
    why=(
        "IR has no document type, and a DOCTYPE is a risk in untrusted files: its entities can expand without "
        "limit or read local files into the model."
    ),
    bad='<!DOCTYPE net [<!ENTITY size "8">]>',
    good='<net name="model" version="11">',
)
NESTED_TOO_DEEP = Rule(
    "IR005",
    "nested-too-deep",
    Severity.ERROR,
    what="Elements or bodies are nested deeper than any model needs: more than 64 bodies inside each other.",
    why="the runtime reads them recursively and crashes when the stack is full.",
    bad='<layer id="1" name="loop" type="TensorIterator" version="opset1">',
    good='<layer id="1" name="relu" type="ReLU" version="opset1">',
)
NO_IR = Rule(
    "IR006",
    "no-ir",
    Severity.ERROR,
    what="The root element is not <net>.",
    why="the file is not an IR, or was wrapped by another tool.",
    bad='<model name="model" version="11">',
    good='<net name="model" version="11">',
)
UNKNOWN_IR_VERSION = Rule(
    "IR007",
    "unknown-ir-version",
    Severity.ERROR,
    what="The version of <net> is missing, is not a number, or is one that no release reads.",
    why=(
        "the version determines how everything else is read. OpenVINO 2022.1 and later read versions 10 and 11; "
        "2021 reads version 10."
    ),
    bad='<net name="model" version="12">',
    good='<net name="model" version="11">',
)
LEGACY_IR_VERSION = Rule(
    "IR008",
    "legacy-ir-version",
    Severity.INFO,
    what="The file is an IR of version 2 to 7, which releases up to 2020 wrote.",
    why=(
        'OpenVINO 2021 and later do not read it ("The support of IR v5 has been removed from the product"); '
        "`ir-tools migrate` converts it to IR v11."
    ),
    bad='<net name="model" version="7">',
    good='<net name="model" version="11">',
)
EMPTY_FILE = Rule(
    "IR009",
    "empty-file",
    Severity.ERROR,
    what="The file is empty or contains only whitespace.",
    why="it was truncated, or never written.",
    good='<net name="model" version="11">',
)
UNREADABLE_WEIGHTS = Rule(
    "IR010",
    "unreadable-weights",
    Severity.ERROR,
    what="The `.bin` exists but cannot be opened: it is a folder, or its permissions forbid it.",
    why='the values of the constants are unknown; the runtime says that the file "cannot be found".',
)
MISSING_WEIGHTS = Rule(
    "IR011",
    "missing-weights",
    Severity.ERROR,
    what="The file has constants with bytes in the `.bin`, but there is no `.bin`.",
    why=(
        'the values of the constants are unknown; the runtime says "Empty weights data in bin file or bin file '
        'cannot be found!".'
    ),
    bad='<data element_type="f32" shape="1" offset="0" size="4" />',
    good='<data auto_broadcast="numpy" />',
)
CONSTANT_OUTSIDE_WEIGHTS = Rule(
    "IR012",
    "constant-outside-weights",
    Severity.ERROR,
    what="The offset and size of a Const reach beyond the end of the `.bin`.",
    why=(
        "the `.bin` was truncated or belongs to another model, or the offset is wrong; the runtime says "
        '"Incorrect weights in bin file!" and names no layer.'
    ),
    bad='<data element_type="f32" shape="1" offset="8" size="4" />',
    good='<data element_type="f32" shape="1" offset="0" size="4" />',
)
WRONG_CONSTANT_SIZE = Rule(
    "IR013",
    "wrong-constant-size",
    Severity.ERROR,
    what=(
        "The size of a Const does not match its shape and element type; in IR v2 to v7, weights are not as many as "
        "their layer takes."
    ),
    why=(
        "the runtime rejects a size that is too small; if the size is too large, it silently uses only the first bytes."
    ),
    bad='<data element_type="f32" shape="1" offset="0" size="8" />',
    good='<data element_type="f32" shape="1" offset="0" size="4" />',
)
BAD_CONSTANT = Rule(
    "IR014",
    "bad-constant",
    Severity.ERROR,
    what=(
        "The element_type, shape, offset or size of a Const is missing or invalid, or a layer of IR v2 to v7 lacks its "
        "weights."
    ),
    why=(
        "the value of the constant is unknown. The runtime reads unsigned integers, and silently reads 1.5 in a "
        "shape as 1."
    ),
    bad='<data element_type="f33" shape="1" offset="0" size="4" />',
    good='<data element_type="f32" shape="1" offset="0" size="4" />',
)
TOO_LARGE_FILE = Rule(
    "IR015",
    "too-large-file",
    Severity.ERROR,
    what="The `.xml` is larger than 1 GiB.",
    why="ir_tools does not read such a file. The `.xml` of a model with a million layers has half that size.",
)
FOREIGN_ENCODING = Rule(
    "IR016",
    "foreign-encoding",
    Severity.WARNING,
    what="The file has characters beyond ASCII and an encoding that the runtime does not support.",
    why="the runtime supports UTF-8, UTF-16, UTF-32 and ISO-8859-1, and decodes every other encoding as UTF-8.",
    bad='<?xml version="1.0" encoding="cp1251"?>',
    good='<?xml version="1.0" encoding="utf-8"?>',
)
BAD_STRING_CONSTANT = Rule(
    "IR017",
    "bad-string-constant",
    Severity.ERROR,
    what=(
        "The bytes of a string constant do not have the layout of strings, or hold another number of strings than "
        "its shape."
    ),
    why=(
        "the bytes are a table (the number of strings, the offset of each, the end of the last) followed by "
        "the text; with a wrong table the runtime reads outside the constant."
    ),
    bad='<data element_type="string" shape="3" offset="0" size="21" />',
    good='<data element_type="string" shape="2" offset="0" size="21" />',
)
OVERLAPPING_CONSTANTS = Rule(
    "IR018",
    "overlapping-constants",
    Severity.WARNING,
    what="The bytes of two constants overlap partly.",
    why=(
        "the offset or size of one of them is wrong, so it has values of the other one. Equal constants may "
        "share all of their bytes, but not some of them."
    ),
    bad='<data element_type="f32" shape="4" offset="12" size="16" />',
    good='<data element_type="f32" shape="4" offset="16" size="16" />',
)
UNREAD_WEIGHTS = Rule(
    "IR019",
    "unread-weights",
    Severity.WARNING,
    what="The `.bin` has bytes that no constant reads.",
    why=(
        "the `.bin` may belong to another model, the offset or size of a constant may be wrong, or a constant "
        "was deleted. Up to 63 zero bytes between two constants or at the end count as padding."
    ),
    bad='<data element_type="f32" shape="16" offset="64" size="64" />',
    good='<data element_type="f32" shape="32" offset="0" size="128" />',
)
NON_FINITE_CONSTANT = Rule(
    "IR020",
    "non-finite-constant",
    Severity.WARNING,
    what="A constant has NaN, or has infinity in a place where it is not a bound or a mask.",
    why=(
        "every value computed from it is NaN or infinite. Typical causes are an overflow in half precision and "
        "a `.bin` of another model. Infinity is not reported in a bound or in a mask that is added (minus "
        "infinity and one other value, or minus infinity in at least a quarter of the elements), but is in "
        "weights and in factors of a product."
    ),
    bad='<layer id="1" name="weights_with_nan" type="Const" version="opset1">',
    good='<layer id="1" name="weights" type="Const" version="opset1">',
)
GIT_LFS_POINTER = Rule(
    "IR021",
    "git-lfs-pointer",
    Severity.ERROR,
    what="The `.xml` or the `.bin` is a Git LFS pointer, not the file itself.",
    why=(
        "the repository was cloned without Git LFS, or large files were skipped. The runtime's message is "
        "misleading: it calls the format of the `.xml` unknown, or the `.bin` too short."
    ),
    bad="version https://git-lfs.github.com/spec/v1",
    good='<net name="model" version="11">',
)
IMPLAUSIBLE_WEIGHTS = Rule(
    "IR022",
    "implausible-weights",
    Severity.WARNING,
    what="A constant has several numbers larger than 1e20, or the weights of a layer are all 0.",
    why=(
        "the bytes are probably not those that the exporter wrote: a `.bin` of another model, of a big-endian "
        "computer, shifted by a header, or copied in part, so that the rest is zeros. Large numbers are reported if "
        "at least three different ones are among the first 4096 elements, and zeros if they are the weights of a "
        "convolution, MatMul or recurrent layer, and at least 16."
    ),
    bad='<layer id="1" name="weights_of_zeros" type="Const" version="opset1">',
    good='<layer id="1" name="weights" type="Const" version="opset1">',
)
