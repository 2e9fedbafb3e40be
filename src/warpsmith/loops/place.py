"""Where a step works: the loop that an address names, and the same program with something else in its place.

lu/k/j        the j loop inside the k loop of function lu; the second i loop in one place is lu/i#2
lu.c:18       the outermost loop that starts on that line
lu.c:lu/k/j   the same as lu/k/j, where two files have such a function
"""

from __future__ import annotations

import difflib

import msgspec.structs
from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding, Note
from warpsmith.tree.nodes import Block, Case, For, Function, If, Loop, Node, Stmt, While, replace
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.walk import loop_names, loops, rebuild

__all__ = ["LoopContext", "report_missing", "with_run"]


class LoopContext(Struct, frozen=True):
    """A loop in its function; `around` are the loops around it, outermost first."""

    unit: Unit
    function: Function
    loop: Loop
    around: tuple[Loop, ...]

    @classmethod
    def of(cls, program: Program, address: str) -> LoopContext:
        """Return the place that `address` names; raises RefusedError where there is none (INP010, with the nearest
        loops) or more than one (INP011)."""
        found: dict[str, LoopContext] = {}
        known: list[str] = []
        for unit, function in program.functions():
            names = loop_names(function)
            known += names.values()
            around = dict(loops(function.body))
            here = [loop for loop, name in names.items() if _is_named(unit, loop, name, address)]
            for loop in here:
                if not any(outer in here for outer in around[loop]):
                    # a header's function stands in every unit that includes it
                    found.setdefault(f"{loop.span}{names[loop]}", cls(unit, function, loop, around[loop]))
        if len(found) > 1:
            raise RefusedError(_ambiguous(address, tuple(found.values())))
        if not found:
            raise RefusedError(report_missing(address, known))
        return next(iter(found.values()))

    def require_counted(self) -> For:
        """Return the loop; raises RefusedError (STP002) where it is not a counted one."""
        if isinstance(self.loop, For):
            return self.loop
        message = f"the loop is not a counted one: {self.loop.reason}"
        raise RefusedError(Finding("STP002", "error", message, self.loop.header))


def report_missing(address: str, known: list[str]) -> Finding:
    """Return the finding for an address that names no loop."""
    near = difflib.get_close_matches(address, known, n=3, cutoff=0.3) or known[:3]
    helps = (f"the nearest loops: {', '.join(near)}",) if near else ("the input has no loop",)
    return Finding("INP010", "error", f"no loop is called {address}", help=helps)


def _ambiguous(address: str, found: tuple[LoopContext, ...]) -> Finding:
    """Return the finding for an address that names several loops."""
    own = [loop_names(place.function)[place.loop] for place in found]
    same = len(set(own)) < len(own)
    texts = [f"{place.unit.file.path}:{text}" if same else text for place, text in zip(found, own, strict=True)]
    related = tuple(Note(place.loop.header, "") for place in found[1:])
    message = f"{address} names {len(found)} loops"
    return Finding("INP011", "error", message, found[0].loop.header, (f"say which: {', '.join(texts)}",), related)


def with_run(program: Program, function: Function, old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> Program:
    """Return `program` with the statements `old` (consecutive ones of one block of `function`, or the one unbraced body
    of a loop or branch) replaced by `new`. Raises ValueError where they do not stand there."""
    done: list[Node] = []

    def change(node: Node) -> Node:
        match node:
            case Block(statements=statements) if any(s is old[0] for s in statements):
                done.append(node)
                return replace(node, statements=_splice_run(statements, old, new))
            case Case(body=statements) if any(s is old[0] for s in statements):
                done.append(node)
                return replace(node, body=_splice_run(statements, old, new))
            case For(body=body) | While(body=body) if body is old[0]:
                done.append(node)
                return replace(node, body=_one(old, new))
            case If(then=then, other=other) if then is old[0] or other is old[0]:
                done.append(node)
                return replace(node, then=_arm(then, old, new), other=other and _arm(other, old, new))
            case _:
                return node

    changed = rebuild(function, change)
    if not done:
        raise ValueError("the statements to replace do not stand in their function")
    return program.with_function(function, changed)


def _splice_run(run: tuple[Stmt, ...], old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    start = next(k for k, s in enumerate(run) if s is old[0])
    return (*run[:start], *new, *run[start + len(old) :])


def _arm(arm: Stmt, old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> Stmt:
    return _one(old, new) if arm is old[0] else arm


def _one(old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> Stmt:
    if len(new) == 1:
        return new[0]
    first, last = old[0].span, old[-1].span
    return Block(span=msgspec.structs.replace(first, end=last.end), statements=new)


def _is_named(unit: Unit, loop: Loop, name: str, address: str) -> bool:
    # A method's own name has colons too: `Grid::fill/i`, `grid.cpp:Grid::fill/i`.
    if name == address:
        return True
    file, _, own = address.rpartition(":")
    if file and own.isdecimal():
        return str(loop.header.line) == own and _is_file(unit.file.path, file)
    return address.endswith(f":{name}") and _is_file(unit.file.path, address.removesuffix(f":{name}"))


def _is_file(path: str, given: str) -> bool:
    given = given.removeprefix("./")
    return path.removeprefix("./") == given or path.endswith("/" + given)
