"""Which elements of every array a statement run may touch over one execution of a scope, as host expressions.

    for (k …)                    scope: the k loop          run: the nest inside
      for (i = k+1; i < N; …)    A: [N + 1, N*N)            evaluated once, before the k loop
        for (j …) A[i*N + j] …

Invariant: every element that the run touches lies in the section, and the section lies in the object: its ends are
touched by accesses that certainly happen, or it is clipped to the object's known extent, or the user asserted it
(`reachable(a)`).
Limits: of statements that hold too much (a part of `max_nodes`) nothing is said; memory behind pointers that are
themselves loaded from memory has no section; nor has a pointer that the scope changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.sizes.extents import known_extent
from warpsmith.poly.effects.sizes.handed import handed_elements
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions, Section, Sections, reading, statement_spans
from warpsmith.poly.granted import grants
from warpsmith.poly.isl.bound_values import same_value
from warpsmith.poly.isl.space import OutOfBudgetError, budget, part_of_budget
from warpsmith.poly.regions.bounds import LinearBounds, linear_bounds
from warpsmith.poly.regions.covers import covers, is_exact, surely_touch
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Access, Region, Statement
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, For, Function, If, Literal, Node, Stmt, VarDecl, While
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import INT, LONG_LONG, Array, Pointer, Symbol, element_type, is_integer
from warpsmith.tree.walk import children, peel, same, walk

__all__ = ["SHARE", "covered_sections", "known_extent", "loops_around", "run_sections", "sections"]

Reference = tuple[Statement, Access]


def sections(
    program: Program,
    function: Function,
    run: tuple[Stmt, ...],
    scope: tuple[Stmt, ...],
    options: PolyOptions,
    *,
    summaries: Summaries | None = None,
    given: tuple[Assumption, ...] = (),
    wanted: Symbol | None = None,
) -> Sections:
    """Return what `run` may touch over one whole execution of `scope` (statements of one block that contain `run`),
    where the conditions `given` hold at its entry; `wanted`: of this array alone.

    Bounds are host expressions over variables defined before `scope` and unchanged within it, of type long long, in
    elements of the innermost element type; an empty section has upper <= lower. A failure names the array and what
    would help. Pass `Summaries.of(program)` to ask many times.
    """
    known = summaries if summaries is not None else Summaries.of(program)
    only = None if wanted is None else frozenset({wanted})
    return _remember_sections(_Work(program, function, scope, options, known, given, only), run)


def covered_sections(
    program: Program,
    function: Function,
    run: tuple[Stmt, ...],
    scope: tuple[Stmt, ...],
    options: PolyOptions,
    *,
    summaries: Summaries | None = None,
    given: tuple[Assumption, ...] = (),
    wanted: Symbol | None = None,
) -> Sections:
    """As `sections`, and say which are written whole: that may take longer than all else."""
    known = summaries if summaries is not None else Summaries.of(program)
    only = None if wanted is None else frozenset({wanted})
    return _remember_sections(_Work(program, function, scope, options, known, given, only, covers=True), run)


def _remember_sections(work: _Work, run: tuple[Stmt, ...]) -> Sections:
    given = tuple(a.condition for a in work.given)
    question = ("sections", work.function, run, work.scope, work.options, given, work.wanted, work.covers)
    return work.summaries.remember(question, lambda: _within_budget(work, run))


_TOO_MUCH = "the touched sections could not be worked out within the work budget"
SHARE = 4
"""The part of a function's work that one question may be: they are asked for many times in a plan."""


