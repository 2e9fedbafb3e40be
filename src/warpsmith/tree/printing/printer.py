"""Trees become C text.

An intact node prints as its source slice, moved to where it now stands; any other node is written out with its intact
parts as slices. Printing is iterative (a stack of generators), so depth is no limit.

`Printer.known` is the one thing that varies: what text a node already has. By default that is the slice of an intact
node; patch.py also knows the slices of nodes that changed a little.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Protocol, TypeVar, assert_never

import msgspec.structs

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.tree.containers import find_check, find_exchanged
from warpsmith.tree.free_store import FREES, MAKES, write
from warpsmith.tree.library_texts import TEXTS
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    CaptureStmt,
    Cast,
    Conditional,
    Continue,
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DataSuspension,
    DeclStmt,
    DeviceAlloc,
    DeviceFree,
    DeviceStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    GlobalDecl,
    If,
    Index,
    InitList,
    Launch,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    Other,
    Pragma,
    Return,
    SizeOf,
    Stmt,
    Switch,
    Top,
    Unary,
    Update,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
    replace,
)
from warpsmith.tree.printing.computed import find_computed
from warpsmith.tree.printing.declarator import declarator, is_nameless, spell, with_base
from warpsmith.tree.printing.precedence import level, needs_parentheses
from warpsmith.tree.printing.references import call_text, elements, initial, name_text, object_at, refers
from warpsmith.tree.text.layout import indent_text, slice_text
from warpsmith.tree.text.lexical import tokens
from warpsmith.tree.text.spacing import join_pieces
from warpsmith.tree.text.wrapping import wrap
from warpsmith.tree.types import FunctionType, Pointer, Symbol, Type
from warpsmith.tree.walk import has_dead, rebuild, walk, without_choices

__all__ = [
    "DeviceStmt",
    "DeviceWords",
    "Lines",
    "Printer",
    "join_lines",
    "print_expr",
    "print_stmt",
    "print_top",
    "print_type",
    "quote_expression",
    "show_expression",
]

Lines = list[tuple[int, str]]
"""Printed statements: (level of indentation, outdented text), the text of an intact piece may have several lines."""

T = TypeVar("T")
R = TypeVar("R")
ExprJob = Generator[Expr, str, str]
StmtJob = Generator[Stmt, Lines, Lines]


class DeviceWords(Protocol):
    """What a target says for the device statements."""

    def lines(self, node: DeviceStmt, expr: Callable[[Expr], str]) -> tuple[str, ...]:
        """Return the statements that `node` becomes in host text, one a line."""
        ...


def slice_of(node: Node) -> str | None:
    """Return the source slice of an intact node; where that names what no run comes to, it is written out without: it
    may stand where its variables do not."""
    return slice_text(node.span) if node.intact and not has_dead(node) else None


def nothing(_: Node) -> str | None:
    """Know no text: everything is written out."""
    return None


def print_expr(expr: Expr, known: Callable[[Node], str | None] = slice_of) -> str:
    """Return `expr` as C text."""
    return Printer(known).expr(expr)


def show_expression(expr: Expr) -> str:
    """Return the user's words for an expression, on one line; what a macro hides, or a step made, is printed."""
    text = " ".join(expr.span.text.split())
    words = {p.field if isinstance(p, Member) else p.symbol.name for p in walk(expr) if isinstance(p, Member | Name)}
    return text if text and all(word in text for word in words) else print_expr(_open_private(expr), nothing)


def quote_expression(expr: Expr) -> str:
    """Return the user's words for an expression, on one line, macros as they are; what stands in no text is printed."""
    return " ".join(expr.span.text.split()) or show_expression(expr)


def _open_private(expr: Expr) -> Expr:
    """Return an expression with the plain names of private members, as people write them."""

    def change(part: Node) -> Node:
        return replace(part, opener=None) if isinstance(part, Member) and part.opener is not None else part

    return rebuild(expr, change)


def print_stmt(stmt: Stmt, indent: str = "", known: Callable[[Node], str | None] = slice_of) -> str:
    """Return `stmt` as C text, every line behind `indent`; lines end in a plain newline, the last one in nothing.

    Device statements need a target's words: see `Printer`.
    """
    return indent + indent_text(join_lines(Printer(known).stmt(stmt)), indent)


def print_type(type: Type, name: str = "") -> str:
    """Return the declaration of `name` with `type`, or the type's own name where `name` is empty."""
    return spell(type, name, print_expr)


