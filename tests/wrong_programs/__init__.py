"""Programs that are subtly wrong under their pragmas, each with a right twin: `warpsmith port` accepts no wrong one.

The form of a program is that of tests/poly/openmp/pairs; its head line has the class of the error, and what becomes of
the wrong loops and of the twin's:

    === class: title :: refused, ported

    refused    the wrong loop stays on the host, and it is said why
    repaired   the pragma counts for nothing: its loop is a kernel since that is proved without it
    guarded    the pragma is right under a test at run time, which fails: nothing is launched
    rejected   the port rests on the program's word (a pragma, `restrict`), and the referee finds it wrong

    ported or host: what becomes of the twin's loop, whose pragma is never called wrong

Loops over `z` fill what the program needs, or read what it leaves: they may be ported in both.
"""

from __future__ import annotations

import functools
from pathlib import Path

from tests.poly.openmp.pairs import HEAD, MAIN, Pair, functions, read_pairs
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.plan import Fragment, GainOptions, OffloadOptions
from warpsmith.report.port.build import loop_entries
from warpsmith.report.port.claims import claim_findings
from warpsmith.report.port.mapped import mapped_findings

__all__ = ["KINDS", "is_meant", "launched", "outcome", "port_program", "programs", "what_is_said", "why_on_host"]

KINDS = ("subscripts", "aliases", "lists", "threads", "loops", "devices")


@functools.cache
def programs() -> dict[str, Pair]:
    """Return all pairs by title."""
    found = [pair for kind in KINDS for pair in read_pairs(Path(__file__).with_name(f"{kind}.pairs"))]
    assert len({pair.title for pair in found}) == len(found)
    return {pair.title: pair for pair in found}


def port_program(pair: Pair, folder: Path, *, wrong: bool, everything: bool = True, verify: bool = False) -> PortResult:
    """Port one of the two; `everything`: as with --all."""
    path = folder / ("wrong.c" if wrong else "right.c")
    path.write_text(HEAD + functions(pair, wrong=wrong) + MAIN)
    return port(
        [str(path)], PortOptions(offload=OffloadOptions(gain=GainOptions(everything=everything)), verify=verify)
    )


def launched(result: PortResult) -> tuple[Fragment, ...]:
    """Return the kernels of the loops that the program is about."""
    made = () if result.plan is None else result.plan.fragments
    return tuple(f for f in made if f.function.symbol.name.endswith("_q") and any(map(is_meant, f.loops)))


def is_meant(loop: str) -> bool:
    """Whether a loop, by its address, is one that the program is about."""
    return loop.rpartition("/")[2].partition("#")[0] != "z"


def outcome(result: PortResult) -> str:
    """Return what became of a wrong program before the referee: `trusted` where the port rests on a pragma's word,
    `accepted` where nothing speaks against what is wrong."""
    kernels = launched(result)
    if not kernels:
        return "refused"
    if any(a.kind == "granted" for kernel in kernels for a in kernel.assumptions):
        return "trusted"
    if what_is_said(result).keys() & {"CLM001", "CLM002", "CLM003", "CLM005"} or not _claims(result):
        return "repaired"
    return "guarded" if any(one.assumptions for one in _claims(result)) else "accepted"


def _claims(result: PortResult) -> list[Proved]:
    """Return the verdicts on pragmas that are proved."""
    verdicts = (one.verdict for f in result.facts.functions for loop in f.loops for one in loop.claims)
    return [verdict for verdict in verdicts if isinstance(verdict, Proved)]


def what_is_said(result: PortResult) -> dict[str, list[str]]:
    """Return the messages about pragmas by their codes."""
    claims = claim_findings(result.facts.functions, result.prepared.facts.functions)
    said: dict[str, list[str]] = {}
    for finding in (*result.diagnostics, *claims, *mapped_findings(result.facts)):
        if finding.rule.startswith("CLM"):
            said.setdefault(finding.rule, []).append(finding.message)
    return said


def why_on_host(result: PortResult) -> list[str]:
    """Return the reasons for the loops that stay, one each."""
    entries = (entry for entry in loop_entries(result.prepared, result.plan) if entry.kernel is None)
    found = [entry for entry in entries if entry.function.endswith("_q") and is_meant(entry.id)]
    return [entry.reasons[0].text for entry in found if entry.reasons]
