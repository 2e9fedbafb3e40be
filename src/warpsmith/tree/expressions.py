"""Types, symbols and expressions of the tree, which are made of each other: an array's type holds its extent, which is
an expression; an expression holds its type.

    Type   = Scalar(name, bits, kind)            char … long double, bool, enums as their integer type
           | Pointer(to, restrict, reference)     a C++ reference is a pointer that is marked (see below)
           | Array(of, extent)                   extent: Expr (constant or not), or None where it is not written
           | Record(tag, fields, kind)           struct; fields empty where it is opaque; a union is opaque, but in
                                                 device code; a vector type of OpenCL has `lanes`
           | FunctionType(result, parameters, variadic)
           | Opaque(text)                        anything we do not model
    `spelling` is how the user wrote the type (a typedef's name); "" where it was not written.

The grammar of the expressions heads `nodes.py`. Import types from `types.py` and expressions from `nodes.py`.

A reference `T &x` of C++ is a `Pointer(T, reference=True)`, and each use of x is `*x`: so nothing that reasons about
pointers can take it for a copy. Only printing knows the difference: an expression of such a type under a `*` prints as
its own text (`x`), and alone as an address (`(&x)`).

Types compare by structure (without `spelling`), but for array extents, which are expressions and compare by identity:
use `same_type` to compare those too.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Literal as OneOf
from typing import TypeVar

import msgspec.structs
from msgspec import Struct, field

from warpsmith.base.records import Partial
from warpsmith.base.source import Span
from warpsmith.tree.text.openers import Opener

__all__ = [
    "Array", "Assign", "Binary", "Call", "Cast", "Conditional", "Doing", "Expr", "Field", "FunctionType", "Index",
    "InitList", "Literal", "MacroUse", "Member", "Name", "Node", "Opaque", "Pointer", "Record", "Scalar",
    "ScalarKind", "SizeOf", "Space", "Storage", "Symbol", "TemplateArgument", "Type", "Unary", "VerbatimExpr",
    "replace",
]  # fmt: skip

ScalarKind = OneOf["signed", "unsigned", "bool", "float", "complex", "void"]
Storage = OneOf["local", "static local", "parameter", "global", "static", "function", "enumerator", "device"]
Space = OneOf["", "global", "shared", "dynamic", "constant", "managed", "private", "generic"]
"""Where device code keeps a variable, or what a pointer points into: "" says nothing (a variable: private to its
thread); `dynamic` is shared memory whose size the launch gives."""


class Scalar(Partial, frozen=True, eq=False):
    """An arithmetic type or void; `bits` is its size on the target (LP64), `name` its canonical C name."""

    compared = attrgetter("name", "bits", "kind", "volatile")
    name: str
    bits: int
    kind: ScalarKind
    const: bool = False
    volatile: bool = False
    spelling: str = ""


class Pointer(Partial, frozen=True, eq=False):
    """A pointer; `space`: the memory that it points into, where the type says it (OpenCL)."""

    compared = attrgetter("to")
    to: Type
    restrict: bool = False
    const: bool = False
    spelling: str = ""
    reference: bool = False
    space: Space = ""


class Array(Partial, frozen=True, eq=False):
    """An array; `extent` is its element count as written, `count` its value where it is a constant."""

    compared = attrgetter("of", "count")
    of: Type
    extent: Expr | None
    count: int | None = None
    spelling: str = ""


class Field(Struct, frozen=True):
    """A member of a record; `offset` in bytes from its start. A bit-field has `bits` bits, from bit `shift` on of the
    unit of its type that lies there."""

    name: str
    type: Type
    offset: int
    bits: int = 0
    shift: int = 0


class Record(Partial, frozen=True, eq=False):
    """A struct by its tag; `bytes` is its size (0 where opaque), `definition` where it is written.

    A record's fields do not take part in comparison, so a type that points to itself is no trouble. Known in device
    code: `alignment` in bytes (0: not known), and of a vector type of OpenCL its `lanes`, the fields s0, s1, …
    """

    compared = attrgetter("tag", "bytes", "union", "lanes")
    tag: str
    bytes: int
    fields: tuple[Field, ...] = ()
    union: bool = False
    const: bool = False
    spelling: str = ""
    definition: Span | None = None
    alignment: int = 0
    lanes: int = 0


class FunctionType(Partial, frozen=True, eq=False):
    """The type of a function; `method`: its first parameter is the pointer `this`, which C++ does not write."""

    compared = attrgetter("result", "parameters", "variadic")
    result: Type
    parameters: tuple[Type, ...]
    variadic: bool = False
    spelling: str = ""
    method: bool = False


class Opaque(Partial, frozen=True, eq=False):
    """A type that we do not model, as text."""

    compared = attrgetter("text")
    text: str
    spelling: str = ""


Type = Scalar | Pointer | Array | Record | FunctionType | Opaque


class TemplateArgument(Struct, frozen=True):
    """What a parameter of a template stands for in one instance: `value` is a number's type where `type` is "", else a
    number of that type."""

    name: str
    type: str
    value: str

    @property
    def text(self) -> str:
        """What stands for the argument in the list of them."""
        if self.type == "bool":
            return "false" if self.value in ("0", "false") else "true"
        return self.value

    @property
    def condition(self) -> str:
        """What holds in the template's text for this argument alone."""
        if not self.type:
            return f"std::is_same<{self.name}, {self.value}>::value"
        if self.type == "bool":
            return self.name if self.text == "true" else f"!{self.name}"
        return f"{self.name} == {self.value}"