def print_top(top: Top, known: Callable[[Node], str | None] = slice_of) -> str:
    """Return a top-level construct as C text."""
    return Printer(known).top(top)


def join_lines(lines: Lines, unit: str = "    ") -> str:
    """Return printed statements as text with `unit` for one level of indentation."""
    return "\n".join(unit * depth + indent_text(text, unit * depth) if text else "" for depth, text in lines)


class Printer:
    """Prints with the given knowledge of existing text and the given words for device statements."""

    def __init__(self, known: Callable[[Node], str | None] = slice_of, words: DeviceWords | None = None) -> None:
        self._known = known
        self._words = words

    def expr(self, expr: Expr) -> str:
        """Return `expr` as C text."""
        return _run(self._expr(expr), self._expr)

    def slot(self, parent: Node, child: Expr) -> str:
        """Return `child` as it stands in `parent`, in parentheses where it needs them."""
        return self._wrap_child(parent, child, self.expr(child))

    def stmt(self, stmt: Stmt) -> Lines:
        """Return `stmt` as lines."""
        return _run(self._stmt(stmt), self._stmt)

    def type(self, type: Type, name: str = "") -> str:
        """Return the declaration of `name` with `type`."""
        return spell(type, name, self.expr)

    def top(self, top: Top) -> str:
        """Return a top-level construct as C text."""
        text = self._known(top)
        if text is not None:
            return text
        match top:
            case Other():
                return top.text
            case GlobalDecl():
                return self._declaration(top.declarations) + ";"
            case Function():
                return f"{self.signature(top)}\n{join_lines(self.stmt(top.body))}"

    def signature(self, function: Function) -> str:
        """Return the head of a function definition, up to its body."""
        type = function.symbol.type
        result = type.result if isinstance(type, FunctionType) else type
        parts = [self.type(p.type, p.name) for p in function.parameters]
        if isinstance(type, FunctionType) and type.variadic:
            parts.append("...")
        head = self.type(result, f"{function.symbol.name}({', '.join(parts) or 'void'})")
        return f"static {head}" if function.static else head

    def for_header(self, loop: For) -> str:
        """Return `for (…; …; …)` of a canonical loop."""
        name = loop.variable.name
        start = self.type(loop.variable.type, name) if loop.declares else name
        by = abs(loop.step)
        sign = "+" if loop.step > 0 else "-"
        advance = f"{name}{sign}{sign}" if by == 1 else f"{name} {sign}= {by}"
        lower = self._operand(loop.lower, 2)
        return f"for ({start} = {lower}; {name} {loop.relation} {self._operand(loop.bound, 11)}; {advance})"

    # --- expressions

    def _operand(self, expr: Expr, least: int) -> str:
        text = self.expr(expr)
        return f"({text})" if level(expr) < least and not _is_enclosed(text) else text

    def _wrap_child(self, parent: Node, child: Expr, text: str) -> str:
        return f"({text})" if needs_parentheses(parent, child) and not _is_enclosed(text) else text

    def _expr(self, expr: Expr) -> ExprJob:
        text = self._known(expr)
        return _constant(text) if text is not None else self._write_expression(expr)

    def _write_expression(self, expr: Expr) -> ExprJob:
        match expr:
            case Literal():
                return _constant(expr.text)
            case Name():
                return _constant(name_text(expr))
            case SizeOf() | VerbatimExpr():
                return _constant(expr.text)
            case MacroUse():
                return _constant(Printer(nothing, self._words).expr(expr.expansion))
            case Assign() | Binary() | Call() | Cast() | Conditional() | Index() | InitList() | Member() | Unary():
                return self._compound(expr)

    def _compound(
        self, expr: Unary | Binary | Assign | Conditional | Call | Index | Member | Cast | InitList
    ) -> ExprJob:
        match expr:
            case Unary(op="*", operand=operand) if refers(operand):
                return object_at((yield operand)) + elements(expr.type)
            case Unary():
                text = self._wrap_child(expr, expr.operand, (yield expr.operand))
                if expr.op == "&":
                    text = text.removesuffix(elements(expr.operand.type))  # of a std::array: of the object
                return join_pieces((text, expr.op[1:]) if expr.op.startswith("x") else (expr.op.rstrip("x"), text))
            case Binary():
                left = self._wrap_child(expr, expr.left, (yield expr.left))
                right = self._wrap_child(expr, expr.right, (yield expr.right))
                return f"{left}, {right}" if expr.op == "," else f"{left} {expr.op} {right}"
            case Assign():
                target = self._wrap_child(expr, expr.target, (yield expr.target))
                return f"{target} {expr.op} {self._wrap_child(expr, expr.value, (yield expr.value))}"
            case Conditional():
                condition = self._wrap_child(expr, expr.condition, (yield expr.condition))
                then = self._wrap_child(expr, expr.then, (yield expr.then))
                return f"{condition} ? {then} : {self._wrap_child(expr, expr.other, (yield expr.other))}"
            case Call():
                function = self._wrap_child(expr, expr.function, (yield expr.function))
                arguments = []
                for argument in expr.arguments:
                    arguments.append(self._wrap_child(expr, argument, (yield argument)))
                return self._write_call(expr, function, arguments)
            case Cast() | Index() | InitList() | Member():
                return (yield from self._access(expr))

    def _write_call(self, call: Call, function: str, arguments: list[str]) -> str:
        if function in TEXTS:
            return "".join(arguments)
        if function not in MAKES | FREES:
            return call_text(call, function, arguments)
        type = call.type.to if isinstance(call.type, Pointer) else call.type
        several = function.startswith("new[]")
        return write(function, self.type(type, f"[{arguments[0]}]" if several else ""), arguments)

    def _access(self, expr: Index | Member | Cast | InitList) -> ExprJob:
        match expr:
            case Index():
                base, check = (yield expr.base), find_check(expr)
                if check is not None:
                    dot = "" if base.endswith("data()") else "."
                    return f"{base.removesuffix('data()')}{dot}at({yield check.arguments[0]})"
                return f"{self._wrap_child(expr, expr.base, base)}[{yield expr.index}]"
            case Member():
                base = self._wrap_child(expr, expr.base, (yield expr.base))
                bound = expr.arrow and refers(expr.base)
                if expr.opener is not None:
                    inner = object_at(base) if bound else base
                    return expr.opener.reach_member(inner, arrow=expr.arrow and not bound) + elements(expr.type)
                text = f"{object_at(base)}." if bound else join_pieces((base, "->" if expr.arrow else "."))
                return f"(&{text}{expr.field})" if refers(expr) else text + expr.field + elements(expr.type)
            case Cast() if refers(expr):
                return initial(expr.operand, (yield expr.operand))
            case Cast():
                return f"({self.type(expr.type)}){self._wrap_child(expr, expr.operand, (yield expr.operand))}"
            case InitList():
                items = []
                for item in expr.items:
                    items.append(self._wrap_child(expr, item, (yield item)))
                return f"{{{', '.join(items)}}}"

    # --- statements

    def _stmt(self, stmt: Stmt) -> StmtJob:
        text = self._known(stmt)
        if text is not None:
            return _constant([(0, text)])
        match stmt:
            case Block():
                return self._block(stmt)
            case If() | For() | While() | Switch():
                return self._compound_stmt(stmt)
            case Launch() | DeviceAlloc() | DeviceFree() | Copy() | CopyWait() | CaptureStmt():
                return _constant(self._device(stmt))
            case DataEnter() | DataExit() | Update() | DataRegionBoundary() | DataSuspension():
                return _constant(self._device(stmt))
            case Break() | Continue() | DeclStmt() | Empty() | ExprStmt() | Pragma() | Return() | Verbatim():
                return _constant([(0, self._simple(stmt))])

    def _simple(self, stmt: DeclStmt | ExprStmt | Break | Continue | Return | Empty | Pragma | Verbatim) -> str:
        match stmt:
            case DeclStmt():
                return self._declaration_stmt(stmt)
            case ExprStmt():
                return self.expr(stmt.expr) + ";"
            case Return():
                return "return;" if stmt.value is None else f"return {self.expr(stmt.value)};"
            case Break():
                return "break;"
            case Continue():
                return "continue;"
            case Empty():
                return ";"
            case Pragma() | Verbatim():
                return "" if isinstance(stmt, Pragma) and stmt.choice else stmt.text
            case _:
                assert_never(stmt)

    def _device(self, stmt: DeviceStmt) -> Lines:
        if self._words is None:
            raise RefusedError(Finding("POR008", "error", "device statements need a target's words", stmt.span))
        return [(0, wrap(line)) for line in self._words.lines(stmt, self.expr)]

    def _declaration_stmt(self, stmt: DeclStmt) -> str:
        if not stmt.declarations or not stmt.types:
            return f"{self._declaration(stmt.declarations) if stmt.declarations else stmt.types};"
        if all(is_nameless(d.symbol.type) for d in stmt.declarations):
            # a record without a name is declared with its variables or not at all
            return f"{self._declaration(tuple(_with_record(d, stmt.types) for d in stmt.declarations))};"
        return f"{stmt.types}; {self._declaration(stmt.declarations)};"

    def _declaration(self, declarations: tuple[VarDecl, ...]) -> str:
        pieces: list[tuple[str, str]] = []
        for declaration in declarations:
            base, around = declarator(declaration.symbol.type, declaration.symbol.name, self.expr)
            if isinstance(declaration.symbol.type, Pointer) and not declaration.span.file.path.endswith(".c"):
                around = around.replace("*restrict ", "*__restrict__ ")  # C++ has no such word
            static = "static " if declaration.symbol.storage in ("static local", "static") else ""
            init = declaration.init
            value = "" if init is None else f" = {self._wrap_child(declaration, init, self.expr(init))}"
            if init is not None and isinstance(declaration.symbol.type, Pointer) and declaration.symbol.type.reference:
                value = f" = {initial(init, self.expr(init))}"
            pieces.append((static + base, around + value))
        first = pieces[0][0]
        if all(base == first for base, _ in pieces):
            return f"{first} {', '.join(around for _, around in pieces)}"
        return "; ".join(f"{base} {around}" for base, around in pieces)

    def _block(self, block: Block) -> StmtJob:
        swapped = find_exchanged(block)
        if swapped is not None:
            return _constant([(0, f"std::swap({self._operand(swapped[0], 2)}, {self._operand(swapped[1], 2)});")])
        computed = find_computed(block)
        if computed is not None and self._known(Empty(span=block.span, intact=True)) is not None:
            return self._initializer(block, computed)
        return self._brace_block(block)

    def _initializer(self, block: Block, computed: Symbol) -> StmtJob:
        """Return the rest of a declaration whose head is the user's text: a lambda that is called on the spot."""
        base, around = declarator(computed.type, computed.name, self.expr)
        lines: Lines = [(0, "= [&] {"), (1, f"{base} {around};")]
        for stmt in block.statements:
            lines += _deeper((yield stmt))
        return [*lines, (1, f"return {computed.name};"), (0, "}();")]

    def _brace_block(self, block: Block) -> StmtJob:
        lines: Lines = [(0, "{")]
        for stmt in without_choices(block.statements):
            lines += _deeper((yield stmt))
        return [*lines, (0, "}")]

    def _compound_stmt(self, stmt: If | For | While | Switch) -> StmtJob:
        match stmt:
            case If():
                return self._if(stmt)
            case For():
                return self._head_body(self.for_header(stmt), stmt.body)
            case While():
                return self._while(stmt)
            case Switch():
                return self._switch(stmt)

    def _if(self, stmt: If) -> StmtJob:
        head = f"if ({self._condition(stmt.condition)})"
        # a call of a generated function is broken where it is known how far to the right it stands
        head = head if stmt.reasons == ("device",) else wrap(head)
        then = yield stmt.then
        if stmt.other is None:
            return _attach_body(head, _brace_body(then, stmt.then, always=_may_dangle(stmt.then)))
        # Braces wherever an `else` could be read as belonging to another `if`.
        lines = _attach_body(head, _brace_body(then, stmt.then, always=_is_open_ended(stmt.then)))
        other = _brace_body((yield stmt.other), stmt.other)
        if lines[-1] == (0, "}"):
            return [*lines[:-1], *_attach_body("} else", other)]
        return [*lines, *_attach_body("else", other)]

    def _while(self, stmt: While) -> StmtJob:
        condition = "" if stmt.condition is None else self._condition(stmt.condition)
        if stmt.form == "while":
            return (yield from self._head_body(f"while ({condition})", stmt.body))
        if stmt.form == "do":
            body = _attach_body("do", _brace_body((yield stmt.body), stmt.body))
            depth, last = body[-1]
            tail = f"while ({condition});"
            return [*body[:-1], (0, f"{last} {tail}")] if depth == 0 else [*body, (0, tail)]
        start = ";" if stmt.init is None else self._one_line(stmt.init)
        advance = "" if stmt.advance is None else " " + self.expr(stmt.advance)
        head = f"for ({start}{' ' if condition else ''}{condition};{advance})"
        return (yield from self._head_body(head, stmt.body))

    def _switch(self, stmt: Switch) -> StmtJob:
        lines: Lines = [(0, f"switch ({self.expr(stmt.value)}) {{")]
        for case in stmt.cases:
            lines += [(0, self._label(label)) for label in case.labels]
            # Until C23 a label must be followed by a statement, and a declaration is none.
            if not case.body or isinstance(case.body[0], DeclStmt | DeviceAlloc):
                lines.append((1, ";"))
            for part in case.body:
                lines += _deeper((yield part))
        return [*lines, (0, "}")]

    def _label(self, label: Expr | None) -> str:
        return "default:" if label is None else f"case {self.expr(label)}:"

    def _head_body(self, head: str, body: Stmt) -> StmtJob:
        return _attach_body(head, _brace_body((yield body), body))

    def _condition(self, expr: Expr) -> str:
        text = self.expr(expr)
        return f"({text})" if isinstance(expr, Assign) and not _is_enclosed(text) else text

    def _one_line(self, stmt: Stmt) -> str:
        return join_lines(self.stmt(stmt))


