"""Schedules become loops: a nest that visits the statement instances of a run in the order of new schedules.

    for (i …)                  schedules of the statement: (2t + i, t)        for (w = …)            row 0: no counter,
    a new one
        for (t …)                                              →         for (t = …)        row 1: the counter t
            S(t, i);                                                         { int i = w - 2 * t; S(t, i); }

Dimension after dimension, outermost first: statements whose values of a dimension lie one after the other stand one
after the other; where the values mix, one loop goes over all of them. A dimension that the dimensions before it fix
needs no loop. After the given rows come those of the original order, so that instances with equal schedules keep it.

Invariant: the loops around a statement visit each of its instances exactly once, in lexicographic order of the
dimensions: their bounds hold at every instance (projections, made convex), and what they let in beyond is kept out by
an `if`. After A. Bastoul: Code generation in the polyhedral model is easier than you think (PACT 2004), without its
splitting of domains. Limits: what is under a condition on data must be inside a statement; a counter that lives on
after the run, or that is unsigned 64-bit without a proof that it fits, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.poly.analyze import Facts
from warpsmith.poly.isl.expression_writer import ExpressionWriter, IslBound, IslVariable, NotWritableError
from warpsmith.poly.isl.host import integer, operation
from warpsmith.poly.isl.point_sets import Floor, Points, QuotientError, Test
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.legality.order import Ordered, ScheduledStatement, order_run
from warpsmith.poly.legality.schedules import Schedule
from warpsmith.poly.schedule.items import Item, ItemError, make_items, parameter_facts, rename_variables
from warpsmith.tree.nodes import (
    Assign,
    Block,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    MacroUse,
    Name,
    Relation,
    Stmt,
    VarDecl,
)
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, Type, integer_range
from warpsmith.tree.walk import names, peel, walk

__all__ = ["CodeGenerationError", "Fresh", "GeneratedCode", "generate_code"]


class CodeGenerationError(Exception):
    """The run cannot be written in that order; the text says why, in the user's words."""


Fresh = Callable[[str, Type, Symbol], Symbol]


class GeneratedCode(Struct, frozen=True):
    """The statements that run in the new order, right under `assumptions`."""

    statements: tuple[Stmt, ...]
    assumptions: tuple[Assumption, ...]


def generate_code(
    facts: Facts, function: Function, run: tuple[Stmt, ...], schedules: Mapping[Stmt, Schedule], fresh: Fresh
) -> GeneratedCode:
    """Return statements that run the statements of `run` at `schedules`; whether they may is for `keeps_order` to say.

    `fresh(name, type, near)` gives new variables. Guards are used only where the domains need them.
    Raises ScanError where such statements cannot be written.
    """
    try:
        with budget(facts.options.max_operations):
            model = order_run(facts, function, run, tuple(schedules))
            if not all(statement.exact for statement in model.statements) and facts.options.guards:
                model = order_run(facts, function, run, tuple(schedules), guards=True)
            return GeneratedCode(_write_loops(model, run, schedules, fresh), model.region.assumptions)
    except (ItemError, NotWritableError, QuotientError) as error:
        raise CodeGenerationError(str(error)) from error
    except OutOfBudgetError as error:
        raise CodeGenerationError("the new loops are too much work to find") from error


def _write_loops(
    model: Ordered, run: tuple[Stmt, ...], schedules: Mapping[Stmt, Schedule], fresh: Fresh
) -> tuple[Stmt, ...]:
    for statement in model.statements:
        if not statement.exact:
            raise CodeGenerationError(
                f"the statement in line {statement.stmt.span.line} runs under a condition that depends on data"
            )
    length = max(len(schedules[statement.stmt]) for statement in model.statements)
    tail = max(len(statement.schedule) for statement in model.statements)
    dims = tuple(f"row{k}" for k in range(length + tail))
    known = Points.context(parameter_facts(model), dims)
    inner = _inner_declarations(run, model.statements)
    work = _Scan(model, dims, fresh, _spellings(model), _quotations(model), inner, _span(run), known)
    return tuple(work.level(0, make_items(model, schedules, length, dims), known, {}))