class Symbol(Partial, frozen=True, eq=False):
    """One declared thing. Two names are the same variable exactly when their symbols are equal.

    `key` is unique in the program: the linkage name of an external, else `file:offset:name` of the declaration.
    `value` is that of an enumerator, and of a constant integer that has one for good. `label`: what people call
    a function where its name does not tell it from others (a method, an overload, what a template made), and a variable
    that a step made for one of theirs; "" where it does. `space` and `alignment` (bytes; 0: that of its type) are known
    in device code.
    """

    compared = attrgetter("name", "key")
    name: str
    key: str
    type: Type
    storage: Storage
    span: Span | None = None
    value: int | None = None
    label: str = ""
    space: Space = ""
    alignment: int = 0

    def __hash__(self) -> int:
        # symbols are the keys of most tables: this is asked more often than anything else
        return hash(self.key)


class Node(Struct, frozen=True, eq=False, kw_only=True):
    """What all nodes share."""

    span: Span
    intact: bool = field(default=False)


N = TypeVar("N", bound=Node)


def replace(node: N, **changes: object) -> N:
    """Return `node` with `changes`; the copy is not intact (the printer writes it out instead of its source slice)."""
    return msgspec.structs.replace(node, intact=False, **changes)


# --- expressions; `type` is the value's type before it is converted to what its context needs


class Literal(Node, frozen=True, eq=False, kw_only=True):
    """A number, character or string; `value` is None for strings."""

    type: Type
    text: str
    value: int | float | None


class Name(Node, frozen=True, eq=False, kw_only=True):
    """A use of a declared thing."""

    type: Type
    symbol: Symbol


class Unary(Node, frozen=True, eq=False, kw_only=True):
    """`op` is one of + - ~ ! * & ++x --x x++ x--."""

    type: Type
    op: str
    operand: Expr


class Binary(Node, frozen=True, eq=False, kw_only=True):
    """`op` as in C; the comma included."""

    type: Type
    op: str
    left: Expr
    right: Expr


class Assign(Node, frozen=True, eq=False, kw_only=True):
    """`op` is = or a compound assignment."""

    type: Type
    op: str
    target: Expr
    value: Expr


class Conditional(Node, frozen=True, eq=False, kw_only=True):
    """`condition ? then : other`."""

    type: Type
    condition: Expr
    then: Expr
    other: Expr


class Call(Node, frozen=True, eq=False, kw_only=True):
    """A call; `function` is a Name for a direct call."""

    type: Type
    function: Expr
    arguments: tuple[Expr, ...]


class Index(Node, frozen=True, eq=False, kw_only=True):
    """`base[index]`; base has array or pointer type."""

    type: Type
    base: Expr
    index: Expr


class Member(Node, frozen=True, eq=False, kw_only=True):
    """`base.field` or `base->field`; `opener` where the field is private and this is no place of its class."""

    type: Type
    base: Expr
    field: str
    arrow: bool
    opener: Opener | None = None


class Cast(Node, frozen=True, eq=False, kw_only=True):
    """`(target)operand`; `type` is the target type."""

    type: Type
    operand: Expr


class SizeOf(Node, frozen=True, eq=False, kw_only=True):
    """sizeof, _Alignof or offsetof; `value` is None where it depends on a variable length. Then it evaluates
    `operands`: its operand, or the lengths in its type. `named`: the variables of a text that evaluates nothing."""

    type: Type
    text: str
    value: int | None
    operands: tuple[Expr, ...] = ()
    named: tuple[Symbol, ...] = ()


class InitList(Node, frozen=True, eq=False, kw_only=True):
    """`{ items }`; designated initializers are Verbatim expressions."""

    type: Type
    items: tuple[Expr, ...]


class MacroUse(Node, frozen=True, eq=False, kw_only=True):
    """A macro use that is one whole expression; prints the user's text while intact, else its expansion."""

    type: Type
    name: str
    expansion: Expr


class Doing(Struct, frozen=True, eq=False):
    """All that evaluating a text does: it evaluates these expressions, reads the blocks of memory that `copies` point
    into (and the arrays among them), and makes, moves and destroys objects whose memory nobody else knows. It may
    throw."""

    evaluates: tuple[Expr, ...] = ()
    copies: tuple[Expr, ...] = ()


class VerbatimExpr(Node, frozen=True, eq=False, kw_only=True):
    """An expression that we do not model; reads and writes are conservative, `calls`: may do anything else too.
    `kept`: the variables whose address it may take (None: all that it names); `doing`: what it does, where more is
    known (no part of the tree: nothing in it is rewritten)."""

    type: Type
    text: str
    reads: tuple[Symbol, ...]
    writes: tuple[Symbol, ...]
    calls: bool
    reason: str
    kept: tuple[Symbol, ...] | None = None
    doing: Doing | None = None


Expr = (
    Literal | Name | Unary | Binary | Assign | Conditional | Call | Index | Member | Cast | SizeOf | InitList
    | MacroUse | VerbatimExpr
)  # fmt: skip