def _constant(value: T) -> Generator[R, T, T]:
    return value
    yield  # makes this a generator


def _run(job: Generator[R, T, T], start: Callable[[R], Generator[R, T, T]]) -> T:
    """Drive `job`; what it yields is printed by a job of its own."""
    stack = [job]
    value: T | None = None
    while True:
        try:
            request = next(stack[-1]) if value is None else stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            result: T = stop.value
            if not stack:
                return result
            value = result
        else:
            stack.append(start(request))
            value = None


def _with_record(declaration: VarDecl, text: str) -> VarDecl:
    """Return a declarator whose type has the text of a record's definition in place of the record's name."""
    symbol = declaration.symbol
    type = with_base(symbol.type, text)
    return replace(declaration, symbol=msgspec.structs.replace(symbol, type=type))


def _deeper(lines: Lines) -> Lines:
    return [(depth + 1, text) for depth, text in lines]


def _attach_body(head: str, body: Lines) -> Lines:
    """Put `body` after `head`: a block on the same line, another statement indented on the next."""
    if body[0][1].startswith("{"):
        return [(0, f"{head} {body[0][1]}"), *body[1:]]
    if head in ("else", "} else") and body[0][1].startswith("if"):
        return [(0, f"{head} {body[0][1]}"), *body[1:]]
    return [(0, head), *_deeper(body)]


