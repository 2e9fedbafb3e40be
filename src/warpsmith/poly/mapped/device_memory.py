"""What the host does with memory of the device's own: it is allocated, filled by calls of the runtime, freed.

    double *d = omp_target_alloc(n * sizeof(double), dev);
    omp_target_memcpy(d, a, n * sizeof(double), 0, 0, dev, host);
    #pragma omp target teams distribute parallel for is_device_ptr(d)     right
    s += d[0];                                                            wrong: the host cannot read it

There is one copy of it, so nothing of it is ever stale. A port keeps these calls; built without offloading, as a port
is, they work on memory of the host's.

Source: OpenMP 5.2, 18.8 (device memory routines) and 5.4.7 (is_device_ptr); OpenACC 3.3, 3.2 and 2.7.1 (deviceptr).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from warpsmith.base.c_text import words_anywhere
from warpsmith.poly.effects.effects import find_changed_in
from warpsmith.poly.mapped.accessed import certainly_reads, certainly_writes, touched_by
from warpsmith.poly.mapped.host import HostSide, InlinedCall
from warpsmith.poly.mapped.objects import MappedObject
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.free_store import DEVICE_FREES, DEVICE_MAKES, RELEASES
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    If,
    Name,
    Node,
    Return,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.nodes import Literal as Number
from warpsmith.tree.program import Program
from warpsmith.tree.types import Pointer, Symbol
from warpsmith.tree.walk import names, peel, walk

__all__ = ["DeviceMemory", "find_unfollowed", "is_of_runtime"]

Side = Literal["device", "host", ""]

_TRANSFERS: Final = frozenset({"omp_target_memcpy", "acc_memcpy_to_device", "acc_memcpy_from_device"})
"""What copies between memory of the host and of the device: to, from, the number of bytes."""

_SIDES: Final[dict[str, tuple[Side, Side]]] = {
    "acc_memcpy_to_device": ("device", "host"),
    "acc_memcpy_from_device": ("host", "device"),
}
_NUMBERS: Final[dict[str, Side]] = {
    "omp_get_default_device": "device",
    "omp_get_initial_device": "host",
    "omp_get_num_devices": "host",
}
_OWN: Final = ("local", "parameter")
_COMPARES: Final = frozenset({"==", "!=", "&&", "||"})


def is_of_runtime(symbol: Symbol) -> bool:
    """Whether a name is that of a function of the runtime that allocates, copies or frees memory of the device."""
    return symbol.name in _TRANSFERS | DEVICE_MAKES | DEVICE_FREES


def find_unfollowed(program: Program) -> Iterator[Node]:
    """Yield where a program allocates memory of the device in another way than for a pointer of a function's own: what
    has its address is not followed from there."""
    for item in (item for unit in program.units for item in unit.items):
        followed = {id(name) for part in walk(item) for name in _allocates_for(part)}
        yield from (part for part in walk(item) if _names_allocation(part) and id(part) not in followed)


def _names_allocation(part: Node) -> bool:
    if isinstance(part, Verbatim | VerbatimExpr):
        return bool(DEVICE_MAKES & set(words_anywhere(part.text)))
    return isinstance(part, Name) and part.symbol.name in DEVICE_MAKES


def _allocates_for(part: Node) -> Iterator[Name]:
    """Yield the name of the function by whose result a pointer is made, or an assignment is, which is judged itself."""
    value: Expr | None = None
    if isinstance(part, VarDecl) and part.symbol.storage == "local" and isinstance(part.symbol.type, Pointer):
        value = part.init
    elif isinstance(part, Assign) and part.op == "=":
        value = part.value
    value = None if value is None else peel(value)
    while isinstance(value, Cast):
        value = peel(value.operand)
    if isinstance(value, Call) and isinstance(name := peel(value.function), Name):
        yield name


class DeviceMemory(HostSide):
    """A walk's state, with what the host does to memory of the device's own."""

    def host_uses(self, frame: InlinedCall, stmt: Stmt) -> None:
        """Find what a statement of the host does with memory of the device's own that it must not do."""
        for node in walk(stmt):
            if isinstance(node, Call):
                self._call(frame, node, stmt)
            elif isinstance(node, Assign) and not _is_own(node.target) and _allocates_there(node.value):
                text = f"where the address of the device's memory in {node.target.span.text} goes is not known"
                self.words.doubt(stmt.span, node.target.span.text, text)
        if not isinstance(stmt, DeclStmt | ExprStmt | Return):
            self._made_inside(frame, stmt)
        elif isinstance(stmt, DeclStmt) and len(stmt.declarations) > 1:
            self._made_beside(frame, stmt)
        found = {n.symbol for n in self._used(frame, stmt)}
        if not found:
            return
        touched = touched_by(self.facts, frame.function, stmt, frame.values, lambda s: s in found)
        for one in touched:
            sure = self.certain and all(place.of_device for place in frame.objects.places(one.symbol))
            sure = sure and self._surely(frame, stmt, one.symbol)
            self.words.host_touches(stmt.span, one.symbol.name, sure=sure)
        for symbol in sorted(found - {one.symbol for one in touched}, key=lambda symbol: symbol.key):
            self.words.doubt(
                stmt.span, symbol.name, f"where the address of the device's memory in {symbol.name} goes is not known"
            )

    def _surely(self, frame: InlinedCall, stmt: Stmt, symbol: Symbol) -> bool:
        """Whether a statement certainly reads or writes an element."""
        given = (self.facts, frame.function, stmt, symbol)
        return certainly_reads(*given) or certainly_writes(*given)

    def _made_inside(self, frame: InlinedCall, stmt: Stmt) -> None:
        """Doubt a loop or branch of the host in which a pointer is led to such memory."""
        for part in walk(stmt):
            given = part.init if isinstance(part, VarDecl) else part.value if isinstance(part, Assign) else None
            if given is not None and self._leads_there(frame, given):
                self.words.doubt(stmt.span, "", _unknown_use(stmt))

    def _made_beside(self, frame: InlinedCall, stmt: DeclStmt) -> None:
        """Doubt declarations that use, beside it, a pointer which they lead to such memory."""
        made = {one.symbol for one in stmt.declarations if one.init is not None and self._leads_there(frame, one.init)}
        if any(n.symbol in made for one in stmt.declarations if one.init is not None for n in names(one.init)):
            self.words.doubt(stmt.span, "", _unknown_use(stmt))

    def _leads_there(self, frame: InlinedCall, value: Expr) -> bool:
        return any(place.of_device for name in _bare(value) for place in frame.objects.places(name.symbol))

    def beside_calls(self, frame: InlinedCall, stmt: Stmt) -> None:
        """Find what else a statement does with such memory, than to hand it to the functions with directives that it
        calls, which are followed."""
        handed = {id(name) for call in walk(stmt) if isinstance(call, Call) and self._is_followed(call)
                  for argument in call.arguments for name in _bare(argument)}  # fmt: skip
        for name in self._used(frame, stmt):
            if id(name) not in handed:
                self.words.host_touches(stmt.span, name.symbol.name, sure=False)

    def _is_followed(self, call: Call) -> bool:
        function = direct_call(call)
        return function is not None and function in self.has

    def head_uses(self, frame: InlinedCall, stmt: Stmt, heads: tuple[Expr, ...]) -> None:
        """Find where the head of a loop or branch reads memory of the device's own."""
        for head in heads:
            tested = {id(name) for name in _bare(head)}
            for name in self._used(frame, head):
                if id(name) not in tested:
                    self.words.host_touches(stmt.span, name.symbol.name, sure=False)

    def _used(self, frame: InlinedCall, node: Stmt | Expr) -> Iterator[Name]:
        """Yield where a node names what may lead to memory of the device's, but for what may be done with it."""
        allowed = {id(name) for part in walk(node) for name in _only_passed_on(part)}
        for name in names(node):
            if id(name) not in allowed and any(place.of_device for place in frame.objects.places(name.symbol)):
                yield name

    # --- calls of the runtime

    def _call(self, frame: InlinedCall, call: Call, stmt: Stmt) -> None:
        function = direct_call(call)
        name = function.name if function is not None else ""
        if name in _TRANSFERS and len(call.arguments) >= 2:
            self._transfer(frame, call, name, stmt)
        elif name == "omp_target_alloc" and len(call.arguments) == 2:
            if self._side(frame, call.arguments[1]) != "device":
                text = call.arguments[1].span.text
                self.words.doubt(stmt.span, "", f"whether {text} is the device that constructs run on is not known")
        elif name in RELEASES and call.arguments:
            self._freed(frame, call.arguments[0], stmt, of_device=name in DEVICE_FREES)

    def _freed(self, frame: InlinedCall, address: Expr, stmt: Stmt, *, of_device: bool) -> None:
        places, _ = frame.objects.resolve(address)
        for place in places:
            if place.of_device != of_device and (place.of_host or place.of_device):
                self.words.other_memory(stmt.span, place.name, device=place.of_device, sure=len(places) == 1)
            elif of_device and not place.of_device:
                self.words.doubt(stmt.span, place.name, f"whose memory line {stmt.span.line} frees is not known")

    def _transfer(self, frame: InlinedCall, call: Call, name: str, stmt: Stmt) -> None:
        sides = _SIDES.get(name)
        if sides is None:
            sides = (self._side(frame, call.arguments[-2]), self._side(frame, call.arguments[-1]))
        for address, side in zip(call.arguments[:2], sides, strict=True):
            places, _ = frame.objects.resolve(address)
            for place in places:
                self._end_of_transfer(place, side, stmt, sure=len(places) == 1)

    def _end_of_transfer(self, place: MappedObject, side: Side, stmt: Stmt, *, sure: bool) -> None:
        """One of the two ends of a transfer."""
        if side and (place.of_device or place.of_host):
            if place.of_device != (side == "device"):
                self.words.other_memory(stmt.span, place.name, device=place.of_device, sure=sure and self.certain)
        else:
            self.words.doubt(
                stmt.span,
                place.name,
                f"between which memories line {stmt.span.line} copies is not known",
            )

    def _side(self, frame: InlinedCall, expr: Expr) -> Side:
        """Return whose number an expression is: that of the device which constructs run on, or of the host."""
        bare = peel(expr)
        while isinstance(bare, Cast):
            bare = peel(bare.operand)
        if isinstance(bare, Number):
            return "device" if bare.value == 0 else ""
        if isinstance(bare, Name):
            value = _only_value(self, frame, bare.symbol)
            return self._side(frame, value) if value is not None else ""
        function = direct_call(bare) if isinstance(bare, Call) else None
        return _NUMBERS.get(function.name, "") if function is not None and not self._sets_device() else ""

    def is_default(self, frame: InlinedCall, text: str) -> bool:
        """Whether what a device clause says is the device that constructs run on; "": there is no clause."""
        symbol = frame.visible.get(text)
        value = _only_value(self, frame, symbol) if symbol is not None else None
        return text in ("", "0", "omp_get_default_device()") or (
            value is not None and self._side(frame, value) == "device"
        )

    def _sets_device(self) -> bool:
        """Whether the program chooses the device that constructs run on."""

        def find() -> bool:
            every = (n for _, f in self.facts.program.functions() for n in names(f.body))
            return any(n.symbol.name == "omp_set_default_device" for n in every)

        return self.facts.summaries.remember(("sets the default device",), find)