def _span(run: tuple[Stmt, ...]) -> Span:
    """Return a text that holds all statements and is no statement of the user's: what is made for it is printed
    anew."""
    first = run[0].header if isinstance(run[0], For) else run[0].span
    start = first.end if isinstance(run[0], For) else first.start
    return Span(first.file, start, run[-1].span.end)


def _inner_declarations(run: tuple[Stmt, ...], statements: Sequence[ScheduledStatement]) -> frozenset[Symbol]:
    """Return the variables declared between the statements: their loops may declare them, nothing else may use them."""
    inside = {node for statement in statements for node in walk(statement.stmt)}
    parts = [node for stmt in run for node in walk(stmt) if node not in inside]
    declared = {d.symbol for node in parts if isinstance(node, DeclStmt) for d in node.declarations}
    counters = {loop.variable for statement in statements for loop in statement.loops}
    used = {node.symbol for node in inside if isinstance(node, Name)}
    for symbol in sorted(declared - counters, key=lambda s: s.key):
        if symbol in used:
            raise CodeGenerationError(
                f"{symbol.name} is declared inside the loop: declare it before the loop, or expand it"
            )
    return frozenset(declared)


# --- how the user writes things


def _headers(model: Ordered) -> Iterable[Expr]:
    loops = dict.fromkeys(loop for statement in model.statements for loop in statement.loops)
    sides = [side for loop in loops for side in (loop.lower, loop.bound)]
    return (part for side in sides for part in walk(side) if isinstance(part, Expr))


def _spellings(model: Ordered) -> Mapping[str, Expr]:
    """Return parameters that the headers name through a macro."""
    own = {a.symbol: name for name, a in model.state.vocabulary.atoms.items() if a.kind == "parameter" and a.symbol}
    found: dict[str, Expr] = {}
    for part in _headers(model):
        inner = peel(part)
        if isinstance(part, MacroUse) and isinstance(inner, Name) and inner.symbol in own:
            found.setdefault(own[inner.symbol], part)
    return found


def _quotations(model: Ordered) -> Sequence[tuple[Polynomial, Expr]]:
    """Return the bounds that are numbers under the user's names (`N - 1` where N is a macro)."""
    found: list[tuple[Polynomial, Expr]] = []
    for part in _headers(model):
        plain = not any(isinstance(n, Name) for n in walk(part)) and any(isinstance(n, MacroUse) for n in walk(part))
        value = model.state.affine.exact(part) if plain else None
        if value is not None and value.number is not None:
            found.append((value, part))
    return found


# --- loops


