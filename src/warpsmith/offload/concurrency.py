"""Where a port would change what runs at once: recursive functions, and code that OpenMP already runs on many threads.

Buffers and launches of one function belong to one host thread and one call at a time. Invariant: nothing is ported in
a function that may run while another call of it is under way. A loop whose own pragma starts the threads may go as a
whole, the pragma with it; what several threads run may not, nor what works on data that OpenMP or OpenACC keeps on a
device of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping

from msgspec.structs import replace

from warpsmith.base.identity import Identity
from warpsmith.base.verdict import Proved, Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import marked_statements, regions_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped.judge import judge_mapped
from warpsmith.poly.openmp.concurrency.one_thread import in_the_way
from warpsmith.tree.nodes import Call, For, Function, Name, Node, Pragma, Stmt, While
from warpsmith.tree.program import Program
from warpsmith.tree.text.conditionals import open_conditionals
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["find_reached", "no_port_here", "run_concurrently"]

# what only makes sense where several threads are under way
_ORPHANS = frozenset({"for", "single", "master", "masked", "sections", "barrier", "workshare", "loop"})

_NO_DATA = ("remove the data directives: the port places its own copies",)


def no_port_here(
    program: Program,
    function: Function,
    *,
    one_build: bool = False,
    written: Program | None = None,
    options: PolyOptions | None = None,
) -> Reason | None:
    """Return why no loop of `function` may be ported at all, or None; `one_build`: no build has what the one at hand
    leaves out by macros of the program's own; `written`: the program before any steps."""
    callees = _find_callees(Identity(program))
    if function.symbol in find_reached(callees, callees.get(function.symbol, frozenset())):
        return Reason("POR008", f"'{function.symbol.name}' is recursive", function.symbol.span)
    threaded = _call_in_team(program, written, function)
    if threaded is not None:
        return threaded
    wrong = _wrongly_mapped(written or program, function, options or PolyOptions())
    return (
        wrong
        or _orphan(function, alone=_runs_alone(program, function))
        or _device_data(function, one_build)
        or _data_of_others(program, function, one_build)
    )


def _call_in_team(program: Program, written: Program | None, function: Function) -> Reason | None:
    """Return the call of a function, or of one that calls it, that several host threads make, also where steps have put
    its body in place of the call; not where one thread has come in place of them."""
    now = _find_team_calls(Identity(program))
    left = {(node.span.file.path, node.span.start) for _, node, _ in now}
    before = _find_team_calls(Identity(written)) if written is not None else ()
    kept = (call for call in before if (call[1].span.file.path, call[1].span.start) in left)
    for other, node, reached in (*now, *kept):
        if function.symbol in reached:
            text = (
                f"'{function.symbol.name}' is called from '{other.symbol.name}' "
                f"inside an OpenMP parallel region (line {node.span.line})"
            )
            return Reason("POR008", text, node.span)
    return None


# asked for each function of a program
@functools.lru_cache(maxsize=4)
def _find_callees(program: Identity[Program]) -> Mapping[Symbol, frozenset[Symbol]]:
    return {f.symbol: _find_called(f) for _, f in program.value.functions()}


@functools.lru_cache(maxsize=4)
def _find_team_calls(program: Identity[Program]) -> tuple[tuple[Function, Node, frozenset[Symbol]], ...]:
    """Return what several host threads run of each function, with all the functions that are called from there."""
    callees = _find_callees(program)
    return tuple(
        (other, node, frozenset(find_reached(callees, _find_called(node))))
        for _, other in program.value.functions()
        for node in _find_threaded(other.body)
    )


def _wrongly_mapped(program: Program, function: Function, options: PolyOptions) -> Reason | None:
    """Return what is wrong with the data directives that the function executes, or that are executed around it."""
    for one in judge_mapped(Facts.about(program, options)):
        if function.symbol in one.functions and not isinstance(one.verdict, Proved):
            first = one.verdict.reasons[0]
            return replace(
                first, text=f"its data directives are not those of a program that a port keeps: {first.text}"
            )
    return None


def _runs_alone(program: Program, function: Function) -> bool:
    """Whether only the first thread of the program runs `function`: it is main, which nothing names. What binds to the
    threads around it binds to that one (OpenMP 5.2, 1.2.2: the implicit parallel region)."""
    main = function.symbol
    return main.name == "main" and all(main not in _find_called(other.body) for _, other in program.functions())


def _orphan(function: Function, *, alone: bool) -> Reason | None:
    """Return the pragma that says that callers run the function on several threads: the region is not in it. Where one
    thread is `alone`, it waits for nobody at a barrier."""
    inside = {id(part) for node in _find_threaded(function.body) for part in walk(node)}
    for part in walk(function.body):
        directive = part.directive if isinstance(part, Pragma) else None
        if directive is None or directive.family != "omp" or id(part) in inside or directive.starts_threads:
            continue
        if alone and directive.words == ("barrier",):
            continue
        if directive.words[:1] and directive.words[0] in _ORPHANS:
            text = (
                f"'{directive.title}' stands in no parallel region here: callers run this function on several threads"
            )
            return Reason("POR008", text, part.span)
    return None