def _brace_body(lines: Lines, stmt: Stmt, always: bool = False) -> Lines:
    """Return a body with braces where it needs them: several statements, a declaration, nothing at all."""
    if lines and lines[0][1].startswith("{"):
        return lines
    alone = isinstance(stmt, DeclStmt | DeviceAlloc | DataEnter | Pragma | Empty)
    device = isinstance(stmt, Launch | Copy | CopyWait | DeviceFree | CaptureStmt) and len(lines) != 1
    if always or alone or device:
        return [(0, "{"), *([] if isinstance(stmt, Empty) else _deeper(lines)), (0, "}")]
    return lines


def _is_open_ended(stmt: Stmt) -> bool:
    """Whether an `else` after `stmt` would be taken by an `if` inside it."""
    return isinstance(_innermost(stmt), If)


def _may_dangle(stmt: Stmt) -> bool:
    """Whether the `else` of an `if` inside `stmt` might be read as that of one in front of it."""
    inner = _innermost(stmt)
    return isinstance(stmt, If) or (isinstance(inner, If) and inner.other is not None)


def _innermost(stmt: Stmt) -> Stmt:
    """Return what the loops without braces around it end with."""
    while isinstance(stmt, For | While) and (stmt.__class__ is For or getattr(stmt, "form", "") != "do"):
        stmt = stmt.body
    return stmt


def _is_enclosed(text: str) -> bool:
    """Whether one pair of parentheses, or the braces of an initializer, encloses the whole text."""
    if text.startswith("{"):
        return True
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for token in tokens(text):
        depth += (token.sign == "(") - (token.sign == ")")
        if depth == 0:
            return token.end == len(text)
    return False