class _Scan(Struct):
    """What all levels of one scan share."""

    model: Ordered
    dims: tuple[str, ...]
    fresh: Fresh
    spelled: Mapping[str, Expr]
    quoted: Sequence[tuple[Polynomial, Expr]]
    inner: frozenset[Symbol]
    span: Span
    context: Points

    def level(
        self, level: int, items: Sequence[Item], known: Points, variables: Mapping[str, IslVariable]
    ) -> list[Stmt]:
        """Return the statements that run `items`, rows before `level` being fixed by the loops around."""
        if level == len(self.dims):
            return [stmt for item in items for stmt in self.statement(item, known, variables)]
        parts = _parts(level, items)
        if len(parts) > 1:
            return [stmt for part in parts for stmt in self.level(level, part, known, variables)]
        first = items[0].dimensions[level].known
        if first is not None and all(item.dimensions[level].known == first for item in items):
            done = [replace(item, points=item.points.drop_row(level)) for item in items]
            return self.level(level + 1, done, known.drop_row(level), variables)
        return self.loop(level, items, known, variables)

    def loop(
        self, level: int, items: Sequence[Item], known: Points, variables: Mapping[str, IslVariable]
    ) -> list[Stmt]:
        """Return one loop over the values of a dimension, under the condition that there are any."""
        dim = self.dims[level]
        united = items[0].points.upto(level).join(item.points.upto(level) for item in items[1:])
        tests = united.hull(known)
        bounds = [test for test in tests if dim in test.value.atoms()]
        inside = reduce(lambda points, test: points.where(test.value, equality=test.equality), bounds, known)
        guards = [test for test in tests if dim not in test.value.atoms() and not _is_implied(inside, test)]
        entered = reduce(lambda points, test: points.where(test.value, equality=test.equality), guards, known)
        ends = self.relax_ends(level, items, _Ends.of(bounds, dim, entered), entered)
        inside = ends.meet_points(entered)
        stride = _stride(united, level, ends)
        if stride > 1:
            inside = inside.multiple(atom(dim) - ends.lowers[0].value, stride)
        chosen = _Choice.of(level, items, variables)
        variable = self.variable(chosen, ends, (entered, inside), stride)
        inner = {**variables, dim: variable}
        body = self.level(level + 1, items, inside, inner)
        if not body:
            return []
        writer = self.writer(self.span, entered, variables)
        made = _for(writer, variable, ends, (self.block(body), stride), chosen.near)
        made = replace(made, declares=self.declares(chosen.near, variable.symbol))
        test = self.condition([guards], self.writer(self.span, known, variables))
        return [made if test is None else If(span=self.span, condition=test, then=made, other=None)]

    def relax_ends(self, level: int, items: Sequence[Item], ends: _Ends, known: Points) -> _Ends:
        """Return bounds over the user's own counters alone in place of a quotient or of several bounds: they let in
        more, which an `if` in the body keeps out, but they are simple, for people and for every later analysis."""
        if all(_is_simple(side) for side in (ends.lowers, ends.uppers)):
            return ends
        kept = [k for k in range(level + 1) if k == level or all(_find_counted(item, k) is not None for item in items)]
        loose = items[0].points.only(kept).join(item.points.only(kept) for item in items[1:])
        tests = [test for test in loose.hull(self.context) if self.dims[level] in test.value.atoms()]
        try:
            wide = _Ends.of(tests, self.dims[level], known)
        except CodeGenerationError:
            return ends
        lowers = wide.lowers if not _is_simple(ends.lowers) and _is_simple(wide.lowers) else ends.lowers
        uppers = wide.uppers if not _is_simple(ends.uppers) and _is_simple(wide.uppers) else ends.uppers
        return _Ends(ends.dim, lowers, uppers)

    def block(self, body: Sequence[Stmt]) -> Stmt:
        """Return statements as the body of a loop."""
        return body[0] if len(body) == 1 else Block(span=self.span, statements=tuple(body))

    def writer(self, span: Span, known: Points, variables: Mapping[str, IslVariable]) -> ExpressionWriter:
        """Return what writes expressions at one place."""
        return ExpressionWriter(self.model.state.vocabulary, span, variables, self.spelled, self.quoted, known)

    def variable(self, chosen: _Choice, ends: _Ends, known: tuple[Points, Points], stride: int) -> IslVariable:
        """Return the loop's variable: the user's own where its type holds every value it takes, else a new one."""
        symbol = chosen.symbol
        if symbol is not None and isinstance(symbol.type, Scalar) and _holds_all(symbol.type, ends, known, stride):
            return IslVariable(symbol, chosen.sign)
        kind = INT if _holds_all(INT, ends, known, stride) else LONG_LONG
        name = "w" if symbol is None else symbol.name
        return IslVariable(self.fresh(name, kind, chosen.near.variable), chosen.sign)

    # --- statements

    def statement(self, item: Item, known: Points, variables: Mapping[str, IslVariable]) -> list[Stmt]:
        """Return a statement's statement with its counters, under what is left of its domain's conditions."""
        writer = self.writer(item.statement.stmt.span, known, variables)
        options = item.points.rest(known)
        if not options:
            return []
        test = self.condition(options, writer)
        body = self.body(item, known, variables)
        if test is None:
            return body
        then = body[0] if len(body) == 1 else Block(span=item.statement.stmt.span, statements=tuple(body))
        return [If(span=item.statement.stmt.span, condition=test, then=then, other=None)]

    def body(self, item: Item, known: Points, variables: Mapping[str, IslVariable]) -> list[Stmt]:
        """Return the statement with each counter replaced by a loop's variable, or computed in front of it."""
        stmt = item.statement.stmt
        inside = Points(known.values.intersect(item.points.values))
        writer = self.writer(stmt.span, inside, variables)
        renaming: dict[Symbol, Symbol] = {}
        computed: list[Stmt] = []
        for loop, name in zip(item.statement.loops, item.statement.counters, strict=True):
            value = item.counters[name]
            own = _variable_of(value, variables)
            if own is not None and own.type == loop.variable.type and not _is_captured(stmt, own, loop.variable):
                renaming[loop.variable] = own
            else:
                symbol = self.make_computed(loop, variables)
                renaming[loop.variable] = symbol
                declares = self.declares(loop, symbol)
                computed.append(_definition(symbol, writer.sum(value), stmt, declares=declares))
        moved = rename_variables(stmt, renaming)
        if not computed:
            return [moved]
        inner = moved.statements if isinstance(moved, Block) else (moved,)
        return [Block(span=stmt.span, statements=(*computed, *inner))]

    def make_computed(self, loop: For, variables: Mapping[str, IslVariable]) -> Symbol:
        """Return the variable that holds a counter which no loop counts: the user's, if its name is free here."""
        symbol = loop.variable
        if all(v.symbol.name != symbol.name for v in variables.values()):
            return symbol
        return self.fresh(symbol.name, symbol.type, symbol)

    def declares(self, loop: For, symbol: Symbol) -> bool:
        """Whether what counts for `loop` with `symbol` declares it."""
        return loop.declares or symbol != loop.variable or symbol in self.inner

    def condition(self, options: Sequence[Sequence[Test]], writer: ExpressionWriter) -> Expr | None:
        """Return `a && b || c && d` for lists of tests; None where one of them is empty."""
        if any(not tests for tests in options):
            return None
        whole = [
            reduce(lambda a, b: operation("&&", a, b), [_write_test(writer, t) for t in tests]) for tests in options
        ]
        return reduce(lambda a, b: operation("||", a, b), whole)


