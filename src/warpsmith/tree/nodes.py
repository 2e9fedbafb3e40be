"""The nodes of the tree (expressions are written in `expressions.py`). The whole grammar on one screen:

    Expr  = Literal(text, value)                         number, character or string, as written
          | Name(symbol)
          | Unary(op, operand)                           + - ~ ! * & ++x --x x++ x--
          | Binary(op, left, right)                      arithmetic, bitwise, comparison, && || and the comma
          | Assign(op, target, value)                    = += -= *= /= %= &= |= ^= <<= >>=
          | Conditional(condition, then, other)
          | Call(function, arguments)
          | Index(base, index)
          | Member(base, field, arrow)
          | Cast(target, operand)                        explicit casts; implicit conversions follow from the types
          | SizeOf(text, value, operands)                sizeof, _Alignof, offsetof: value where constant
          | InitList(items)
          | MacroUse(name, expansion)                    a use whose expansion is one expression
          | VerbatimExpr(text, reads, writes, calls, reason)
    Stmt  = Block(statements)
          | DeclStmt(declarations, types)                declarations: VarDecl(symbol, init)
          | ExprStmt(expr)
          | If(condition, then, other)
          | For(variable, declares, lower, relation, bound, step, body)       the canonical loop
          | While(form, init, condition, advance, body)                       every other loop
          | Switch(value, cases)                         cases: Case(labels, body), falling through as in C
          | Break | Continue | Return(value) | Empty
          | Pragma(text)
          | Verbatim(text, reads, writes, calls, control, reason)             what we do not model
          | Launch(kernel, arguments, region)                    device statements, made by offload
          | DeviceAlloc(buffer, host, bytes) | DeviceFree(buffer) | Copy(to_device, buffer, variable, host, …)
          | CopyWait(buffer, variable, by_host)                  for a copy that goes on beside other work
          | DataEnter(buffer, variable, address, bytes, …) | DataExit(buffer, written)      residency across functions
          | Update(to_device, variable, address, bytes) | DataRegionBoundary(opens) | DataSuspension(ends)
          | CaptureStmt(...)                             verification builds only
    Top   = Function(symbol, parameters, body) | GlobalDecl(declarations) | Other(text)

Every node has the span of the user's text that it is, or that it was made for. `intact` says that the node *is* that
text: it then prints as its source slice. `replace` returns a changed copy, which is not intact. Nodes compare by
identity; `same` (walk.py) compares structure.
"""

from __future__ import annotations

from typing import Literal as OneOf

from warpsmith.base.source import Span
from warpsmith.tree.device import DeviceTraits
from warpsmith.tree.expressions import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Doing,
    Expr,
    Index,
    InitList,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    SizeOf,
    Symbol,
    TemplateArgument,
    Type,
    Unary,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.text.directives import Directive

__all__ = [
    "NOT_MADE",
    "Assign",
    "Binary",
    "Block",
    "Break",
    "Call",
    "CaptureStmt",
    "Case",
    "Cast",
    "Conditional",
    "Continue",
    "Copy",
    "CopyWait",
    "DataEnter",
    "DataExit",
    "DataRegionBoundary",
    "DataStmt",
    "DataSuspension",
    "DeclStmt",
    "DeviceAlloc",
    "DeviceFree",
    "DeviceNode",
    "DeviceStmt",
    "Doing",
    "Empty",
    "Expr",
    "ExprStmt",
    "For",
    "Function",
    "GlobalDecl",
    "If",
    "Index",
    "InitList",
    "Launch",
    "Literal",
    "Loop",
    "MacroUse",
    "Member",
    "Name",
    "Node",
    "Other",
    "Pragma",
    "Relation",
    "Return",
    "SizeOf",
    "Stmt",
    "Switch",
    "Top",
    "Unary",
    "Update",
    "VarDecl",
    "Verbatim",
    "VerbatimExpr",
    "While",
    "replace",
]  # fmt: skip

Relation = OneOf["<", "<=", ">", ">=", "!="]


# --- statements


class Block(Node, frozen=True, eq=False, kw_only=True):
    """`{ … }`; its span includes the braces. A Block without braces in the source holds a rewritten statement run."""

    statements: tuple[Stmt, ...]


class VarDecl(Node, frozen=True, eq=False, kw_only=True):
    """One declarator of a declaration."""

    symbol: Symbol
    init: Expr | None


class DeclStmt(Node, frozen=True, eq=False, kw_only=True):
    """A declaration statement, its semicolon included.

    `types` is the text of the types that it declares, before its variables or alone, without a semicolon:
    `struct p { double x; }`, `typedef double real`.
    """

    declarations: tuple[VarDecl, ...]
    types: str = ""


class ExprStmt(Node, frozen=True, eq=False, kw_only=True):
    """An expression statement, its semicolon included."""

    expr: Expr