def _device_data(function: Function, one_build: bool) -> Reason | None:
    """Return the pragma that keeps data on a device over several statements: a port would not see that copy."""
    kept = next((part for part in walk(function.body) if _keeps_data(part, one_build)), None)
    if not isinstance(kept, Pragma) or kept.directive is None:
        return None
    text = f"'{kept.directive.title}' keeps data on a device of its own: a port would not see that copy"
    return Reason("POR008", text, kept.span, legal_if=_NO_DATA)


def _data_of_others(program: Program, function: Function, one_build: bool) -> Reason | None:
    """Return why data may be on a device of their own while `function` runs: other functions keep them there, over a
    call of it, or from some place on."""
    callees = _find_callees(Identity(program))
    for _, other in program.functions():
        for pragma, over in _find_kept_over(other.body, one_build):
            if over is None or function.symbol in find_reached(callees, _find_called(over)):
                title = pragma.directive.title if pragma.directive is not None else pragma.text
                text = (
                    f"'{title}' in '{other.symbol.name}' (line {pragma.span.line}) keeps data on a device of its own "
                    f"while '{function.symbol.name}' runs: a port would not see that copy"
                )
                return Reason("POR008", text, function.symbol.span, legal_if=_NO_DATA)
    return None


@functools.lru_cache(maxsize=4096)
def _find_kept_over(node: Node, one_build: bool) -> tuple[tuple[Pragma, Stmt | None], ...]:
    """Return the pragmas below `node` that keep data on a device, each with the statement that it does so for; None
    where that is no one statement."""
    marked = marked_statements(node, any_build=True)
    found = [(p, after) for pragmas, after in marked for p in pragmas if _keeps_data(p, one_build)]
    known = {id(pragma) for pragma, _ in found}
    rest = (part for part in walk(node) if isinstance(part, Pragma) and _keeps_data(part, one_build))
    return (*found, *((part, None) for part in rest if id(part) not in known))


def _keeps_data(part: Node, one_build: bool) -> bool:
    """Whether a statement is a pragma that keeps data on a device over several statements."""
    if not isinstance(part, Pragma) or part.directive is None:
        return False
    keeps = "data" in part.directive.words or "host_data" in part.directive.words
    return keeps and not (one_build and part.left_out and _by_own_macros(part))


def _by_own_macros(pragma: Pragma) -> bool:
    """Whether what surrounds a pragma asks for no macro of the compiler's."""
    around = open_conditionals(pragma.span.file.text, pragma.span.start)
    return not any(name.startswith("_") for one in around for name in one.names)


def run_concurrently(program: Program, function: Function, options: PolyOptions) -> dict[int, Reason]:
    """Return, by `id`, the loops of `function` that several host threads run at once, so may not be ported alone."""
    found: dict[int, Reason] = {}
    regions = {id(region.body): region for region in regions_of(function) if region.directive.words == ("parallel",)}
    facts = Facts.about(program, options) if regions else None
    for node in _find_threaded(function.body):
        reason = Reason("POR008", "several host threads run this loop at once (OpenMP)", node.span)
        region = regions.get(id(node))
        why = in_the_way(facts, function, region) if facts is not None and region is not None else None
        if why is not None:
            reason = replace(why, text=f"{reason.text}: {why.text}")
        inside = walk(node)
        if isinstance(node, For | While):
            next(inside)
        found.update((id(part), reason) for part in inside if isinstance(part, For | While))
    return found


# nodes never change, and each function of a program asks about all the others: here and below answers are remembered
@functools.lru_cache(maxsize=4096)
def _find_threaded(node: Node) -> tuple[Node, ...]:
    """Return the statements that an OpenMP construct lets several threads run."""
    found = marked_statements(node, any_build=True)
    return tuple(after for pragmas, after in found if any(_starts_threads(p) for p in pragmas))


def _starts_threads(pragma: Pragma) -> bool:
    directive = pragma.directive
    if directive is None:
        return False
    if pragma.left_out and directive.words[:1] == ("target",) and not {"teams", "parallel"} & {*directive.words}:
        return False  # one thread runs it, and a build that has it sends it to a device without this port
    # what is not understood may start threads
    return directive.starts_threads or "sections" in directive.words or not directive.words


@functools.lru_cache(maxsize=4096)
def _find_called(node: Node) -> frozenset[Symbol]:
    """Return the functions that `node` calls, or whose address it takes."""
    calls = {part.function.symbol for part in walk(node) if isinstance(part, Call) and isinstance(part.function, Name)}
    taken = {part.symbol for part in walk(node) if isinstance(part, Name) and part.symbol.storage == "function"}
    return frozenset(calls | taken)


def find_reached(callees: Mapping[Symbol, Collection[Symbol]], start: Collection[Symbol]) -> set[Symbol]:
    """Return the functions `start`, and all that they lead to by calls."""
    found: set[Symbol] = set()
    pending = list(start)
    while pending:
        symbol = pending.pop()
        if symbol not in found:
            found.add(symbol)
            pending += callees.get(symbol, ())
    return found