def _only_value(walk_: DeviceMemory, frame: InlinedCall, symbol: Symbol) -> Expr | None:
    """Return the value that a variable of a function has where it is declared, and keeps."""
    if symbol.storage != "local" or symbol in find_changed_in(frame.function, walk_.facts.summaries):
        return None
    found = [n.init for n in walk(frame.function.body) if isinstance(n, VarDecl) and n.symbol == symbol]
    return found[0] if len(found) == 1 else None


def _unknown_use(stmt: Stmt) -> str:
    return f"what line {stmt.span.line} does with memory of the device is not known"


def _is_own(target: Expr) -> bool:
    own = isinstance(target, Name) and target.symbol.storage in _OWN
    return own and isinstance(target.type, Pointer)


def _allocates_there(value: Expr) -> bool:
    calls = (node for node in walk(value) if isinstance(node, Call))
    return any((name := direct_call(call)) is not None and name.name in DEVICE_MAKES for call in calls)


def _only_passed_on(node: Node) -> Iterator[Name]:
    """Yield the names of pointers in a node that another pointer is given, that are compared with nothing else than
    null, or that a call of the runtime takes."""
    match node:
        case VarDecl(symbol=symbol, init=value) if value is not None and isinstance(symbol.type, Pointer):
            yield from _bare(value)
        case Assign(target=Name() as target, value=value) if _is_own(target):
            yield target
            yield from _bare(value)
        case Unary(op="!", operand=tested) | If(condition=tested) | While(condition=tested) if tested is not None:
            yield from _bare(tested)
        case Binary(op=op, left=left, right=right) if op in _COMPARES:
            yield from _bare(left)
            yield from _bare(right)
        case Call(arguments=arguments):
            function = direct_call(node)
            if function is not None and function.name in _TRANSFERS | RELEASES | DEVICE_MAKES:
                for argument in arguments:
                    yield from _bare(argument)
        case _:
            pass


def _bare(expr: Expr) -> Iterator[Name]:
    """Yield the pointer that an expression is, perhaps with an offset."""
    bare = peel(expr)
    while isinstance(bare, Cast):
        bare = peel(bare.operand)
    if isinstance(bare, Name):
        yield bare
    elif isinstance(bare, Binary) and bare.op in ("+", "-"):
        yield from _bare(bare.left)
        yield from _bare(bare.right)
