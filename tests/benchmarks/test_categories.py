"""A loop is `parallel` only as it is written; one that is `parallel-after` names the steps, and they make it so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.polybench.suite import programs

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.tree.nodes import ExprStmt, For, Node
from warpsmith.tree.walk import walk

Loops = list[dict[str, object]]

# programs that are nothing without steps
AFTER = ("floyd-warshall", "ludcmp", "nussinov", "seidel-2d", "trisolv")


def reported(path: Path, capsys: pytest.CaptureFixture[str]) -> Loops:
    run_guarded(warpsmith, ["port", str(path), "--json", "--verify", "off"])
    document = json.loads(capsys.readouterr().out)
    loops = document["loops"]
    assert isinstance(loops, list)
    return loops


def as_written(path: Path) -> dict[str, LoopFacts]:
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions())
    return {loop.id: loop for function in facts.functions for loop in function.loops}


def replayed(path: Path, steps: tuple[str, ...]) -> PortResult:
    """Apply the steps that a report names, and nothing else."""
    return port([str(path)], PortOptions(survey=True, steps=False, transforms=steps))


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


@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_categories_are_what_they_say(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written, results = as_written(path), dict[tuple[str, ...], PortResult]()
    loops = reported(path, capsys)
    assert {loop["id"] for loop in loops} == set(written)
    for loop in loops:
        facts, steps = written[str(loop["id"])], tuple(str(step) for step in named(loop))
        assert (loop["category"] == "parallel") == isinstance(facts.verdict, Proved), loop["id"]
        if loop["category"] != "parallel-after":
            assert not steps, loop["id"]
            continue
        assert steps, loop["id"]
        if steps not in results:
            results[steps] = replayed(path, steps)
        found = list(pieces(results[steps], facts))
        own = [piece for piece in found if is_piece(piece, facts)]
        assert all(isinstance(piece.verdict, Proved) for piece in own), loop["id"]
        assert any(isinstance(piece.verdict, Proved) for piece in found), loop["id"]


def named(loop: dict[str, object]) -> list[object]:
    steps = loop.get("steps", [])
    assert isinstance(steps, list)
    return steps


@pytest.mark.parametrize("name", AFTER)
def test_some_programs_need_steps(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(path for path in programs() if path.stem == name)
    assert any(loop["category"] == "parallel-after" for loop in reported(path, capsys))
