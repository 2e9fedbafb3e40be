"""Host code that passes the exponent of a power of two, in place of the power.

    pow(2.0f, n)    n                     int w = 1 << n;    int w_exponent = n;
    1 << n          n                     w = w * 2;         w_exponent = w_exponent + 1;
    2.0f * w        1 + w_exponent        8                  3

Where w itself is read elsewhere, it stays, and its exponent is a variable beside it.

What is passed must be seen to be a power of two; that its exponent is from 0 to 30 is said where it is no literal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Edit, Span
from warpsmith.flows.streams.shifts import wrapped
from warpsmith.flows.streams.values import host_error
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    Function,
    Literal,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.types import Scalar, Symbol, is_integer
from warpsmith.tree.walk import children, walk

__all__ = ["Passed", "exponent_name", "exponents_passed"]

_MOST: Final = 30
_CHANGES: Final = ("&", "++x", "--x", "x++", "x--")


class Passed(Struct, frozen=True):
    """The edits of host code, and which exponents in it are to be from 0 to 30."""

    edits: tuple[Edit, ...]
    asked: tuple[str, ...]


class _Write(Struct, frozen=True):
    """A statement that gives a variable its value: `value` is None where it only declares it."""

    statement: Stmt
    value: Expr | None
    inside: bool


def exponent_name(power: str) -> str:
    """Return what the exponent of a variable is called, whether another one has the name or not.

    >>> exponent_name("width"), exponent_name("n_")
    ('width_exponent', 'n_exponent')
    """
    return f"{power.rstrip('_')}_exponent"


def exponents_passed(
    function: Function, kernel: str, at: int, reducing: Collection[str], fresh: Callable[[str], str]
) -> Passed:
    """Return how a host function passes exponents to parameter `at` of a kernel. `reducing`: kernels that write to
    variables; `fresh` makes names. Raises InputError where what is passed is not seen to be a power of two."""
    powers = _Powers(function, frozenset(f"brook:kernel:{name}" for name in reducing), fresh)
    calls = [one for one in walk(function.body) if _calls(one, kernel)]
    for call in calls:
        assert isinstance(call, Call)
        powers.argument(call.arguments[at])
    return Passed(tuple(powers.edits()), tuple(dict.fromkeys(powers.asked)))


def _calls(node: Node, kernel: str) -> bool:
    return (
        isinstance(node, Call)
        and isinstance(node.function, Name)
        and node.function.symbol.key == (f"brook:kernel:{kernel}")
    )


class _Powers:
    """The variables of one function that hold powers of two, and what is passed of them."""

    def __init__(self, function: Function, reducing: frozenset[str], fresh: Callable[[str], str]) -> None:
        self.function, self.reducing, self.fresh = function, reducing, fresh
        self.asked: list[str] = []
        self._names: dict[Symbol, str] = {}
        self._writes: dict[Symbol, list[tuple[_Write, str]]] = {}
        self._arguments: list[tuple[Span, str]] = []
        self._stay: list[Span] = []
        """The exponents that are written as they stand in the text."""

    def argument(self, expr: Expr) -> None:
        """Pass the exponent of an argument."""
        text = self._exponent(expr)
        if not self._is_asked(expr):
            self.asked.append(f"{text} of line {expr.span.line}")
        self._arguments.append((expr.span, text))

    def _is_asked(self, expr: Expr) -> bool:
        """Whether the range of an exponent is asked already, or seen."""
        match expr:
            case Cast(operand=operand):
                return self._is_asked(operand)
            case Binary(op="<<", left=Literal(value=1)) | Call() | Literal():
                return True
            case Name(symbol=symbol):
                values = [write.value for write, _ in self._writes[symbol] if write.value is not None]
                given = [one.value if isinstance(one, Assign) and one.op == "=" else one for one in values]
                return len(given) == 1 and not isinstance(given[0], Assign | Name) and self._is_asked(given[0])
        return False

    def edits(self) -> Iterator[Edit]:
        """Yield the edits of all arguments, and of the variables that they need."""
        for span, text in self._arguments:
            yield Edit(span, text)
        for symbol, writes in self._writes.items():
            stays = self._is_read(symbol)
            for write, text in writes:
                yield _beside(write.statement, text) if stays else Edit(write.statement.span, text)

    # --- exponents

    def _exponent(self, expr: Expr) -> str:
        """Return the exponent of a power of two as text."""
        match expr:
            case Cast(operand=operand):
                return self._exponent(operand)
            case Literal(value=int() | float() as value):
                if value >= 1 and value == int(value) and int(value).bit_count() == 1 and value <= 1 << _MOST:
                    return str(int(value).bit_length() - 1)
            case Binary(op="<<", left=left, right=right):
                return _sum(self._exponent(left), self._number(right))
            case Call(function=Name(symbol=Symbol(name="pow")), arguments=(Literal(value=2), power)):
                return self._number(power)
            case Binary(op="*", left=left, right=right):
                return _sum(self._exponent(left), self._exponent(right))
            case Name(symbol=symbol) if symbol in self._names or symbol.storage != "parameter":
                return self._variable(symbol, expr)
        raise _unseen(expr.span)

    def _number(self, expr: Expr) -> str:
        """Return the text of an exponent that stands in the text, and ask for its range."""
        while isinstance(expr, Cast) and expr.span == expr.operand.span:
            expr = expr.operand
        if not (isinstance(expr.type, Scalar) and is_integer(expr.type)) or any(map(_acts, walk(expr))):
            raise host_error(expr.span, f"'{expr.span.text}' is no int that can be passed as an exponent")
        text = expr.span.text
        self._stay.append(expr.span)
        if isinstance(expr, Literal) and isinstance(expr.value, int) and expr.value <= _MOST:
            return text
        self.asked.append(f"{text} of line {expr.span.line}")
        simple = isinstance(expr, Binary) and expr.op in ("+", "-", "*")
        return text if simple else wrapped(expr, text)

    # --- variables

    def _variable(self, symbol: Symbol, use: Expr) -> str:
        """Return the variable with the exponent of what a variable holds, made beside it."""
        if symbol not in self._names:
            self._names[symbol] = self.fresh(exponent_name(symbol.name))
            writes = [*self._found(symbol, use)]
            self._writes[symbol] = []
            for one in writes:
                before = len(self._stay)
                self._writes[symbol].append((one, self._statement(symbol, one)))
                if any(_names(self.function, symbol, span) for span in self._stay[before:]):
                    raise _hidden(one.statement.span, symbol)
        return self._names[symbol]

    def _found(self, symbol: Symbol, use: Expr) -> Iterator[_Write]:
        for above in walk(self.function.body):
            for node in children(above):
                match node:
                    case DeclStmt(declarations=declared) if any(one.symbol == symbol for one in declared):
                        (init,) = [one.init for one in declared if one.symbol == symbol]
                        yield self._alone(_Write(node, init, isinstance(above, Block)), use)
                    case ExprStmt(expr=Assign(target=Name(symbol=one)) as assign) if one == symbol:
                        yield self._alone(_Write(node, assign, isinstance(above, Block)), use)
                    case Assign(target=Name(symbol=one)) if one == symbol and not isinstance(above, ExprStmt):
                        raise _hidden(node.span, symbol)
                    case Unary(op=op, operand=Name(symbol=one)) if one == symbol and op in _CHANGES:
                        raise _hidden(node.span, symbol)
                    case Call(function=Name(symbol=called), arguments=given) if called.key in self.reducing:
                        if any(isinstance(one, Name) and one.symbol == symbol for one in given):
                            raise _hidden(node.span, symbol)

    def _alone(self, write: _Write, use: Expr) -> _Write:
        if not write.inside:
            message = f"'{use.span.text}' gets its value here, where no second statement can stand"
            raise host_error(write.statement.span, message, "put braces around it, or pass pow(2.0f, …) itself")
        return write

    def _statement(self, symbol: Symbol, write: _Write) -> str:
        name = self._names[symbol]
        match write.value:
            case None:
                return f"int {name};"
            case Assign(op="=", value=value):
                return f"{name} = {self._exponent(value)};"
            case Assign(op="*=", value=value):
                return f"{name} = {_sum(name, self._exponent(value))};"
            case Assign(op="<<=", value=value):
                return f"{name} = {_sum(name, self._number(value))};"
            case Assign():
                raise _hidden(write.statement.span, symbol)
            case init:
                return f"int {name} = {self._exponent(init)};"

    def _is_read(self, symbol: Symbol) -> bool:
        """Whether the variable itself is read somewhere else than where its exponent is now, or cannot go."""
        gone = [span for span, _ in self._arguments]
        gone += [one.statement.span for writes in self._writes.values() for one, _ in writes if _goes_alone(one)]
        names = _names(self.function, symbol, self.function.span)
        alone = all(_goes_alone(one) for one, _ in self._writes[symbol])
        stays = any(_names(self.function, symbol, span) for span in self._stay)
        return stays or not alone or any(not any(_holds(span, name.span) for span in gone) for name in names)


def _names(function: Function, symbol: Symbol, span: Span) -> list[Name]:
    """Return where a part of a function's text names a variable."""
    found = (n for n in walk(function.body) if isinstance(n, Name) and n.symbol == symbol)
    return [name for name in found if _holds(span, name.span)]


def _goes_alone(write: _Write) -> bool:
    return not isinstance(write.statement, DeclStmt) or len(write.statement.declarations) == 1


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _acts(node: Node) -> bool:
    """Whether evaluating a node does something, so that it may not be done twice."""
    return isinstance(node, Assign | Call | VarDecl) or (isinstance(node, Unary) and node.op in _CHANGES)


def _sum(one: str, other: str) -> str:
    return other if one == "0" else one if other == "0" else f"{one} + {other}"


def _beside(statement: Stmt, text: str) -> Edit:
    """Return the edit that puts a statement behind another, as far to the right."""
    file, end = statement.span.file, statement.span.end
    start = file.offset(statement.span.line)
    line = file.text[start : statement.span.start]
    indent = line[: len(line) - len(line.lstrip())]
    return Edit(Span(file, end, end), f"\n{indent}{text}")


def _unseen(span: Span) -> Exception:
    message = f"'{span.text}' is not seen to be a power of two"
    return host_error(span, message, "pass pow(2.0f, n), 1 << n, a product of such, or a variable that holds one")


def _hidden(span: Span, symbol: Symbol) -> Exception:
    return host_error(span, f"whether '{symbol.name}' is still a power of two behind this is not seen")