def _within_budget(work: _Work, run: tuple[Stmt, ...]) -> Sections:
    size, most = sum(map(reading, work.scope)), work.options.max_nodes // SHARE
    if size > most:
        text = f"what is touched was not worked out: the statements hold too much together ({size:,} of {most:,} terms)"
        return Sections((), (), (Reason("POR005", text, work.scope[0].span),), given_up=True)
    try:
        with budget(work.options.max_operations // SHARE):
            return _all(work, run)
    except OutOfBudgetError:
        return Sections((), (), (_too_much_work(work),), given_up=True)


def run_sections(
    program: Program,
    function: Function,
    run: tuple[Stmt, ...],
    options: PolyOptions,
    summaries: Summaries,
    *,
    wanted: frozenset[Symbol] | None = None,
) -> Sections:
    """As `sections` of `run` over itself, for callers that are inside a `budget` already; `wanted`: of these arrays
    alone. Raises OutOfBudgetError."""
    answer = _all(_Work(program, function, run, options, summaries, wanted=wanted), run)
    if answer.given_up:
        raise OutOfBudgetError(_TOO_MUCH)
    return answer


class _Work(Struct, frozen=True):
    """What is asked."""

    program: Program
    function: Function
    scope: tuple[Stmt, ...]
    options: PolyOptions
    summaries: Summaries
    given: tuple[Assumption, ...] = ()
    wanted: frozenset[Symbol] | None = None
    covers: bool = False
    bounds: dict[object, tuple[LinearBounds | Reason, object]] = field(default_factory=dict)


def _all(work: _Work, run: tuple[Stmt, ...]) -> Sections:
    """Answer as written; with what the user granted, where that leaves fewer questions open or fewer to be tested."""
    answer = _answer(work, run, ())
    if answer.given_up:
        return answer
    # what an injective subscript reads is known no better
    granted = tuple(a for a in work.options.granted if not a.text.lstrip().startswith("injective"))
    if not granted or not (answer.failures or answer.assumptions):
        return answer
    other = _answer(work, run, granted)
    return other if _open(other) < _open(answer) else answer


def _open(answer: Sections) -> tuple[int, int]:
    return len(answer.failures), sum(assumption.kind == "guarded" for assumption in answer.assumptions)


def _answer(work: _Work, run: tuple[Stmt, ...], granted: tuple[Assumption, ...]) -> Sections:
    origin = Origin.of(work.program, work.function, work.summaries)
    around = loops_around(work.summaries, work.function, work.scope[0])
    region, state = build_region(origin, work.scope, around, guards=work.options.guards, granted=granted)
    inside = {node for stmt in run for node in walk(stmt)}
    changed = frozenset(
        s for stmt in work.scope for s in effects(work.program, stmt, work.function, work.summaries).direct_writes
    )
    own = {n.symbol for stmt in work.scope for n in walk(stmt) if isinstance(n, VarDecl)}
    found: list[Section] = []
    failures: list[Reason] = []
    unbounded: set[Symbol] = set()
    elsewhere: set[Symbol] = set()
    whole = len(run) == len(work.scope) and all(a is b for a, b in zip(run, work.scope, strict=True))
    inner = (
        None
        if whole
        else build_region(
            origin, run, loops_around(work.summaries, work.function, run[0]), guards=False, granted=granted
        )
    )
    for one in (state,) if inner is None else (state, inner[1]):
        one.take(work.given)
    spent = False
    for (symbol, place), references in _groups(region, inside).items():
        unasked = work.wanted is not None and symbol not in work.wanted
        if unasked or (symbol in own and isinstance(symbol.type, Array)):
            continue
        every = inner if inner is not None else (region, state)
        obstacle = _obstacle(symbol, place, references, changed, own)
        answer: Section | Reason | None = obstacle
        if answer is None and not spent:
            try:
                with part_of_budget():
                    doubt = _doubt(work, symbol, every, (region, state), inside)
                    answer = doubt or _section(work, state, symbol, references)
                    if work.covers and isinstance(answer, Section):
                        answer = _with_cover(work, answer, every, inside)
            except OutOfBudgetError:
                spent = True
        if answer is None:
            answer = _too_much_work(work)
        if isinstance(answer, Reason):
            failures.append(answer)
            (unbounded if obstacle is None else elsewhere).add(symbol)
        else:
            found.append(answer)
    free = frozenset(unbounded - elsewhere)
    return Sections(tuple(found), tuple(state.assumptions), tuple(failures), free, given_up=spent)


def _too_much_work(work: _Work) -> Reason:
    return Reason("POR005", _TOO_MUCH, work.scope[0].span)


def _groups(region: Region, inside: set[Node]) -> dict[tuple[Symbol, str], list[Reference]]:
    """Return the references to memory of the run, by base and place, in the order of the text."""
    found: dict[tuple[Symbol, str], list[Reference]] = {}
    for statement in region.statements:
        if statement.node not in inside:
            continue
        for access in statement.accesses:
            if isinstance(access.base.type, Array | Pointer) and (access.path or not access.known):
                found.setdefault((access.base, access.place), []).append((statement, access))
    return found


def _obstacle(
    symbol: Symbol, place: str, references: Sequence[Reference], changed: frozenset[Symbol], own: set[Symbol]
) -> Reason | None:
    """Return why there can be no section at the scope's entry, or None."""
    span = references[0][1].expr.span
    if isinstance(symbol.type, Pointer) and symbol in changed and symbol not in own:
        text = f"pointer {symbol.name} is reassigned in the loop"
        return Reason("POR008", text, span, legal_if=(f"{symbol.name} keeps its value there",))
    if isinstance(symbol.type, Pointer) and symbol in own:
        return Reason("POR008", f"pointer {symbol.name} is made inside, from more than one address", span)
    if place:
        shown = " ".join(span.text.split()) if place == "?" else place
        text = f"{shown} goes through a pointer that is kept in memory or not known"
        return Reason("POR005", text, span, legal_if=("index a named array or a pointer that does not change",))
    return None


def _doubt(
    work: _Work, symbol: Symbol, every: tuple[Region, State], scope: tuple[Region, State], inside: set[Node]
) -> Reason | None:
    """Return why the object may be smaller than the section: its ends are touched only under a condition on data, and
    its extent is not known. Copying it would reach past the object. `every`: the run by itself; where that has no
    bounds, the `scope` is asked, in which guards may give it some."""
    region, state = every
    references = _groups(region, inside).get((symbol, ""), [])
    certain = [(s, a) for s, a in references if a.known and is_exact(state, s, a)]
    if len(certain) == len(references) or not all(a.known for _, a in references):
        return None
    if known_extent(work.program, work.function, symbol, work.scope[0], work.summaries) is not None:
        return None
    if grants(work.options.granted, "reachable", symbol.name) is not None:
        return None
    span = statement_spans(work.scope)
    most = _bounds(work, state, references, span)
    least = _bounds(work, state, certain, span) if certain else None
    if isinstance(most, Reason):
        return None if every == scope else _doubt(work, symbol, scope, scope, inside)
    alike = isinstance(least, LinearBounds) and same(most.lower, least.lower) and same(most.upper, least.upper)
    if alike or surely_touch(state, references):
        return None
    if isinstance(most, LinearBounds) and _is_handed(work, symbol, most):
        return None
    text = f"{symbol.name} is touched under a condition on data only, so how much of it there is cannot be known"
    return Reason("POR005", text, references[0][1].expr.span, settled_by=(f"reachable({symbol.name})",))


def _is_handed(work: _Work, symbol: Symbol, bounds: LinearBounds) -> bool:
    """Whether every caller hands over an array that holds all between the bounds."""
    least = handed_elements(work.summaries, work.function, symbol)
    lower, upper = list(_values(bounds.lower)), list(_values(bounds.upper))
    return least is not None and all(n is not None and 0 <= n <= least for n in (*lower, *upper))


def _values(expr: Expr) -> Iterator[int | None]:
    """Yield the constants that a bound may be, None for what is no constant: `n >= 1 ? 3 : 0` is 3 or 0."""
    if isinstance(expr, Conditional):
        yield from _values(expr.then)
        yield from _values(expr.other)
    else:
        yield _number(expr)


def _section(work: _Work, state: State, symbol: Symbol, references: Sequence[Reference]) -> Section | Reason:
    span = statement_spans(work.scope)
    bounds = _bounds(work, state, references, span)
    extent = known_extent(work.program, work.function, symbol, work.scope[0], work.summaries)
    if isinstance(bounds, Reason):
        if extent is None:
            remedy = f"declare {symbol.name} with its size, or allocate it in {work.function.symbol.name}"
            return Reason(bounds.rule, bounds.text, bounds.span, legal_if=(*bounds.legal_if, remedy))
        bounds = _whole(extent, span)
    elif extent is not None and bounds.joined:
        # what the views touch together is most often all of it, and said in one word
        bounds = _whole(extent, span)
    elif extent is not None and not _surely_touch(state, references):
        bounds = _clip_bounds(bounds, extent)
    read = any(not access.write for _, access in references)
    written = any(access.write for _, access in references)
    return Section(symbol, element_type(symbol.type), bounds.lower, bounds.upper, read, written, covers=False)


def _surely_touch(state: State, references: Sequence[Reference]) -> bool:
    """Whether no more of an object is touched than the program shows it to have."""
    return all(is_exact(state, *one) for one in references) or surely_touch(state, references)


def _whole(extent: Expr, span: Span) -> LinearBounds:
    return LinearBounds(Literal(span=span, type=INT, text="0", value=0), extent)


def _bounds(work: _Work, state: State, references: Sequence[Reference], span: Span) -> LinearBounds | Reason:
    """As `linear_bounds`, which is asked for the same references up to three times; again where it adds guards."""
    question = (id(state), id(state.context), span, *(id(part) for reference in references for part in reference))
    if question not in work.bounds:
        context = state.context
        answer = linear_bounds(state, references, span)
        if state.context is not context:
            return answer
        work.bounds[question] = answer, (state, context, tuple(references))
    return work.bounds[question][0]


def _clip_bounds(bounds: LinearBounds, extent: Expr) -> LinearBounds:
    """Keep the bounds to the object."""
    span = extent.span
    zero = Literal(span=span, type=INT, text="0", value=0)
    lower, upper = bounds.lower, bounds.upper
    if not (isinstance(lower, Literal) and isinstance(lower.value, int) and lower.value >= 0):
        lower = _choose(Binary(span=span, type=INT, op="<", left=lower, right=zero), zero, lower)
    known = _number(upper), _number(extent)
    if known[0] is not None and known[1] is not None:
        upper = upper if known[0] <= known[1] else extent
    elif not same_value(upper, extent):
        upper = _choose(Binary(span=span, type=INT, op="<", left=extent, right=upper), extent, upper)
    return LinearBounds(lower, upper)


def _number(expr: Expr) -> int | None:
    expr = peel(expr)
    while isinstance(expr, Cast) and is_integer(expr.type):
        expr = peel(expr.operand)
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, int) else None