class If(Node, frozen=True, eq=False, kw_only=True):
    """`if`. `reasons`: the test is one of the port's own, and they say what each condition that it joins by && makes
    sure of, from the first; none where it is the user's."""

    condition: Expr
    then: Stmt
    other: Stmt | None
    reasons: tuple[str, ...] = ()


class For(Node, frozen=True, eq=False, kw_only=True):
    """The canonical loop: `for (variable = lower; variable relation bound; variable += step) body`.

    `variable` is an integer that the body never writes; `bound` and `step` do not change while the loop runs; `step` is
    a constant, never 0, negative for a loop that counts down. `declares`: the loop declares its variable.
    `break`, `return` and the like may still leave the body early.
    """

    variable: Symbol
    declares: bool
    lower: Expr
    relation: Relation
    bound: Expr
    step: int
    body: Stmt
    header: Span


NOT_MADE = "a template of which no instance is seen"
"""The reason of loops in a template's own text, of which nothing is known without types."""


class While(Node, frozen=True, eq=False, kw_only=True):
    """A loop that is not canonical, with the reason in the user's words ("its bound n is written in the body")."""

    form: OneOf["while", "do", "for"]
    init: Stmt | None
    condition: Expr | None
    advance: Expr | None
    body: Stmt
    header: Span
    reason: str


Loop = For | While


class Case(Node, frozen=True, eq=False, kw_only=True):
    """`case a: case b: body`; a None label is `default`. Control falls through to the next case as in C."""

    labels: tuple[Expr | None, ...]
    body: tuple[Stmt, ...]


class Switch(Node, frozen=True, eq=False, kw_only=True):
    """A switch whose labels all stand at the top of its body."""

    value: Expr
    cases: tuple[Case, ...]


class Break(Node, frozen=True, eq=False, kw_only=True):
    """`break;`."""


class Continue(Node, frozen=True, eq=False, kw_only=True):
    """`continue;`."""


class Return(Node, frozen=True, eq=False, kw_only=True):
    """`return value;`."""

    value: Expr | None


class Empty(Node, frozen=True, eq=False, kw_only=True):
    """`;`. `dead`: text that no run comes to (front/c/counted/dead.py); what is written anew has none of it."""

    dead: bool = False


class Pragma(Node, frozen=True, eq=False, kw_only=True):
    """A `#pragma` line (or `_Pragma`) among statements; `text` from `#` to the end of the line. It belongs to what
    follows. `directive`: what it says, where it is one of OpenMP or OpenACC. `left_out`: a preprocessor conditional
    leaves it out of the build at hand; another build may have it. A line of a conditional around pragmas alone is one
    too, that says nothing; so is, in a loop, one of a conditional around code (`choice`), of which the tree has what
    the build at hand does: text that is written anew has no other. `alone`: where the port is switched on, one thread
    runs the parallel region that it starts. `reading`: it stands before a loop that a construct was read as, and holds
    what the user granted for that (`--assume`), which may be nothing; None where the pragma is the user's own."""

    text: str
    directive: Directive | None = None
    left_out: bool = False
    choice: bool = False
    alone: bool = False
    reading: tuple[str, ...] | None = None


class Verbatim(Node, frozen=True, eq=False, kw_only=True):
    """A statement that we do not model, kept as text.

    `reads` and `writes` are every variable that the text names; `calls`: it may also do what an unknown call may;
    `control`: it may leave its block (goto, label, a macro that returns); `reason` names the construct;
    `kept`: the variables whose address it may take (None: all that it names). Known in device code: `goes`, the label
    that a goto leads to, and `marks`, the label that stands here.
    """

    text: str
    reads: tuple[Symbol, ...]
    writes: tuple[Symbol, ...]
    calls: bool
    control: bool
    reason: str
    kept: tuple[Symbol, ...] | None = None
    goes: str = ""
    marks: str = ""


# --- device statements: what offload puts in place of a region, and around it


class DeviceNode(Node, frozen=True, eq=False, kw_only=True):
    """What all device statements share: no user wrote them, and steps never move them."""