def _parts(level: int, items: Sequence[Item]) -> list[list[Item]]:
    """Split statements whose values of a dimension lie one after the other; statements that are free in it share a
    loop."""
    numbers = range(len(items))
    # first[a]: what `a` must not stand behind, itself included
    first = {a: {b for b in numbers if a == b or _not_behind(level, items[a], items[b])} for a in numbers}
    for via in numbers:
        for a in numbers:
            if via in first[a]:
                first[a] |= first[via]
    ordered: list[list[Item]] = []
    left = set(numbers)
    while left:
        head = next(a for a in sorted(left) if all(b not in left or b in first[a] for b in numbers if a in first[b]))
        group = [b for b in numbers if b in first[head] and head in first[b]]
        ordered.append([items[b] for b in group])
        left -= set(group)
    return ordered


def _not_behind(level: int, one: Item, other: Item) -> bool:
    """Whether some instance of `one` has the same value of a dimension as one of `other`, or a smaller one."""
    if one.dimensions[level].free and other.dimensions[level].free:
        return True
    a, b = one.dimensions[level], other.dimensions[level]
    if a.number is not None and b.number is not None:
        return a.number <= b.number
    if a.known is not None and a.known == b.known:
        return True
    return not other.points.before(one.points, level)


def _is_implied(points: Points, test: Test) -> bool:
    return points.always(test.value) if test.equality else points.holds(test.value)


class _Ends(Struct, frozen=True):
    """The bounds of a dimension, those left out that another one makes superfluous."""

    dim: str
    lowers: tuple[IslBound, ...]
    uppers: tuple[IslBound, ...]

    @classmethod
    def of(cls, tests: Sequence[Test], dim: str, known: Points) -> _Ends:
        lowers: list[IslBound] = []
        uppers: list[IslBound] = []
        for test in tests:
            factor, rest = test.value.terms[(dim,)], test.value.drop_name(dim)
            if factor > 0 or test.equality:
                lowers.append(IslBound(-rest, factor) if factor > 0 else IslBound(rest, -factor))
            if factor < 0 or test.equality:
                uppers.append(IslBound(rest, -factor) if factor < 0 else IslBound(-rest, factor))
        if not lowers or not uppers:
            raise CodeGenerationError("a loop in that order would have no end")
        return cls(dim, _prune_bounds(lowers, known, 1), _prune_bounds(uppers, known, -1))

    def meet_points(self, points: Points) -> Points:
        """Return the points between the bounds."""
        dimension = atom(self.dim)
        above = [dimension.scale(b.divisor) - b.value for b in self.lowers]
        below = [b.value - dimension.scale(b.divisor) for b in self.uppers]
        return reduce(lambda found, value: found.where(value), (*above, *below), points)


