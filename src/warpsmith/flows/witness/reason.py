"""Why nothing was seen in a launch on made up arguments, in words: the loop that does not end, the array that is left.

line 12 goes before the start of a
the loops at lines 4 and 6 do not end within 20,000,000 instructions, where n is 512
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from warpsmith.base.source import Span
from warpsmith.flows.witness.attempt import INTERPRETED, STEPS, FailedLaunch
from warpsmith.flows.witness.dependence import decides_loops
from warpsmith.simt.launch import KernelProblem
from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import Function

__all__ = ["reason_of"]

_FEW: Final = 3


def reason_of(function: Function, failed: FailedLaunch, numbers: Mapping[str, str], arrays: Iterable[str]) -> str:
    """Return why a launch of a kernel showed nothing; `numbers` and `arrays` were made up for it."""
    problem = failed.problem
    match problem.kind:
        case "budget":
            return _endless(function, failed, numbers)
        case "bounds" if problem.where is not None and problem.where[0] in arrays:
            name, offset, _ = problem.where
            where = "before the start of" if offset < 0 else "far behind the end of"
            return f"{_line(problem.span)} goes {where} {name}"
        case "bounds":
            return f"{_line(problem.span)} goes where there is no memory{_what(problem)}"
        case _:
            return problem.message if problem.span is None else f"{_line(problem.span)}: {problem.message}"


def _what(problem: KernelProblem) -> str:
    return "" if problem.where is None else f" ({problem.message})"


def _line(span: Span | None) -> str:
    return "an access" if span is None else f"line {span.line}"


def _endless(function: Function, failed: FailedLaunch, numbers: Mapping[str, str]) -> str:
    """Return which loops are not left, and what of that hangs on numbers that were made up."""
    graph = Graph.of(function)
    cycles = tuple(_inside(graph.cycles)) if failed.at is None else graph.cycles_around(failed.at.name)
    found = decides_loops(function, cycles)
    where = [f"{name} is {text}" for name, text in numbers.items() if name in found]
    if "memory" in found:
        where.append("memory holds random numbers")
    said = f", where {', '.join(where[:_FEW])}" if where else ""
    lines = sorted({line for cycle in cycles if (line := _first_line(function, cycle))})
    listed = f"the loop{'s' if len(lines) > 1 else ''} at line{'s' if len(lines) > 1 else ''} {_and(lines)}"
    who = listed if 1 <= len(lines) <= _FEW else "it"
    return (
        f"{who} {'do' if len(lines) > 1 and who != 'it' else 'does'} not end within {_steps(failed)} instructions{said}"
    )


def _steps(failed: FailedLaunch) -> str:
    return f"{INTERPRETED if failed.interpreted else STEPS:,}"


def _and(lines: list[int]) -> str:
    *others, last = map(str, lines or [0])
    return f"{', '.join(others)} and {last}" if others else last


def _inside(cycles: Iterable[Cycle]) -> Iterator[Cycle]:
    """Yield loops, and those in them."""
    for cycle in cycles:
        yield cycle
        yield from _inside(cycle.children)


def _first_line(function: Function, cycle: Cycle) -> int:
    """Return the line of a loop's condition, 0 where that has none."""
    header = next(block for block in function.blocks if block.name == cycle.header)
    spans = [one.span for one in (*header.instructions, header.terminator) if one is not None and one.span is not None]
    return spans[-1].line if spans else 0
