"""Where a step works: the loop that an address names, and the same program with something else in its place.

    lu/k/j        the j loop inside the k loop of function lu; the second i loop in one place is lu/i#2
    lu.c:18       the outermost loop that starts on that line
"""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.tree.nodes import Block, For, Function, If, Loop, Node, Stmt, While, replace
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.walk import loop_names, loops, rebuild

__all__ = ["Place", "with_run", "without_place"]


@dataclass(frozen=True, slots=True)
class Place:
    """A loop in its function; `around` are the loops around it, outermost first."""

    unit: Unit
    function: Function
    loop: Loop
    around: tuple[Loop, ...]

    @classmethod
    def of(cls, program: Program, address: str) -> Place:
        """Return the place that `address` names; raises RefusedError (INP010) with the nearest loops otherwise."""
        file, _, line = address.rpartition(":")
        by_line = int(line) if file and line.isdecimal() else None
        found: list[str] = []
        for unit, function in program.functions():
            around = dict(loops(function.body))
            for loop, name in loop_names(function).items():
                here = by_line == loop.header.line and _is_file(unit.file.path, file)
                if here or name == address:
                    return cls(unit, function, loop, around[loop])
                found.append(name)
        raise RefusedError(without_place(address, found))

    def counted(self) -> For:
        """Return the loop; raises RefusedError (STP002) where it is not a counted one."""
        if isinstance(self.loop, For):
            return self.loop
        message = f"the loop is not a counted one: {self.loop.reason}"
        raise RefusedError(Finding("STP002", "error", message, self.loop.header))


def without_place(address: str, known: list[str]) -> Finding:
    """Return the finding for an address that names no loop."""
    near = difflib.get_close_matches(address, known, n=3, cutoff=0.3) or known[:3]
    helps = (f"the nearest loops: {', '.join(near)}",) if near else ("the input has no loop",)
    return Finding("INP010", "error", f"no loop is called {address}", help=helps)


def with_run(program: Program, function: Function, old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> Program:
    """Return `program` with the statements `old` (consecutive ones of one block of `function`, or the one unbraced body
    of a loop or branch) replaced by `new`. Raises ValueError where they do not stand there."""
    done: list[Node] = []

    def change(node: Node) -> Node:
        match node:
            case Block(statements=statements) if any(s is old[0] for s in statements):
                start = next(k for k, s in enumerate(statements) if s is old[0])
                done.append(node)
                return replace(node, statements=(*statements[:start], *new, *statements[start + len(old) :]))
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


def _arm(arm: Stmt, old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> Stmt:
    return _one(old, new) if arm is old[0] else arm


def _one(old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> Stmt:
    if len(new) == 1:
        return new[0]
    first, last = old[0].span, old[-1].span
    return Block(span=dataclasses.replace(first, end=last.end), statements=new)


def _is_file(path: str, given: str) -> bool:
    given = given.removeprefix("./")
    return path.removeprefix("./") == given or path.endswith("/" + given)


