"""A target construct whose teams ask for their numbers, taken apart.

    #pragma omp target teams num_teams(T) thread_limit(B)        TeamConstruct: T teams, B threads in each
    {
        float part[B];                                           before: every team's own
        #pragma omp parallel                                     a region of all its threads
        { int t = omp_get_thread_num(); … }
    }

OpenMP 5.2: num_teams(T) without a lower bound makes exactly T teams (10.2.1); a parallel region with num_threads(B)
has exactly B threads where adjustment is off (10.1.1), and without it as many as the implementation chooses, no more
than thread_limit allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.front.teams.clause_text import constant_of, read_expression
from warpsmith.tree.nodes import (
    Block,
    Call,
    Case,
    DeclStmt,
    Expr,
    For,
    Function,
    Name,
    Node,
    Pragma,
    Stmt,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.types import INT, Scalar, Symbol, is_integer
from warpsmith.tree.walk import names, peel, walk

__all__ = ["NUMBERS", "NotReadError", "TeamConstruct", "ThreadRegion", "asked_number", "find_constructs", "take_apart"]

NUMBERS: Final = frozenset({"omp_get_thread_num", "omp_get_num_threads", "omp_get_team_num", "omp_get_num_teams"})
_TEAMS: Final = frozenset({
    "num_teams", "thread_limit", "map", "firstprivate", "shared", "default", "is_device_ptr", "device", "nowait",
    "depend", "defaultmap", "if",
})  # fmt: skip
_PARALLEL: Final = frozenset({"default", "shared", "num_threads", "proc_bind"})
# what may stand inside a region besides barriers: it speaks of one statement of one thread
_INSIDE: Final = frozenset({"atomic", "simd", "unroll"})


class NotReadError(Exception):
    """Why a construct is not read as loops, in words."""

    def __init__(self, text: str, span: Span) -> None:
        super().__init__(text)
        self.span = span


class ThreadRegion(Struct, frozen=True, eq=False):
    """A parallel region of a team: its pragma and what every thread runs."""

    pragma: Pragma
    body: Stmt


class TeamConstruct(Struct, frozen=True, eq=False):
    """`parts`: what a team does, in order. `sure`: every team has exactly `threads` threads in each region; else that
    is the most."""

    pragma: Pragma
    directive: Directive
    body: Block
    teams: Expr
    threads: Expr
    parts: tuple[Stmt | ThreadRegion, ...]
    sure: bool


def find_constructs(function: Function) -> Iterator[tuple[Pragma, Block]]:
    """Yield the target constructs of a function whose threads ask for their numbers, with their statements."""
    for part in walk(function.body):
        run = part.statements if isinstance(part, Block) else part.body if isinstance(part, Case) else ()
        for pragma, stmt in pairwise(run):
            directive = pragma.directive if isinstance(pragma, Pragma) and not pragma.left_out else None
            if (
                isinstance(pragma, Pragma)
                and directive is not None
                and (directive.family, directive.words) == ("omp", ("target", "teams"))
                and isinstance(stmt, Block)
                and any(asked_number(n) for n in walk(stmt))
            ):
                yield pragma, stmt


def asked_number(node: Node) -> str:
    """Return the function whose number a call asks for, or nothing."""
    called = node.function if isinstance(node, Call) else None
    known = isinstance(called, Name) and called.symbol.name in NUMBERS and called.symbol.storage == "function"
    return called.symbol.name if known and isinstance(called, Name) else ""


def take_apart(function: Function, pragma: Pragma, body: Block, globals_: dict[str, Symbol]) -> TeamConstruct:
    """Return a construct of `function`; raises NotReadError. `globals_`: the variables outside functions, by name."""
    directive = pragma.directive
    assert directive is not None
    _known(directive, _TEAMS, pragma)
    _plain_inside(body)
    parts = tuple(_parts(body))
    visible = _visible(function, body, globals_)
    teams = _clause(directive, "num_teams", pragma, visible)
    most = _clause(directive, "thread_limit", pragma, visible)
    regions = [part for part in parts if isinstance(part, ThreadRegion)]
    wanted = [_clause(region.pragma.directive, "num_threads", region.pragma, visible) for region in regions]
    if teams is None:
        raise NotReadError("without num_teams the number of teams is the implementation's choice", pragma.span)
    counts = {constant_of(count) for count in wanted if count is not None}
    limit = constant_of(most) if most is not None else None
    given = next((count for count in wanted if count is not None), None)
    if given is not None:
        exact = all(count is not None for count in wanted) and len(counts) == 1
        number = next(iter(counts))
        fits = number is not None and number >= 1 and (most is None or (limit is not None and number <= limit))
        if not exact or not fits:
            raise NotReadError("its regions ask for numbers of threads that are not one known number", pragma.span)
        return TeamConstruct(pragma, directive, body, teams, given, parts, sure=True)
    if most is None:
        raise NotReadError(
            "without thread_limit or num_threads the number of threads is the implementation's choice", pragma.span
        )
    return TeamConstruct(pragma, directive, body, teams, most, parts, sure=False)


def _known(directive: Directive, clauses: frozenset[str], pragma: Pragma) -> None:
    odd = next((c.text for c in directive.clauses if c.name not in clauses), None) or next(
        iter(directive.unknown), None
    )
    if odd is not None:
        raise NotReadError(f"what '{odd}' means for its teams is not read", pragma.span)


def _plain_inside(body: Block) -> None:
    """Raise where something in a construct may do what is not seen, or speaks of teams or threads in another way."""
    for part in walk(body):
        if isinstance(part, Verbatim | VerbatimExpr):
            raise NotReadError(f"it has a construct that is not modelled: {part.reason}", part.span)
        directive = part.directive if isinstance(part, Pragma) and not part.left_out else None
        if directive is not None:
            plain = directive.words in (("parallel",), ("barrier",)) or directive.words[:1] in {(w,) for w in _INSIDE}
            if directive.family != "omp" or not plain:
                raise NotReadError(f"'{directive.title}' stands in it", part.span)
    for name in names(body):
        if name.symbol.name.startswith("omp_") and name.symbol.name not in NUMBERS:
            raise NotReadError(f"it asks {name.symbol.name}", name.span)


def _parts(body: Block) -> Iterator[Stmt | ThreadRegion]:
    pragma: Pragma | None = None
    for stmt in body.statements:
        directive = stmt.directive if isinstance(stmt, Pragma) and not stmt.left_out else None
        if pragma is not None and not isinstance(stmt, Pragma):
            yield ThreadRegion(pragma, stmt)
            pragma = None
        elif directive is not None and directive.words == ("parallel",) and isinstance(stmt, Pragma):
            _known(directive, _PARALLEL, stmt)
            pragma = stmt
        elif pragma is not None:
            raise NotReadError("two pragmas stand before one statement", stmt.span)
        else:
            alone = next((n for n in walk(stmt) if isinstance(n, Pragma) and n.directive is not None), None)
            if alone is not None and not alone.left_out:
                raise NotReadError("one thread of each team meets a pragma", alone.span)
            asks = next((n for n in walk(stmt) if "thread" in asked_number(n)), None)
            if asks is not None:
                raise NotReadError("one thread of each team asks for its number", asks.span)
            yield stmt


def _visible(function: Function, body: Block, globals_: dict[str, Symbol]) -> dict[str, Symbol | None]:
    """Return what names stand for in a clause: None where that is not clear, as two variables of the function have the
    name."""
    inside = {id(n) for n in walk(body)}
    found: dict[str, Symbol | None] = {}
    own = [*function.parameters, *_declared(function)]
    for symbol in own:
        found[symbol.name] = None if symbol.name in found else symbol
    used = {n.symbol.name: n.symbol for n in names(function.body) if id(n) not in inside}
    used |= {n.symbol.name: n.symbol for n in names(body)}
    numbers = {symbol.name: symbol for symbol in _template_numbers(function)}
    return {**globals_, **numbers, **{k: v for k, v in used.items() if k not in found}, **found}


def _template_numbers(function: Function) -> Iterator[Symbol]:
    """Yield the numbers that parameters of a template stand for in an instance, as constants of their names."""
    for argument in function.instance or ():
        text = {"true": "1", "false": "0"}.get(argument.text, argument.text)
        if argument.type and text.lstrip("-").isdigit():
            key = f"{function.symbol.key}<{argument.name}>"
            yield Symbol(argument.name, key, INT, "enumerator", function.symbol.span, int(text))


def _declared(function: Function) -> Iterator[Symbol]:
    for part in walk(function.body):
        if isinstance(part, DeclStmt):
            yield from map(_with_value, part.declarations)
        elif isinstance(part, For) and part.declares:
            yield part.variable


def _with_value(one: VarDecl) -> Symbol:
    """Return a variable, with its value where that is a constant for good."""
    symbol, type = one.symbol, one.symbol.type
    value = constant_of(peel(one.init)) if one.init is not None else None
    fixed = isinstance(type, Scalar) and type.const and is_integer(type)
    return replace(symbol, value=value) if fixed and value is not None and symbol.value is None else symbol


def _clause(directive: Directive | None, name: str, pragma: Pragma, visible: dict[str, Symbol | None]) -> Expr | None:
    if directive is None or not directive.has(name):
        return None
    made = read_expression(directive.argument(name), Span(pragma.span.file, pragma.span.start, pragma.span.start),
                           visible.get)  # fmt: skip
    if made is None:
        raise NotReadError(f"{name}({directive.argument(name)}) is not read", pragma.span)
    return made