def _is_simple(bounds: Sequence[IslBound]) -> bool:
    return len(bounds) == 1 and bounds[0].divisor == 1


def _prune_bounds(bounds: Sequence[IslBound], known: Points, sign: int) -> tuple[IslBound, ...]:
    """Leave out bounds that are never the tight one."""
    kept = list(bounds)
    for bound in bounds:
        for other in kept:
            difference = other.value.scale(bound.divisor) - bound.value.scale(other.divisor)
            if other is not bound and known.holds(difference.scale(sign)):
                kept = [b for b in kept if b is not bound]
                break
    return tuple(kept)


def _stride(points: Points, level: int, ends: _Ends) -> int:
    """Return the step of a dimension, 1 where its first value is not known to be one that is taken."""
    if len(ends.lowers) > 1 or ends.lowers[0].divisor != 1:
        return 1
    stride, offset = points.stride(level)
    if stride == 1 or offset is None:
        return 1
    way = ends.lowers[0].value - offset
    return stride if all(factor % stride == 0 for factor in way.terms.values()) else 1


def _holds_all(kind: Scalar, ends: _Ends, known: tuple[Points, Points], stride: int) -> bool:
    """Whether a signed type holds the first value, every value, and one step beyond it, both ways."""
    if kind.kind != "signed" or kind.bits < INT.bits:
        return False
    entered, inside = known
    high = integer_range(kind)[1]
    starts = all(entered.holds(constant(high * b.divisor) - b.value) for b in ends.lowers)
    reached = any(entered.holds(b.value.shift(high * b.divisor)) for b in ends.lowers)
    return starts and reached and inside.holds(constant(high - stride) - atom(ends.dim))


class _Choice(Struct, frozen=True):
    """How a loop is named: after a counter that it counts (None: a new name), which way; `near`: a loop of the user's
    text for which it stands."""

    symbol: Symbol | None
    sign: int
    near: For

    @classmethod
    def of(cls, level: int, items: Sequence[Item], variables: Mapping[str, IslVariable]) -> _Choice:
        votes = [(item, vote) for item in items if (vote := _find_counted(item, level)) is not None]
        counts: dict[str, int] = {}
        for _, (loop, _sign) in votes:
            counts[loop.variable.name] = counts.get(loop.variable.name, 0) + 1
        down = bool(votes) and all(sign < 0 for _, (_, sign) in votes)
        votes = [(item, vote) for item, vote in votes if vote[1] > 0 or down]
        near = items[0].statement.loops[0]
        if not votes:
            return cls(None, 1, near)
        _, (loop, sign) = max(votes, key=lambda vote: counts[vote[1][0].variable.name])
        symbol = loop.variable
        taken = {v.symbol.name for v in variables.values()}
        if symbol.name in taken or _clashes(symbol, items):
            return cls(None, sign, loop)
        return cls(symbol, sign, loop)


def _find_counted(item: Item, level: int) -> tuple[For, int] | None:
    """Return the loop whose counter (or its negative) a dimension is."""
    dimension = item.dimensions[level]
    if not dimension.free or dimension.divisor != 1 or len(dimension.value.terms) != 1:
        return None
    for loop, name in zip(item.statement.loops, item.statement.counters, strict=True):
        factor = dimension.value.terms.get((name,), 0)
        if abs(factor) == 1:
            return loop, factor
    return None


def _clashes(symbol: Symbol, items: Sequence[Item]) -> bool:
    """Whether a statement under the loop, or its bounds, mean another variable by the same name."""
    for item in items:
        own = {loop.variable for loop in item.statement.loops}
        bounds = [side for loop in item.statement.loops for side in (loop.lower, loop.bound)]
        used = {n.symbol for part in (item.statement.stmt, *bounds) for n in names(part)}
        if any(s.name == symbol.name and s != symbol and s not in own for s in used):
            return True
    return False


