"""C text with what poly finds out about it, and the parts of it that a test speaks of by their text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from tests.offload.hand import load
from warpsmith.offload.fragments import DraftChoice, OffloadRequest
from warpsmith.offload.names import Names
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.selection.choice import choose
from warpsmith.poly.analyze import analyze
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import FunctionFacts, PolyOptions
from warpsmith.tree.nodes import Expr, Function, Name, Node, Stmt, VarDecl
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

N = TypeVar("N", bound=Node)


class Analyzed(Struct, frozen=True):
    """One program, and the facts of its functions by their names."""

    program: Program
    facts: Mapping[str, FunctionFacts]

    def function(self, name: str = "f") -> Function:
        return self.facts[name].function

    def request(self, name: str = "f", options: OffloadOptions | None = None) -> OffloadRequest:
        names, known = Names(self.program).scope(), Summaries.of(self.program)
        return OffloadRequest(self.program, self.facts[name], options or OffloadOptions(), PolyOptions(), names, known)

    def choice(self, name: str = "f", options: OffloadOptions | None = None) -> DraftChoice:
        return choose(self.request(name, options), {})

    def find(self, text: str, kind: type[N], function: str = "f") -> N:
        """Return the first node of a kind in a function that begins with this text."""
        body = self.function(function).body
        return next(n for n in walk(body) if isinstance(n, kind) and n.span.text.startswith(text))

    def statement(self, text: str, function: str = "f") -> Stmt:
        return next(
            n for n in walk(self.function(function).body) if isinstance(n, Stmt) and n.span.text.startswith(text)
        )

    def expr(self, text: str, function: str = "f") -> Expr:
        """Return the first expression that is this text."""
        return next(n for n in walk(self.function(function).body) if isinstance(n, Expr) and n.span.text == text)

    def symbol(self, name: str, function: str = "f") -> Symbol:
        body = self.function(function)
        declared = (n.symbol for n in walk(body.body) if isinstance(n, VarDecl | Name))
        return next(s for s in (*body.parameters, *declared) if s.name == name)


def analyzed(text: str, folder: Path) -> Analyzed:
    program = load(text, folder)
    facts = analyze(program, PolyOptions()).functions
    return Analyzed(program, {one.function.symbol.name: one for one in facts})