class Launch(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Run kernel `kernel` through its launcher; the launcher computes the grid from its arguments (program.Kernel)."""

    kernel: str
    arguments: tuple[Expr, ...]
    region: str


class DeviceAlloc(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Acquire `bytes` (host expression) for `buffer`, the device copy of `host`; declares the buffer's pointer."""

    buffer: Symbol
    host: Symbol
    bytes: Expr


class DeviceFree(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Release `buffer`."""

    buffer: Symbol


class Copy(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Copy `bytes` between host address `host` (an expression of pointer type) and `buffer` plus `offset` elements.

    `variable` is the user's object; `cause` the write or use that needs the copy. `overlaps`: it only begins here,
    behind the kernels that have been launched, and goes on beside what follows until a CopyWait for `buffer`.
    """

    to_device: bool
    buffer: Symbol
    variable: Symbol
    host: Expr
    offset: Expr
    bytes: Expr
    cause: Span
    overlaps: bool = False


class CopyWait(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Kernels that are launched behind this come after the copies of `buffer` that have begun; `by_host`: so does host
    code. Nothing happens where none has begun."""

    buffer: Symbol
    variable: Symbol
    by_host: bool


# Residency across functions: statements that ask the present table of the generated runtime (emit/runtime/present.cu).
# All of them are insertions, and do nothing where nothing is present.


class DataEnter(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Declare `buffer`, the device address of the `bytes` at host `address`, which belong to the user's `variable`.

    Present already: nothing moves. Otherwise memory is acquired, with the host's bytes in it where `copy` says so.
    `keep`: the memory outlives every data region, so that its device copy may stay when the count falls to zero inside
    one. `allocation`: the bytes are a whole one. `changes`: in a program that enters whole allocations, kernels may
    write the bytes before the DataExit. `watch`: memory dies inside the data regions, so that only what is seen to die
    is kept. `starts`: the variable leads to rows, and all their blocks are meant: this one has where they start. Where
    it is the variable itself, `buffer` becomes the table of where the rows start on the device, and nothing is left
    again.
    """

    buffer: Symbol
    variable: Symbol
    address: Expr
    bytes: Expr
    copy: bool
    keep: bool
    cause: Span
    allocation: bool = False
    changes: bool = False
    watch: bool = False
    starts: Symbol | None = None


class DataExit(DeviceNode, frozen=True, eq=False, kw_only=True):
    """The kernels since the DataEnter of `buffer` are done; `written`: one of them may have written it. The last exit
    outside every data region copies back what was written. `starts`: as the DataEnter has it."""

    buffer: Symbol
    written: bool
    starts: Symbol | None = None


class Update(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Make the host (or the device) copy of the `bytes` at `address` valid, as far as they are present.

    `variable`, `address` and `bytes` are None where everything that is present is meant. `cause` is the host code that
    needs the update. `block`: the whole block of memory that holds `address` is meant (`bytes` is None), and everything
    where the run time knows of none.
    """

    to_device: bool
    variable: Symbol | None
    address: Expr | None
    bytes: Expr | None
    cause: Span
    block: bool = False


class DataRegionBoundary(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Begin (`opens`) or end a data region: between the two, device copies that may be kept are kept. `guard`: the name
    of an object that ends it where C++ leaves the block in another way (an exception); "" where there is none; `flag`:
    the variable without which that object holds nothing. `lasting`: objects on the stack that outlive it, where only
    what is known to do so is kept; `callers`: so does all that the callers of the function have there."""

    opens: bool
    cause: Span
    guard: str = ""
    flag: str = ""
    lasting: tuple[Symbol, ...] = ()
    callers: bool = False


class DataSuspension(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Copy back all that is kept, and keep nothing until the suspension is over (`ends`): `cause` may free memory, or
    read and write it in ways that we cannot see."""

    ends: bool
    cause: Span


DataStmt = DataEnter | DataExit | Update | DataRegionBoundary | DataSuspension


class CaptureStmt(DeviceNode, frozen=True, eq=False, kw_only=True):
    """Verification builds: record object `symbol` after `region`.

    `lower` and `upper` bound the section that the buffer stands for, in elements from its base; `extent` is the
    declared element count or None (then the allocation tells); `buffer` is the device copy where that is newest.
    `ahead`: nothing is recorded yet, only that the host's copy of the section is stale: other objects of the region may
    lie in the same block of memory. `starts`: the object is all blocks of the rows that start there (DataEnter).
    `name`: the object's, where `symbol` is called otherwise.
    """

    region: str
    symbol: Symbol
    element: Type
    lower: Expr
    upper: Expr
    extent: Expr | None
    buffer: Symbol | None
    ahead: bool = False
    starts: Symbol | None = None
    name: str = ""


DeviceStmt = Launch | DeviceAlloc | DeviceFree | Copy | CopyWait | CaptureStmt | DataStmt
Stmt = (
    Block | DeclStmt | ExprStmt | If | For | While | Switch | Break | Continue | Return | Empty | Pragma | Verbatim
    | DeviceStmt
)  # fmt: skip


# --- top level


class Function(Node, frozen=True, eq=False, kw_only=True):
    """A function definition. `static`: internal linkage; `device`: what it is on a device, where it was read as such;
    `instance`: of what a template made, the arguments that tell this one from the others, those of the outermost
    template first, None where they cannot be said."""

    symbol: Symbol
    parameters: tuple[Symbol, ...]
    body: Block
    static: bool
    device: DeviceTraits | None = None
    instance: tuple[TemplateArgument, ...] | None = ()


class GlobalDecl(Node, frozen=True, eq=False, kw_only=True):
    """File-scope variables."""

    declarations: tuple[VarDecl, ...]


class Other(Node, frozen=True, eq=False, kw_only=True):
    """Anything else at file scope: prototypes, types, preprocessor lines."""

    text: str


Top = Function | GlobalDecl | Other