def _for(writer: ExpressionWriter, variable: IslVariable, ends: _Ends, body: tuple[Stmt, int], near: For) -> For:
    """Return the loop with its body and step; a dimension that is minus its variable counts down."""
    up = variable.sign > 0
    lowers = ends.lowers if up else tuple(b.negate() for b in ends.uppers)
    uppers = ends.uppers if up else tuple(b.negate() for b in ends.lowers)
    if up:
        relation, bound = _last(writer, uppers)
        first = writer.least(lowers)
    else:
        relation, bound = _last_down(writer, lowers)
        first = writer.greatest(uppers)
    return For(
        span=writer.span,
        variable=variable.symbol,
        declares=True,
        lower=first,
        relation=relation,
        bound=bound,
        step=body[1] * variable.sign,
        body=body[0],
        header=near.header,
    )


def _last(writer: ExpressionWriter, uppers: Sequence[IslBound]) -> tuple[Relation, Expr]:
    whole = all(b.divisor == 1 for b in uppers)
    quoted = len(uppers) == 1 and writer.quote(uppers[0].value) is not None
    if whole and not quoted and all(b.value.constant_term < 0 or b.value.number is not None for b in uppers):
        return "<", writer.greatest([IslBound(b.value.shift(1), 1) for b in uppers])
    return "<=", writer.greatest(uppers)


def _last_down(writer: ExpressionWriter, lowers: Sequence[IslBound]) -> tuple[Relation, Expr]:
    only = lowers[0]
    if len(lowers) == 1 and only.divisor == 1 and only.value.constant_term == 1 and only.value.number is None:
        return ">", writer.least([IslBound(only.value.shift(-1), 1)])
    return ">=", writer.least(lowers)


def _variable_of(value: Polynomial, variables: Mapping[str, IslVariable]) -> Symbol | None:
    """Return the loop's variable whose value this is."""
    if len(value.terms) != 1:
        return None
    ((monomial, factor),) = value.terms.items()
    own = variables.get(monomial[0]) if monomial else None
    return own.symbol if own is not None and factor * own.sign == 1 else None


def _is_captured(stmt: Stmt, own: Symbol, counter: Symbol) -> bool:
    """Whether the statement means something else by the name of `own`."""
    inside = {n.symbol for n in names(stmt)} | {n.variable for n in walk(stmt) if isinstance(n, For)}
    inside |= {n.symbol for n in walk(stmt) if isinstance(n, VarDecl)}
    return any(s.name == own.name and s not in (own, counter) for s in inside)


def _definition(symbol: Symbol, value: Expr, stmt: Stmt, *, declares: bool) -> Stmt:
    """Return `int j = value;`, or `j = value;` for a counter that is declared elsewhere."""
    if declares:
        return DeclStmt(span=stmt.span, declarations=(VarDecl(span=stmt.span, symbol=symbol, init=value),))
    target = Name(span=stmt.span, type=symbol.type, symbol=symbol)
    return ExprStmt(span=stmt.span, expr=Assign(span=stmt.span, type=symbol.type, op="=", target=target, value=value))


def _write_test(writer: ExpressionWriter, test: Test) -> Expr:
    if not test.floors:
        return writer.compare(test.value, equality=test.equality)
    divisible = _divisible(test)
    if divisible is not None:
        value, divisor = divisible
        rest = operation("%", writer.sum(value), integer(divisor, writer.span))
        return operation("==", rest, integer(0, writer.span))
    raise NotWritableError("a condition on the new order has a quotient that cannot be written")


def _divisible(test: Test) -> tuple[Polynomial, int] | None:
    """Return (p, d) for `p = d * floor(p / d)`."""
    if len(test.floors) != 1 or not test.equality:
        return None
    floor: Floor = test.floors[0]
    for sign in (1, -1):
        if floor.factor * sign == -floor.divisor and test.value.scale(sign) == floor.value:
            return floor.value, floor.divisor
    return None
