"""Which tests a mutant is run with: those that execute what it changes, the fastest first.

A run of a group's tests under `coverage` says which test executes which lines, and how long each takes. What no test
executes by itself, but the loading of a module does, may matter to all tests that execute anything of the file.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from benchmarks.mutants.operators import Mutant
from msgspec import Struct

__all__ = ["Measured", "Test", "changed_lines", "executing"]


class Test(Struct, frozen=True):
    """A test: its pytest name, how long it takes, and the lines that it executes in each file."""

    __test__ = False
    name: str
    seconds: float
    lines: Mapping[str, frozenset[int]]


class Measured(Struct, frozen=True):
    """A run of all tests of a group; `outside`: lines that are executed while files are loaded."""

    tests: Sequence[Test]
    outside: Mapping[str, frozenset[int]]

    def is_outside(self, source: str, lines: frozenset[int]) -> bool:
        """Whether some of the lines are executed outside of tests."""
        return bool(self.outside.get(source, frozenset()) & lines)


def executing(measured: Measured, source: str, lines: frozenset[int]) -> list[Test]:
    """Return the tests that changed lines of a file may matter to, the fastest first."""
    everywhere = measured.is_outside(source, lines)
    found = (t for t in measured.tests if (mine := t.lines.get(source)) and (everywhere or mine & lines))
    return sorted(found, key=lambda test: test.seconds)


def changed_lines(text: str, mutant: Mutant) -> frozenset[int]:
    """Return the lines of the statement that a mutant of `text` changes; of one with a body, those above the body."""
    own = range(mutant.line, mutant.line + mutant.before.count("\n") + 1)
    inside = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and node.lineno <= mutant.line <= (node.end_lineno or node.lineno)
    ]
    if not inside:
        return frozenset(own)
    innermost = max(inside, key=lambda node: node.lineno)
    return frozenset(own) | frozenset(range(innermost.lineno, _last_line(innermost) + 1))


def _last_line(node: ast.stmt) -> int:
    match node:
        case ast.Match(subject=subject):
            return subject.end_lineno or subject.lineno
        case (
            ast.FunctionDef(body=body)
            | ast.ClassDef(body=body)
            | ast.If(body=body)
            | ast.For(body=body)
            | ast.While(body=body)
            | ast.With(body=body)
            | ast.Try(body=body)
        ):
            return max(node.lineno, body[0].lineno - 1)
        case _:
            return node.end_lineno or node.lineno