def _choose(condition: Expr, then: Expr, other: Expr) -> Expr:
    return Conditional(span=condition.span, type=LONG_LONG, condition=condition, then=then, other=other)


def _with_cover(work: _Work, section: Section, every: tuple[Region, State], inside: set[Node]) -> Section:
    """Say whether each execution of the run certainly writes the whole section."""
    region, state = every
    references = _groups(region, inside).get((section.symbol, ""), [])
    if not section.written or not references:
        return section
    bounds = _bounds(work, state, references, statement_spans(work.scope))
    if isinstance(bounds, Reason):
        return section
    if not (_agrees(section.lower, bounds.lower) and _agrees(section.upper, bounds.upper)):
        return section
    if not covers(state, references):
        return section
    return Section(section.symbol, section.element, section.lower, section.upper, section.read, section.written, True)


def _agrees(scope: Expr, run: Expr) -> bool:
    """Whether a bound over the scope has the value of the run's own bound wherever the scope's section has elements:
    `T >= 1 && n >= 3 ? n - 1 : 0` agrees with `n >= 3 ? n - 1 : 0`."""
    if not isinstance(scope, Conditional) or not _is_zero(scope.other):
        return same(scope, run)
    stated = list(_conjuncts(scope.condition))
    needed: list[Expr] = []
    if isinstance(run, Conditional) and _is_zero(run.other):
        needed, run = list(_conjuncts(run.condition)), run.then
    return same(scope.then, run) and all(any(same(n, s) for s in stated) for n in needed)


def _is_zero(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value == 0


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    if isinstance(condition, Binary) and condition.op == "&&":
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def loops_around(known: Summaries, function: Function, stmt: Stmt) -> tuple[Stmt, ...]:
    """Return the loops and conditions around a statement of a function, outermost first."""
    return known.remember(("around", function), lambda: _surroundings(function)).get(stmt, ())


def _surroundings(function: Function) -> dict[Stmt, tuple[Stmt, ...]]:
    """Return the loops and conditions around every statement of a function."""
    found: dict[Stmt, tuple[Stmt, ...]] = {}
    stack: list[tuple[Node, tuple[Stmt, ...]]] = [(function.body, ())]
    while stack:
        node, around = stack.pop()
        if isinstance(node, Stmt):
            found.setdefault(node, around)
        inner = (*around, node) if isinstance(node, For | While | If) else around
        stack.extend((child, inner) for child in reversed(tuple(children(node))) if not isinstance(child, Expr))
    return found
