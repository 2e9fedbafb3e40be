"""The wire format between the worker process and the main one: flat tables of numbers and strings.

One row of `nodes` a syntax node, in pre-order; a node's children are the rows after it with depth one greater.

    depth kind start end flags type aux        (seven 32-bit columns)

`start` and `end` are byte offsets into the file of the node's top-level declaration; `flags` says where that is not
the whole truth; `aux` is a declaration, an operator or a value, by kind. Tables are marshalled: both sides run one
interpreter, and a tree of 100,000 nodes crosses in milliseconds.
"""

# no `from __future__ import annotations`: the worker would compile the text of every field of `Dump` when it starts
import marshal
from array import array
from typing import Final, Literal, NamedTuple, cast

__all__ = [
    "ANONYMOUS",
    "BEGINS_IN_MACRO",
    "COLUMNS",
    "CONST",
    "ELSEWHERE",
    "ENDS_IN_MACRO",
    "INITIALIZER",
    "INSTANCE",
    "LENGTH_BYTES",
    "PATTERN",
    "SEEKS_ENQUEUES",
    "SEEKS_HOST_USES",
    "VIRTUAL",
    "Blocks",
    "Declared",
    "Detail",
    "Diagnostic",
    "Dump",
    "Given",
    "LaunchRow",
    "Mark",
    "MemberRow",
    "RecordRow",
    "Request",
    "TypeRow",
    "decode_dump",
    "encode_dump",
    "frame_bytes",
    "length",
]  # fmt: skip

BEGINS_IN_MACRO: Final = 1
ENDS_IN_MACRO: Final = 2
ELSEWHERE: Final = 4
"""The node's text is in another file than its top-level declaration (`#include` inside a function)."""

INITIALIZER: Final = 8
"""Of device code: the node is what a variable, a parameter or a field is made from."""

COLUMNS: Final = 7

SEEKS_HOST_USES: Final = "-DWARPSMITH_HOST_USES"
"""The option of a request for what device code uses of the host (device/uses.py): diagnostics come with their notes, a
line `file:line: text` each, and what clang takes and no device does is told as diagnostics too."""

SEEKS_ENQUEUES: Final = "-DWARPSMITH_ENQUEUES"
"""The option of a request for the launches in host code of OpenCL (device/enqueues.py)."""

LENGTH_BYTES: Final = 8
"""What crosses has its length before it, in this many bytes."""

VIRTUAL: Final = 1
INSTANCE: Final = 2
"""A function that a template made."""
PATTERN: Final = 16
"""A member of a class template as it is written: nothing is known of its types."""
CONST: Final = 8
"""A method that may be called of const objects."""
ANONYMOUS: Final = 4
"""Declared in an unnamed namespace: other files may have another one of this name."""

# path, arguments, text in place of the file's (or None), most nodes, only the diagnostics are wanted
Request = tuple[str, list[str], bytes | None, int, bool]
# severity (3 error, 4 fatal), message, file, line, offset
Diagnostic = tuple[int, str, str, int, int]
# kind, name, type, linkage, storage class, file, name's offset, key text, value (of an enumerator, and of a constant
# integer that has one for good), system header, function's attributes
Declared = tuple[int, str, int, int, int, int, int, str, int | None, bool, bool]
# of a function, method or variable of C++: qualified name, name in addresses, type of its class (-1 none), bits below
Detail = tuple[str, str, int, int]
# tag of the row, kind or inner type, further numbers, spelling
TypeRow = tuple[str, int, tuple[int, ...], str]
# name, type, offset in bits, bits of a bit-field (0: none), has a value of its own where an object is made
MemberRow = tuple[str, int, int, int, bool]
# tag, size in bytes (-1 unknown), union, members, file, start, end, copied as bytes, has a destructor of the user's,
# names of the members that are not public, alignment in bytes, has one base class, an object that is made from nothing
# gets values (0: no, 1: by those of its members, 2: by a constructor of the user's or of a base class), the type of the
# base class that an object begins with (-1: none), the types of all base classes (-1: not known), each with whether it
# certainly stands at the start of an object
RecordRow = tuple[
    str, int, bool, list[MemberRow], int, int, int, bool, bool, list[str], int, bool, int, int, list[tuple[int, bool]]
]
# of a declaration in device code: its attributes' words, its first line as clang prints it ("" where not needed)
Mark = tuple[list[str], str]
# blocks that a launch may have, and whether it has no others
Blocks = tuple[list[list[int]], bool]
# of each argument of a launch: the whole numbers that it may be, None where it may be others, or is none
Given = list[list[int] | None]
# a `<<<…>>>`: declaration row of the kernel (of OpenCL: the number of its name in `values`), file, start, end, grid,
# block (None: not known), dynamic shared bytes, blocks, arguments (none where it is not known what they are)
LaunchRow = tuple[int, int, int, int, list[int | None], list[int | None], int | None, Blocks, Given]
# what a loop of host code repeats for nothing: the function called, `allocated`, `in` or `out`, names of the device's
# and the host's block, conditions (kind, name), file, start and end of the call, start and end of the loop's head
TransferRow = tuple[str, Literal["allocated", "in", "out"], list[str], list[tuple[str, str]], int, int, int, int, int]


# a tuple: to load what makes dataclasses takes the worker as long as to start
class Dump(NamedTuple):
    """One parsed file. `files` are paths as clang names them (0: the main file); `user` which of them are the user's.

    `macro_definitions` and `macro_uses` are (name, file, start, end); `tops` is (node, file) of every top-level
    declaration outside system headers; `exceeded`: the walk stopped at the node limit. Of C++ only: `instances` is
    (node, file) of every function that a template made, `details` has rows of `declared`. `includes` are the
    paths of all files that were included, those of the system too. Of device code only: `marks` has rows of
    `declared`, `constants` the values (rows of `values`) of nodes that name constants, `launches` what host
    code starts, `transfers` what its loops repeat for nothing. `skipped` is (file, start, end) of what
    preprocessor conditionals leave out of the user's files.
    """

    diagnostics: list[Diagnostic]
    files: list[str]
    user: list[bool]
    nodes: bytes
    tops: list[tuple[int, int]]
    declared: list[Declared]
    types: list[TypeRow]
    records: list[RecordRow]
    values: list[int | float | str | None]
    macro_definitions: list[tuple[str, int, int, int]]
    macro_uses: list[tuple[str, int, int, int]]
    exceeded: bool
    instances: list[tuple[int, int]]
    details: dict[int, Detail]
    includes: list[str]
    marks: dict[int, Mark] | None
    constants: dict[int, int]
    launches: list[LaunchRow]
    transfers: list[TransferRow]
    skipped: list[tuple[int, int, int]]

    def columns(self) -> tuple[list[int], ...]:
        """Return the seven columns of the node table."""
        flat = array("i")
        flat.frombytes(self.nodes)
        return tuple(flat[i::COLUMNS].tolist() for i in range(COLUMNS))


def encode_dump(dump: Dump) -> bytes:
    """Return the dump as bytes."""
    return marshal.dumps(tuple(dump))


def decode_dump(data: bytes) -> Dump:
    """Return the dump that `encode_dump` made bytes of."""
    values = cast(tuple[object, ...], marshal.loads(data))
    return Dump(*values)  # type: ignore[arg-type]


def frame_bytes(data: bytes) -> bytes:
    """Return `data` with its length before it."""
    return len(data).to_bytes(LENGTH_BYTES, "little") + data


def length(data: bytes | bytearray) -> int:
    """Return the length that stands at the start of `data`."""
    return int.from_bytes(data[:LENGTH_BYTES], "little")
