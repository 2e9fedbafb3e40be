"""The text of a unit with its constructs written out as the loops that they are read as."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from tests.random_programs.steps_sequences import NoWords
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.front.teams.read import ReadTeams, read_teams
from warpsmith.tree.nodes import Block, Node, Pragma
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.program import Program
from warpsmith.tree.walk import rebuild

__all__ = ["as_loops", "read_text"]


def read_text(text: str, folder: Path, *, granted: bool = True) -> tuple[Program, ReadTeams]:
    """Return a program of one file, and what is read of it."""
    file = folder / "unit.c"
    file.write_text(text)
    loaded = load_program([str(file)], FrontOptions())
    assert not loaded.findings
    return loaded.program, read_teams(loaded.program, lambda name: granted)


def as_loops(original: Program, found: ReadTeams) -> str:
    """Return the text in which every construct that was read is written as loops."""
    unit = found.program.units[0]

    def write(node: Node) -> Node:
        first = node.statements[0] if isinstance(node, Block) and node.statements else None
        made = isinstance(first, Pragma) and first.reading is not None
        return replace(node, intact=False) if made and node.intact else node

    new = {id(f): rebuild(f, write) for f in unit.functions}
    items = tuple(new.get(id(item), item) for item in unit.items)
    written = replace(unit, items=items, functions=tuple(new.values()))
    return unit_text(original.units[0], written, NoWords())
