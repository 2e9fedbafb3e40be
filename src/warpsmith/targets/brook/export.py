"""A kernel of CUDA or OpenCL becomes a text of Brook+, in which a thread is an element of the out streams.

    a written at the thread's own place      out T a<>, and T a_before<> where it may stay as it was, or is read
    b read                                   T b[]             numbers      constants
    a[y * W + x]                             streams of two axes; W becomes the width of the domain

Threads that read what others write are refused, and so is what Brook+ has not: blocks, atomics, addresses. No array may
be given twice. The text reads back, and computes the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warpsmith.targets.brook.names import RESERVED, type_name
from warpsmith.targets.brook.places import StreamPlaces, bare
from warpsmith.targets.brook.refused import refuse_brook
from warpsmith.targets.brook.writing import BrookWriter
from warpsmith.tree.nodes import Assign, Call, Expr, ExprStmt, Function, Node, Return, Stmt
from warpsmith.tree.types import FunctionType, Pointer, Symbol
from warpsmith.tree.walk import walk

__all__ = ["write_brook"]


def write_brook(kernel: Function, functions: Iterable[Function]) -> str:
    """Return a kernel as a text of Brook+; `functions`: those of its file. Raises InputError with the line that cannot
    be in one."""
    return _Exporter(kernel, {one.symbol.key: one for one in functions}).text()


class _Exporter:
    """Writes one kernel, and what it calls."""

    def __init__(self, kernel: Function, functions: dict[str, Function]) -> None:
        self.kernel, self.functions = kernel, functions
        self.helpers: dict[str, tuple[str, str]] = {}
        self.places = StreamPlaces(kernel)
        self.writer = BrookWriter(kernel, self.places, self.called)
        self.before: dict[str, str] = {}

    def text(self) -> str:
        """Return the whole text."""
        if not self.places.written:
            raise refuse_brook(f"{self.kernel.symbol.name} writes to no element of its own", self.kernel.span)
        before = {key for key, symbol in self.places.written.items() if self._stays(symbol)}
        body = [line for one in self.kernel.body.statements for line in self.writer.lines(one, 1)]
        first = [
            f"    {self.writer.name(s)} = {self._before(s)};" for k, s in self.places.written.items() if k in before
        ]
        parameters = ", ".join(part for one in self.kernel.parameters for part in self._parameter(one, before))
        name = _name(self.kernel.symbol)
        row = f"// the out streams are as wide as {self.places.row.name}\n" if self.places.row is not None else ""
        whole = "\n".join((f"kernel void {name}({parameters})", "{", *first, *body, "}"))
        return "".join(f"{text}\n\n" for _, text in self.helpers.values()) + f"{row}{whole}\n"

    def _before(self, symbol: Symbol) -> str:
        """Return what the stream with the elements before is called."""
        if symbol.key not in self.before:
            self.before[symbol.key] = self.writer.fresh(f"{symbol.name}_before")
        return self.before[symbol.key]

    def _parameter(self, one: Symbol, before: set[str]) -> Iterator[str]:
        name = self.writer.name(one)
        if not isinstance(one.type, Pointer):
            yield f"{type_name(one.type, one.span, one.name)} {name}"
            return
        element = type_name(one.type.to, one.span, f"an element of {one.name}") if self._is_used(one) else ""
        if one.key in before:
            yield f"{element} {self._before(one)}<>"
        if one.key in self.places.written:
            yield f"out {element} {name}<>"
        elif one.key in self.writer.read:
            yield f"{element} {name}[]"

    def _is_used(self, one: Symbol) -> bool:
        return one.key in self.places.written or one.key in self.writer.read

    def _stays(self, symbol: Symbol) -> bool:
        """Whether an element may stay as it was, or is read before it is written."""
        for one in self.kernel.body.statements:
            accesses = [node for node in walk(one) if self._is_of(node, symbol)]
            if not accesses:
                if any(isinstance(node, Return) for node in walk(one)):
                    return True
                continue
            return len(accesses) > 1 or not self._sets(one, symbol)
        return True

    def _is_of(self, node: Node, symbol: Symbol) -> bool:
        access = self.places.access(node) if isinstance(node, Expr) else None
        return access is not None and access.array.key == symbol.key

    def _sets(self, one: Stmt, symbol: Symbol) -> bool:
        """Whether a statement gives the thread's element of an array a value, whatever else it does."""
        e = bare(one.expr) if isinstance(one, ExprStmt) else None
        return isinstance(e, Assign) and e.op == "=" and self._is_of(bare(e.target), symbol)

    # --- functions that are called

    def called(self, symbol: Symbol, call: Call) -> str:
        """Return the name of a function that a kernel calls, and write it; raises InputError."""
        function = self.functions.get(symbol.key)
        if function is None:
            raise refuse_brook(f"Brook+ has no {symbol.name}", call.span, "write it in another way")
        if symbol.key not in self.helpers:
            name = _name(symbol)
            while name in [_name(self.kernel.symbol), *(taken for taken, _ in self.helpers.values())]:
                name += "_"
            self.helpers[symbol.key] = (name, "")
            text = self._helper(function, name)
            del self.helpers[symbol.key]
            self.helpers[symbol.key] = (name, text)
        elif not self.helpers[symbol.key][1]:
            raise refuse_brook(f"{symbol.name} calls itself, and hardware of Brook+ has no stack", call.span)
        return self.helpers[symbol.key][0]

    def _helper(self, function: Function, name: str) -> str:
        writer = BrookWriter(function, None, self.called)
        kind = function.symbol.type
        assert isinstance(kind, FunctionType)
        result = type_name(kind.result, function.span, f"what {name} returns")
        given = (f"{type_name(one.type, one.span, one.name)} {writer.name(one)}" for one in function.parameters)
        head = f"kernel {result} {name}({', '.join(given)})"
        return "\n".join((head, *_body(writer, function.body.statements)))


def _body(writer: BrookWriter, statements: Sequence[Stmt]) -> Iterator[str]:
    yield "{"
    for one in statements:
        yield from writer.lines(one, 1)
    yield "}"


def _name(symbol: Symbol) -> str:
    """Return a name that Brook+ takes."""
    name = "".join(letter if letter.isalnum() else "_" for letter in symbol.name)
    return f"{name}_" if name in RESERVED else name
