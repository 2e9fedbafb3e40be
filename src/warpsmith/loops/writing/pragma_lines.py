"""Pragmas that stand before a loop: what a step puts before the loop goes before them.

double *u = s->u;                 new
#pragma omp parallel for          belongs to the loop
for (i …)

A preprocessor conditional around pragmas alone belongs to them: the rewritten text has what the build at hand has. One
that other code shares ends where the pragmas begin:

#ifdef THREADS
    set_threads(4);
#endif                            the line that `closing_lines` returns
    double *u = s->u;             new
#pragma omp parallel for
    for (i …)
"""

from __future__ import annotations

import re
from typing import TypeGuard, TypeVar

import msgspec.structs

from warpsmith.base.verdict import Reason
from warpsmith.loops.place import LoopContext
from warpsmith.tree.nodes import Block, Pragma, Stmt, Verbatim
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.walk import walk

__all__ = ["closing_lines", "open_lists", "pragma_in_the_way", "pragmas_of", "run_with_pragmas"]

Run = tuple[Stmt, ...]


def run_with_pragmas(place: LoopContext) -> Run:
    """Return the loop with the pragmas that stand directly before it, and the preprocessor lines between and around
    them: nothing may come between them."""
    for node in walk(place.function.body):
        if isinstance(node, Block) and any(s is place.loop for s in node.statements):
            position = next(k for k, s in enumerate(node.statements) if s is place.loop)
            return node.statements[_first(node.statements[:position]) : position + 1]
    return (place.loop,)


def pragmas_of(run: Run) -> tuple[Pragma, ...]:
    """Return the pragmas of a loop with what stands before it, as they are above a loop that has new variables; without
    those that the build at hand leaves out."""
    kept = (stmt for stmt in run[:-1] if isinstance(stmt, Pragma) and not _is_line(stmt))
    return tuple(open_lists(stmt) for stmt in kept if not stmt.left_out)


S = TypeVar("S", bound=Stmt)


def open_lists(stmt: S) -> S:
    """Return a pragma without `default(none)`, another statement as it is: a new variable of the host is shared, as by
    default, and all others are listed."""
    directive = stmt.directive if isinstance(stmt, Pragma) else None
    if directive is None or directive.unknown or directive.family != "omp" or not _lists_all(directive):
        return stmt
    clauses = tuple(clause for clause in directive.clauses if clause.name != "default")
    text = " ".join(["#pragma omp", *directive.words, *(clause.text for clause in clauses)])
    opened = msgspec.structs.replace(directive, clauses=clauses)
    return msgspec.structs.replace(stmt, intact=False, text=text, directive=opened)


def _lists_all(directive: Directive) -> bool:
    return any(clause.text.replace(" ", "") == "default(none)" for clause in directive.clauses)


def closing_lines(run: Run) -> Run:
    """Return the lines of a loop with what stands before it that end conditionals begun above: they stand before what
    is put in the loop's place."""
    kept: list[Stmt] = []
    depth = 0
    for stmt in run:
        word = _word(stmt)
        if word == "endif" and depth == 0:
            kept.append(stmt)
        depth = max(depth + word.startswith("if") - (word == "endif"), 0)
    return tuple(kept)


def _first(above: Run) -> int:
    """Return where the pragmas at the end of `above` begin, with the conditional around them."""
    start = len(above)
    while start and (_belongs(above[start - 1]) or _is_line(above[start - 1])):
        start -= 1
    first = next((k for k in range(start, len(above)) if _belongs(above[k])), len(above))
    whole = first
    while _left_open(above[whole:]) and whole > start:
        whole -= 1
    return first if _left_open(above[whole:]) else whole


def _left_open(run: Run) -> bool:
    """Whether a conditional ends among preprocessor lines that does not begin there."""
    words = [_word(stmt) for stmt in run]
    return sum((word == "endif") - word.startswith("if") for word in words) > 0


def _has_other_arm(run: Run) -> bool:
    """Whether a conditional that does not begin among the statements has another arm there."""
    depth = 0
    for word in map(_word, run):
        if word.startswith("el") and depth == 0:
            return True
        depth = max(depth + word.startswith("if") - (word == "endif"), 0)
    return False


def _word(stmt: Stmt) -> str:
    """Return what a preprocessor line that is no pragma begins with (`ifdef`), nothing for another statement."""
    found = re.match(r"#\s*(\w*)", stmt.text) if _is_line(stmt) else None
    return found[1] if found else ""


def _is_line(stmt: Stmt) -> TypeGuard[Verbatim | Pragma]:
    """Whether a statement is a preprocessor line, but no pragma."""
    return isinstance(stmt, Verbatim | Pragma) and re.match(r"#(?!\s*pragma\b)", stmt.text) is not None


def _belongs(stmt: Stmt) -> bool:
    """Whether a statement is a pragma about what follows it, not one that does something itself (a barrier)."""
    if not isinstance(stmt, Pragma) or _is_line(stmt):
        return False
    return stmt.directive is None or not stmt.directive.stands_alone


def pragma_in_the_way(place: LoopContext) -> Reason | None:
    """Return why a pragma forbids new variables here: it lists all variables, it binds a perfect nest, or it stands in
    one arm of a conditional that holds other code, so that nothing can stand before it in every build."""
    for loop in (*place.around, place.loop):
        run = run_with_pragmas(msgspec.structs.replace(place, loop=loop))
        if loop is place.loop and _has_other_arm(run):
            text = "a pragma stands in one arm of a preprocessor conditional: no new variable can stand before it"
            return Reason("STP002", text, run[0].span)
        for stmt in pragmas_of(run):
            inner = loop is not place.loop and any(word in stmt.text for word in ("collapse", "ordered(", "tile"))
            if (loop is place.loop and "default(none)" in stmt.text.replace(" ", "")) or inner:
                return Reason("STP002", "a pragma allows no new variable here", stmt.span)
    return None
