"""C text in, facts out."""

from __future__ import annotations

import tempfile
from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.tree.program import Assumption, Program


def program_of(text: str) -> Program:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.c"
        path.write_text(text)
        loaded = load_program([str(path)], FrontOptions())
    assert not [f for f in loaded.findings if f.severity == "error"], loaded.findings
    return loaded.program


def facts_of(text: str, *granted: str, guards: bool = True) -> dict[str, LoopFacts]:
    """Return the facts of every loop by its id."""
    options = PolyOptions(guards=guards, granted=tuple(Assumption(g, "granted") for g in granted))
    facts: Facts = analyze(program_of(text), options)
    return {x.id: x for f in facts.functions for x in f.loops}


def assumed(facts: LoopFacts) -> list[str]:
    """Return the texts of a verdict's assumptions."""
    return [a.text for a in getattr(facts.verdict, "assumptions", ())]
