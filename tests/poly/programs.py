"""C text to trees, for tests of poly."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Function, Loop
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names


def load(text: str, folder: Path) -> Program:
    """Return the program of one C file."""
    path = folder / "program.c"
    path.write_text(text)
    loaded = load_program([str(path)], FrontOptions())
    assert not [f for f in loaded.findings if f.severity == "error"], loaded.findings
    return loaded.program


def function(program: Program, name: str) -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def loop(program: Program, address: str) -> Loop:
    """Return the loop `f/i/j`."""
    found = loop_names(function(program, address.split("/")[0]))
    return next(node for node, name in found.items() if name == address)


def shown(symbols: object) -> str:
    """Return the names of symbols, sorted, as one text."""
    assert isinstance(symbols, frozenset | set | tuple)
    return " ".join(sorted(s.name for s in symbols if isinstance(s, Symbol)))
