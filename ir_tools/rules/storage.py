"""Bytes, XML and weights."""

from ir_tools.diagnostics import Severity
from ir_tools.rules.define import Rule

UNREADABLE_FILE = Rule(
    "IR001",
    "unreadable-file",
    Severity.ERROR,
    what="There is no such file, it is a folder, or it may not be read.",
    why="nothing can be said about it.",
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
        "the runtime's parser lets much of it pass, and reads something else than other tools do; what it rejects, "
        "it rejects with an offset in bytes."
    ),
    bad='<port id="0" precision="FP32" precision="FP16">',
    good='<port id="0" precision="FP32">',
)
WRONG_ENCODING = Rule(
    "IR003",
    "wrong-encoding",
    Severity.ERROR,
    what="The bytes are not text in the encoding of the file, or that encoding is not known.",
    why=(
        "names come out wrong, and tools disagree about them; a bare byte 0xff in a name makes the runtime fail "
        "later, when somebody asks for that name."
    ),
    bad='<?xml version="1.0" encoding="klingon"?>',
    good='<?xml version="1.0" encoding="utf-8"?>',
)
DOCUMENT_TYPE = Rule(
    "IR004",
    "document-type",
    Severity.ERROR,
    what="There is a DOCTYPE.",
    why=(
        "IR has no document type, and what one may do (entities that grow without end, files of this machine that "
        "are read into the model) has no place in files from strangers."
    ),
    bad='<!DOCTYPE net [<!ENTITY size "8">]>',
    good='<net name="model" version="11">',
)
NESTED_TOO_DEEP = Rule(
    "IR005",
    "nested-too-deep",
    Severity.ERROR,
    what="Elements or bodies are nested deeper than any model needs: more than 64 bodies inside each other.",
    why="the runtime follows them by recursion and crashes when the stack is full.",
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
    what="The <net> has no version, one that is not a number, or one that no release reads.",
    why="the version determines how everything else is read; releases from 2022.1 on read 10 and 11, 2021 reads 10.",
    bad='<net name="model" version="12">',
    good='<net name="model" version="11">',
)
LEGACY_IR_VERSION = Rule(
    "IR008",
    "legacy-ir-version",
    Severity.INFO,
    what="The file is an IR of version 2 to 7, as releases up to 2020 wrote them.",
    why=(
        'no release from 2021 on reads it ("The support of IR v5 has been removed from the product"); '
        "`ir-tools migrate` converts it to IR v11."
    ),
    bad='<net name="model" version="7">',
    good='<net name="model" version="11">',
)
EMPTY_FILE = Rule(
    "IR009",
    "empty-file",
    Severity.ERROR,
    what="The file is empty, or holds nothing but blanks.",
    why="it was cut off, or never written.",
    good='<net name="model" version="11">',
)
UNREADABLE_WEIGHTS = Rule(
    "IR010",
    "unreadable-weights",
    Severity.ERROR,
    what="The `.bin` exists but cannot be opened: it is a folder, or may not be read.",
    why='the runtime says that it "cannot be found".',
)
MISSING_WEIGHTS = Rule(
    "IR011",
    "missing-weights",
    Severity.ERROR,
    what="Constants have bytes in the `.bin`, but there is no `.bin`.",
    why='the values are not known; the runtime says "Empty weights data in bin file or bin file cannot be found!".',
    bad='<data element_type="f32" shape="1" offset="0" size="4" />',
    good='<data auto_broadcast="numpy" />',
)
CONSTANT_OUTSIDE_WEIGHTS = Rule(
    "IR012",
    "constant-outside-weights",
    Severity.ERROR,
    what="A Const names bytes that lie beyond the end of the `.bin`.",
    why=(
        'the file was cut off, belongs to another model, or the offset is wrong; the runtime says "Incorrect '
        'weights in bin file!" and names no layer.'
    ),
    bad='<data element_type="f32" shape="1" offset="8" size="4" />',
    good='<data element_type="f32" shape="1" offset="0" size="4" />',
)
WRONG_CONSTANT_SIZE = Rule(
    "IR013",
    "wrong-constant-size",
    Severity.ERROR,
    what="The size of a Const is not what its shape and element type take.",
    why=(
        "the runtime rejects a size that is too small; one that is too large it accepts, and uses the first bytes only."
    ),
    bad='<data element_type="f32" shape="1" offset="0" size="8" />',
    good='<data element_type="f32" shape="1" offset="0" size="4" />',
)
BAD_CONSTANT = Rule(
    "IR014",
    "bad-constant",
    Severity.ERROR,
    what="An attribute of a Const is missing or cannot be read: element_type, shape, offset or size.",
    why="its value is not known. The runtime reads integers without a sign; of 1.5 in a shape it silently takes the 1.",
    bad='<data element_type="f33" shape="1" offset="0" size="4" />',
    good='<data element_type="f32" shape="1" offset="0" size="4" />',
)
TOO_LARGE_FILE = Rule(
    "IR015",
    "too-large-file",
    Severity.ERROR,
    what="The `.xml` has more than 1 GiB.",
    why="a model of a million layers takes half of that.",
)
FOREIGN_ENCODING = Rule(
    "IR016",
    "foreign-encoding",
    Severity.WARNING,
    what="The file has an encoding that the runtime does not know, and letters beyond ASCII.",
    why="the runtime knows UTF-8, UTF-16, UTF-32 and ISO-8859-1, and takes the bytes of any other for UTF-8.",
    bad='<?xml version="1.0" encoding="cp1251"?>',
    good='<?xml version="1.0" encoding="utf-8"?>',
)
BAD_STRING_CONSTANT = Rule(
    "IR017",
    "bad-string-constant",
    Severity.ERROR,
    what="The bytes of a string constant are not laid out as strings, or are not as many as the shape says.",
    why=(
        "they are a table (how many, where each begins, where the last ends) and the text; a table that is wrong "
        "leads out of the constant."
    ),
    bad='<data element_type="string" shape="3" offset="0" size="21" />',
    good='<data element_type="string" shape="2" offset="0" size="21" />',
)
OVERLAPPING_CONSTANTS = Rule(
    "IR018",
    "overlapping-constants",
    Severity.WARNING,
    what="Two constants share a part of their bytes.",
    why=(
        "offset or size of one of the two is wrong, so that its numbers are those of another. Equal constants share"
        " all of their bytes, never a part."
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
        "the `.bin` may belong to another model, offset or size of a constant may be wrong, or a constant was "
        "deleted. Up to 63 zeros between two constants or at the end count as padding."
    ),
    bad='<data element_type="f32" shape="16" offset="64" size="64" />',
    good='<data element_type="f32" shape="32" offset="0" size="128" />',
)
NON_FINITE_CONSTANT = Rule(
    "IR020",
    "non-finite-constant",
    Severity.WARNING,
    what="A constant holds NaN, or infinity where it makes no sense.",
    why=(
        "everything computed from it is NaN or infinite. Numbers that overflow in half precision and weights that "
        "belong to another model look like this. Infinity is fine as a bound, and as a mask that is added: minus "
        "infinity beside one other value, or in a quarter of the elements and more; not in weights, nor in what is "
        "multiplied."
    ),
    bad='<layer id="1" name="weights_with_nan" type="Const" version="opset1">',
    good='<layer id="1" name="weights" type="Const" version="opset1">',
)
GIT_LFS_POINTER = Rule(
    "IR021",
    "git-lfs-pointer",
    Severity.ERROR,
    what="The `.xml` or the `.bin` is a pointer of Git LFS, not the file itself.",
    why=(
        "the repository was cloned without Git LFS, or large files were left out. The runtime does not say so: it "
        "calls the format of the `.xml` unknown and the `.bin` too short."
    ),
    bad="version https://git-lfs.github.com/spec/v1",
    good='<net name="model" version="11">',
)
