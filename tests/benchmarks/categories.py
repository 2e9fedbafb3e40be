"""Categories in a report are true: `parallel` only as written; the steps that another one names make it so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.tree.nodes import ExprStmt, For, Node
from warpsmith.tree.walk import walk

__all__ = ["Loops", "check_categories"]

Loops = list[dict[str, object]]


def as_written(path: Path, options: FrontOptions) -> dict[str, LoopFacts]:
    facts = analyze(load_program([str(path)], options).program, PolyOptions())
    return {loop.id: loop for function in facts.functions for loop in function.loops}


def replayed(path: Path, options: FrontOptions, steps: tuple[str, ...]) -> PortResult:
    """Apply the steps that a report names, and nothing else."""
    return port([str(path)], PortOptions(front=options, survey=True, steps=False, transforms=steps))


def pieces(result: PortResult, loop: LoopFacts) -> Iterator[LoopFacts]:
    """Yield what the steps made of a loop: those with its header and counter; where there are none, those that hold
    its statements."""
    known = [facts for function in result.prepared.facts.functions for facts in function.loops]
    own = [facts for facts in known if is_piece(facts, loop)]
    inside = {place(part.span) for part in statements(loop.loop)}
    yield from own or [facts for facts in known if any(place(part.span) in inside for part in statements(facts.loop))]


def statements(loop: Node) -> Iterator[ExprStmt]:
    return (part for part in walk(loop) if isinstance(part, ExprStmt))


def place(span: Span) -> tuple[int, int]:
    """Return where text stands, whoever has read the file."""
    return span.start, span.end


def is_piece(facts: LoopFacts, loop: LoopFacts) -> bool:
    return place(facts.loop.header) == place(loop.loop.header) and counter(facts.loop) == counter(loop.loop)


def counter(loop: Node) -> str:
    return loop.variable.name if isinstance(loop, For) else ""


def check_categories(path: Path, options: FrontOptions, loops: Loops) -> None:
    """Check what a report says of the loops of one program."""
    written, results = as_written(path, options), dict[tuple[str, ...], PortResult]()
    assert {loop["id"] for loop in loops} == set(written)
    for loop in loops:
        facts, steps = written[str(loop["id"])], tuple(str(step) for step in named(loop))
        assert (loop["category"] == "parallel") == isinstance(facts.verdict, Proved), loop["id"]
        assert not steps if loop["category"] == facts.category else steps, loop["id"]
        if not steps:
            continue
        if steps not in results:
            results[steps] = replayed(path, options, steps)
        found = list(pieces(results[steps], facts))
        own = [piece for piece in found if is_piece(piece, facts)]
        if loop["category"] != "parallel-after":
            assert any(piece.category == loop["category"] for piece in found), loop["id"]
            continue
        assert all(isinstance(piece.verdict, Proved) for piece in own), loop["id"]
        assert any(isinstance(piece.verdict, Proved) for piece in found), loop["id"]


def named(loop: dict[str, object]) -> list[object]:
    steps = loop.get("steps", [])
    assert isinstance(steps, list)
    return steps
