"""Are the data directives of a program right? Each program part that uses them is walked from where it is entered.

    map(to: b[0:n]), b written on the device, b read behind it on the host     wrong, with both lines

A port keeps what the program does without directives: all work on one copy of the data. Where the directives make the
device see other values, or the host, the program with them does something else: it is wrong, and the port would hide
that. `Verdict`: Proved where both see the same; Refuted where a value that differs is certainly read; Unknown else.
"""

from __future__ import annotations

import re

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.poly.analyze import Facts
from warpsmith.poly.isl.space import OutOfBudgetError
from warpsmith.poly.mapped.clauses import construct_of, is_data_directive
from warpsmith.poly.mapped.copies import CopyPair
from warpsmith.poly.mapped.device_memory import find_unfollowed, is_of_runtime
from warpsmith.poly.mapped.host import InlinedCall
from warpsmith.poly.mapped.objects import Objects, variable_place
from warpsmith.poly.mapped.values import definitions, globals_of
from warpsmith.poly.mapped.walk import MappedWalk
from warpsmith.poly.mapped.words import Words, Wrong
from warpsmith.tree.nodes import Function, GlobalDecl, Name, Other, Pragma
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, walk

__all__ = ["MappedData", "judge_mapped", "mapped_functions"]

_DECLARE = re.compile(r"\s*#\s*pragma\s+(?:omp\s+(?:begin\s+)?declare\s+target|acc\s+declare)\b(.*)", re.DOTALL)
_END = re.compile(r"\s*#\s*pragma\s+omp\s+end\s+declare\s+target")


class MappedData(Struct, frozen=True):
    """The verdict on the data directives that one function, and all that it calls, execute. `functions`: those with
    directives among these; `assumed`: what rests on the word of clauses."""

    root: Function
    functions: frozenset[Symbol]
    verdict: Verdict
    assumed: tuple[Wrong, ...] = ()


def mapped_functions(program: Program) -> frozenset[Symbol]:
    """Return the functions that execute data directives, or call one that does."""
    calls = {
        f.symbol: {n.symbol for n in names(f.body) if n.symbol.storage == "function"} for _, f in program.functions()
    }
    found = {f.symbol for _, f in program.functions() if _has_own(f)}
    while True:
        more = {symbol for symbol, called in calls.items() if called & found} - found
        if not more:
            return frozenset(found)
        found |= more


def _has_own(function: Function) -> bool:
    return any(
        isinstance(n, Pragma) and n.directive is not None and not n.left_out and is_data_directive(n.directive)
        and bool(construct_of(n.directive))
        for n in walk(function.body)
    ) or any(is_of_runtime(n.symbol) for n in names(function.body))  # fmt: skip


def judge_mapped(facts: Facts) -> tuple[MappedData, ...]:
    """Return the verdicts on the data directives of a program: one for each function that executes some and that no
    other function with directives calls."""
    given = tuple(one.text for one in facts.options.granted)
    return facts.summaries.remember(("mapped", id(facts.program), given), lambda: _judge(facts))


def _judge(facts: Facts) -> tuple[MappedData, ...]:
    has = mapped_functions(facts.program)
    if not has:
        return ()
    functions = [f for _, f in facts.program.functions() if f.symbol in has]
    called = {n.symbol for f in functions for n in names(f.body) if n.symbol in has and n.symbol != f.symbol}
    roots = [f for f in functions if f.symbol not in called and not _is_written_out(facts.program, f)] or functions
    return tuple(_judge_root(facts, root, has) for root in roots)


def _is_written_out(program: Program, function: Function) -> bool:
    """Whether a function is an instance of a template that nothing names: what it does stands in its callers."""
    whole = any(f.symbol.name == "main" for _, f in program.functions())
    named = (n.symbol for _, f in program.functions() for n in names(f.body))
    return bool(function.symbol.label) and whole and function.symbol not in named


def _judge_root(facts: Facts, root: Function, has: frozenset[Symbol]) -> MappedData:
    resident = _declared_on_device(facts.program)
    visible = {**globals_of(facts.program), **{p.name: p for p in root.parameters}}
    state = {variable_place(s): CopyPair(count=1) for s in visible.values() if s.name in resident}
    one = MappedWalk(facts, has, resident, state)
    try:
        one.function(InlinedCall(root, definitions(facts, root), Objects(), visible))
    except OutOfBudgetError:
        one.words.doubt(
            root.symbol.span or root.body.span, "", "its data directives could not be followed within the work budget"
        )
    for node in facts.summaries.remember(("unfollowed",), lambda: tuple(find_unfollowed(facts.program))):
        text = f"where the address of the device's memory that line {node.span.line} allocates goes is not known"
        one.words.doubt(node.span, "", text)
    functions = _reached(facts.program, root, has)
    return MappedData(root, functions, _verdict(one.words), tuple(one.words.assumed_.values()))


def _verdict(words: Words) -> Verdict:
    found = [*words.found.values()]
    sure = [one for one in found if one.sure]
    settled = () if sure else tuple(dict.fromkeys(words.settled))
    reasons = tuple(
        Reason("CLM005", one.text, one.seen or one.span, legal_if=one.helps, settled_by=settled)
        for one in sure or found
    )
    if not reasons:
        return Proved(tuple(dict.fromkeys(words.granted)))
    return Refuted(reasons) if sure else Unknown(reasons)


def _reached(program: Program, root: Function, has: frozenset[Symbol]) -> frozenset[Symbol]:
    calls = {f.symbol: {n.symbol for n in names(f.body) if isinstance(n, Name)} & has for _, f in program.functions()}
    found, pending = set[Symbol](), [root.symbol]
    while pending:
        symbol = pending.pop()
        if symbol not in found:
            found.add(symbol)
            pending += calls.get(symbol, ())
    return frozenset(found)


def _declared_on_device(program: Program) -> frozenset[str]:
    """Return the global variables that are on the device all the time."""
    found: set[str] = set()
    for unit in program.units:
        open_ = False
        for item in unit.items:
            if isinstance(item, Other):
                begins = _DECLARE.match(item.text)
                if _END.match(item.text):
                    open_ = False
                elif begins is not None:
                    named = re.findall(r"\w+", " ".join(re.findall(r"\(([^)]*)\)", begins[1])))
                    found.update(named)
                    open_ = not named
            elif isinstance(item, GlobalDecl) and open_:
                found.update(d.symbol.name for d in item.declarations)
    return frozenset(found)
