"""The state of the walk over a region: the path taken, the values of variables, the guards assumed so far.

`require` is the heart: a side condition (an unsigned value in range, a subscript inside its row) is first tried by
isl against the path; if it fails for some parameters and guards are allowed, those parameters are excluded by a host
condition, which then belongs to the context of everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.poly.isl.affine import AffineReader
from warpsmith.poly.isl.formula import (
    FALSE,
    TRUE,
    And,
    Formula,
    at_least,
    atoms_of,
    both,
    either,
    equal,
    follows,
    negate,
    options,
)
from warpsmith.poly.isl.host import HostError, condition_expr, condition_text, product_expr
from warpsmith.poly.isl.polynomial import ONE, ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.products import least_by_division, least_value, product_limit, quotients_as_dividends
from warpsmith.poly.isl.room import CounterNest, long_runs, sample
from warpsmith.poly.isl.space import Set, drop_quotients, hull, make_set, parameter_formula
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.poly.regions.answers import RegionAnswers
from warpsmith.poly.regions.region import Path, RunsWhen
from warpsmith.poly.regions.table_values import read_table
from warpsmith.tree.memory.effective_types import apart
from warpsmith.tree.nodes import Call, Expr, For, Index, Literal, Member, Name, Unary
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import peel, root_symbol, walk

__all__ = ["PointerValue", "State"]


class PointerValue(Struct, frozen=True):
    """A pointer value: element `path` (its last part counts elements of what it points to) behind `place` of `base`."""

    base: Symbol
    place: str
    path: Path
    known: bool = True


class State(Struct):
    """The mutable part of the walk; also the oracle of `AffineReader`. `computed`: what holds because the scope's loops
    have computed their bounds without overflow. `runs`: what decides besides the path whether this point is reached.
    `exposed`: variables that the scope writes by their names, and that a pointer may name as well.
    `tables`: arrays of known numbers; `fixed`: local pointers that are followed to the address that they always hold;
    `rows`: for pointers to rows, where these start, and what has to be
    true for two of them to have no element in common (None: nothing is stored to them)."""

    span: Span
    guards: bool
    written: frozenset[Symbol]
    stored: frozenset[Symbol]
    stored_types: tuple[Type, ...] | None
    hidden: frozenset[Symbol]
    unstable: frozenset[Symbol]
    exposed: frozenset[Symbol] = frozenset()
    vocabulary: AtomVocabulary = field(default_factory=AtomVocabulary)
    context: Formula = TRUE
    computed: Formula = TRUE
    path: list[Formula] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    loops: list[For] = field(default_factory=list)
    outer: list[tuple[For, str]] = field(default_factory=list)
    runs: RunsWhen = RunsWhen.ALWAYS
    reached: bool = True
    values: dict[Symbol, Polynomial | None] = field(default_factory=dict)
    pointers: dict[Symbol, PointerValue | None] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)
    unproved: list[str] = field(default_factory=list)
    constants: Mapping[Symbol, int] = field(default_factory=dict)
    lost: list[Expr] = field(default_factory=list)
    limits: dict[str, tuple[Polynomial | None, Polynomial | None]] = field(default_factory=dict)
    injective: Mapping[str, Assumption] = field(default_factory=dict)
    rows: Mapping[Symbol, tuple[Symbol, Assumption | None]] = field(default_factory=dict)
    tables: Mapping[Symbol, tuple[int, ...]] = field(default_factory=dict)
    fixed: Mapping[Symbol, Expr] = field(default_factory=dict)
    nests: dict[str, CounterNest] = field(default_factory=dict)
    answers: RegionAnswers = field(default_factory=RegionAnswers)

    def copy(self) -> State:
        """Return a state that knows the same; what either assumes from now on is its own. Answers about atoms that both
        have are remembered for both."""
        return replace(
            self,
            answers=RegionAnswers(self.answers, frozenset(self.vocabulary.atoms)),
            vocabulary=self.vocabulary.copy(),
            path=list(self.path),
            counters=list(self.counters),
            loops=list(self.loops),
            outer=list(self.outer),
            values=dict(self.values),
            pointers=dict(self.pointers),
            assumptions=list(self.assumptions),
            unproved=list(self.unproved),
            lost=list(self.lost),
            limits=dict(self.limits),
            nests=dict(self.nests),
        )

    @property
    def lost_words(self) -> str:
        """What is said of the first access that nothing in the function names; "" where there is none."""
        if not self.lost:
            return ""
        shown = " ".join(self.lost[0].span.text.split())
        if isinstance(self.lost[0], Call):
            return f"{shown} may touch any part of what its arguments lead to"
        return f"what {shown} points to is not known"

    @property
    def affine(self) -> AffineReader:
        """The reader of expressions at this point."""
        return AffineReader(self.vocabulary, self)

    # --- the oracle

    def scalar(self, name: Name) -> Polynomial | None:
        """Return the value of a variable here; a variable that the scope never writes is a parameter."""
        symbol = name.symbol
        if symbol in self.values:
            return self.values[symbol]
        if symbol in self.constants:
            return constant(self.constants[symbol])
        if symbol in self.written or symbol in self.hidden or not isinstance(symbol.type, Scalar):
            return None
        if symbol.type.volatile:
            return None
        return atom(self.vocabulary.parameter(symbol, symbol.name, name, symbol.type))

    def load_parameter(self, expr: Expr) -> Polynomial | None:
        """Return the parameter for a load whose place and operands do not change in the scope, or what a table has."""
        found = self._read_table(expr) if self.tables else None
        if found is not None:
            return found
        if not is_integer(expr.type) or not self.stable(expr):
            return None
        text = show_expression(expr)
        type = expr.type if isinstance(expr.type, Scalar) else None
        return atom(self.vocabulary.parameter(("load", _shape(expr)), text, expr, type))

    def _read_table(self, expr: Expr) -> Polynomial | None:
        """Return what stands at an element of a table: known without a guard, or a parameter is as good."""
        allowed, self.guards = self.guards, False
        remembered = len(self.unproved)
        found = read_table(self.affine, self.tables, expr)
        self.guards = allowed
        del self.unproved[remembered:]
        return found

    def stable(self, expr: Expr) -> bool:
        """Whether `expr` reads only what the scope never writes, at a place that does not move."""
        for part in walk(expr):
            if not isinstance(part, Name | Member | Index | Literal) and not (
                isinstance(part, Unary) and part.op == "*"
            ):
                return False
            if isinstance(part, Name) and not self._still(part.symbol):
                return False
            if isinstance(part.type, Scalar) and part.type.volatile:
                return False
        root = root_symbol(expr)
        if root is None:
            return False
        behind = isinstance(root.type, Pointer | Array) or any(isinstance(p, Unary | Index) for p in walk(expr))
        behind = behind or any(isinstance(p, Member) and p.arrow for p in walk(expr))
        return self._is_untouched(expr) if behind or root in self.stored else True

    def _still(self, symbol: Symbol) -> bool:
        """Whether a variable keeps one value in the whole scope."""
        if symbol in self.values:
            value = self.values[symbol]
            return value is not None and all(self.vocabulary.invariant(n) for n in value.atoms())
        return symbol not in self.written and symbol not in self.hidden

    def _is_untouched(self, expr: Expr) -> bool:
        """Whether no write of the scope can change what `expr` loads on its way: by type, or as there are none."""
        if self.stored_types is None:
            return not self.stored and not self.exposed
        kinds = (*self.stored_types, *(symbol.type for symbol in self.exposed))
        loads = [p for p in walk(expr) if isinstance(p, Member | Index | Unary) and not isinstance(p.type, Array)]
        whole = [p for p in loads if not isinstance(p.type, Record)]
        return all(apart(load.type, kind) for load in whole for kind in kinds)

    def require(self, nonnegative: tuple[Polynomial, ...], what: Expr) -> bool:
        """Prove all polynomials >= 0 on the current path, or guard; else remember what was missing."""
        return self.require_on(both(self.path), nonnegative, show_expression(what))

    def require_on(
        self, path: Formula, nonnegative: tuple[Polynomial, ...], what: str, *, declared: bool = False
    ) -> bool:
        """Prove all polynomials >= 0 wherever `path` holds, or assume a guard under which they are. `declared`: the
        program means nothing where they are not, so that they limit the iterations that its loops can have."""
        pending = [p for p in nonnegative if not self._plainly(p) and not self._is_bounded(path, p)]
        pending = [p for p in pending if not self._by_division(path, p)]
        pending = [p for p in pending if not follows(p, (path, self.context))]
        if not pending:
            return True
        # One subscript is often used by many references of a statement, and one region is asked many questions.
        atoms = frozenset[str]().union(*(p.atoms() for p in pending))
        question = (id(path), id(self.context), tuple(frozenset(p.terms.items()) for p in pending))
        known = self.answers.find(question, atoms)
        if known:
            return True
        linear = [self.vocabulary.linear(p) for p in pending]
        wrong = [negate(at_least(p, ZERO)) for p in linear if p is not None]
        if len(wrong) < len(linear):
            self.unproved.append(f"{what} may leave its range")
            return False
        if known is None or self.guards:
            violation = both((path, self.context, either(wrong)))
            violation = both((violation, self.ranges(atoms_of(violation))))
            values = make_set(self.vocabulary, self.counters_of(violation), violation)
            if known is None and self.answers.add(question, atoms, (path, self.context), yes=bool(values.is_empty())):
                return True
            if self.guards and self._guard(values, path, declared=declared):
                return True
            if self.guards and self._guard_each(wrong, path, declared=declared):
                return True
        self.unproved.append(f"{what} may leave its range")
        return False

    def _plainly(self, value: Polynomial, path: Formula | None = None) -> bool:
        """Whether the C types of the atoms, and their signs on `path` if one is given, alone show value >= 0."""
        least = 0
        for monomial, factor in value.terms.items():
            ends = [1]
            for name in monomial:
                a = self.vocabulary[name]
                if a.low is None or a.high is None:
                    return False
                low = 0 if a.low < 0 and path is not None and self._never_negative(path, name) else a.low
                products = [end * limit for end in ends for limit in (low, a.high)]
                ends = [min(products), max(products)]
            least += min(factor * end for end in ends)
        return least >= 0

    def _is_bounded(self, path: Formula, value: Polynomial) -> bool:
        """Whether value >= 0 follows, products of counters and all, from the counters' extremes (or is guarded so)."""
        kinds = self.vocabulary
        if not any(len(m) > 1 and any(kinds[n].kind == "counter" for n in m) for m in value.terms):
            return False
        assumed, context = len(self.assumptions), self.context
        if self._plainly(value, path) or self._termwise(path, value) or self._at_extremes(path, value):
            return True
        # Signs that were assumed on the way have led nowhere.
        del self.assumptions[assumed:]
        self.context = context
        return False

    def _by_division(self, path: Formula, value: Polynomial) -> bool:
        """Whether value >= 0 follows from what quotients are at most (or is guarded so)."""
        least, needed = least_by_division(self.vocabulary, value)
        if least == value:
            return False
        assumed, context = len(self.assumptions), self.context
        if all(self._linearly(path, p) or (self.guards and self._guard_linear(path, p)) for p in (*needed, least)):
            return True
        del self.assumptions[assumed:]
        self.context = context
        return False

    def _termwise(self, path: Formula, value: Polynomial) -> bool:
        """Whether the products and the rest are each >= 0."""
        products = Polynomial({m: c for m, c in value.terms.items() if len(m) > 1})
        return self._linearly(path, value - products) and self._is_signed(path, products)

    def _at_extremes(self, path: Formula, value: Polynomial) -> bool:
        order = [*reversed(self.counters), *(name for _, name in reversed(self.outer))]
        least = least_value(value, order, self.limits, lambda p: self._is_signed(path, p))
        if least is None:
            return False
        least = quotients_as_dividends(self.vocabulary, least)
        if self._plainly(least, path) or self._linearly(path, least):
            return True
        if not self.guards:
            return False
        limit = product_limit(least, self._plainly)
        return self._guard_product(path, *limit) if limit is not None else self._guard_linear(path, least)

    def _is_signed(self, path: Formula, value: Polynomial) -> bool:
        """Whether every term is surely >= 0 on the path, or is guarded to be."""
        if any(factor < 0 for factor in value.terms.values()):
            return False
        return all(self._never_negative(path, name) or self._guard_sign(path, name) for name in value.atoms())

    def _linearly(self, path: Formula, value: Polynomial) -> bool:
        """Whether value >= 0 on the path, by isl where need be."""
        if follows(value, (path, self.context)):
            return True
        wrong = self._negative(path, value)
        return wrong is not None and wrong.is_empty()

    def _guard_linear(self, path: Formula, value: Polynomial) -> bool:
        wrong = self._negative(path, value)
        return wrong is not None and self._guard(wrong, path)

    def _negative(self, path: Formula, value: Polynomial) -> Set | None:
        """Return where on the path value < 0; None where isl cannot say that."""
        linear = self.vocabulary.linear(value)
        if linear is None:
            return None
        wrong = both((path, self.context, negate(at_least(linear, ZERO))))
        wrong = both((wrong, self.ranges(atoms_of(wrong))))
        return make_set(self.vocabulary, self.counters_of(wrong), wrong)

    def _guard_sign(self, path: Formula, name: str) -> bool:
        """Assume that a parameter (the width of a row, most often) is not negative."""
        if not self.guards or not self.vocabulary.invariant(name) or self.vocabulary[name].kind == "counter":
            return False
        return self._guard_linear(path, atom(name))

    def _never_negative(self, path: Formula, name: str) -> bool:
        low = self.vocabulary[name].low
        if low is not None and low >= 0:
            return True
        negative = both((path, self.context, at_least(constant(-1), atom(name))))
        return make_set(self.vocabulary, self.counters_of(negative), negative).is_empty()

    def assume_positive(self, name: str) -> None:
        """Assume that a parameter is at least 1, where guards are allowed and it is not known."""
        if self.guards and not self._is_positive(name):
            self._guard_linear(both(()), atom(name).shift(-1))

    def _is_positive(self, name: str) -> bool:
        """Whether the context says that a parameter is at least 1."""
        question, atoms = (id(self.context), name), frozenset((name,))
        known = self.answers.find(question, atoms)
        if known is None:
            below = both((self.context, at_least(ZERO, atom(name))))
            empty = bool(make_set(self.vocabulary, self.counters_of(below), below).is_empty())
            known = self.answers.add(question, atoms, (self.context,), yes=empty)
        return known

    def _guard_product(self, path: Formula, terms: Polynomial, limit: int) -> bool:
        """Assume terms <= limit, tested in floating point: no product can overflow there."""
        linear = self.vocabulary.linear(constant(limit) - terms)
        if linear is None or not self._alive(path, at_least(linear, ZERO)):
            return False
        try:
            condition = product_expr(self.vocabulary, terms, limit, self.span)
        except HostError:
            return False
        text = f"{self.vocabulary.text(terms)} <= {limit}"
        self.assume(Assumption(text, "guarded", condition, self.span), at_least(linear, ZERO))
        return True

    def counters_of(self, formula: Formula) -> tuple[str, ...]:
        """Return every counter that the formula mentions, quotients followed, the scope's and those around it."""
        names = set(atoms_of(formula))
        for definition in self.vocabulary.definitions(frozenset(names))[1]:
            names |= atoms_of(definition)
        return tuple(sorted(n for n in names if self.vocabulary[n].kind == "counter"))

    def ranges(self, names: frozenset[str]) -> Formula:
        """Return the ranges that the C types of atoms give; a product of sizes is no less than each of them."""
        parts: list[Formula] = []
        for definition in self.vocabulary.definitions(names)[1]:
            names |= atoms_of(definition)
        for name in sorted(names):
            a = self.vocabulary[name]
            if a.low is not None and a.high is not None:
                parts += [at_least(atom(name), constant(a.low)), at_least(constant(a.high), atom(name))]
            elif a.parts and all(self._is_positive(part) for part in a.parts):
                parts += [at_least(atom(name), atom(part)) for part in dict.fromkeys(a.parts)]
            elif a.parts and all((low := self.vocabulary[p].low) is not None and low >= 0 for p in a.parts):
                parts.append(at_least(atom(name), ZERO))
        return both(parts)

    def exclude(self, violation: Set, path: Formula) -> bool:
        """Assume a guard that leaves no parameters of `violation`, and some for which `path` can be taken."""
        return self.guards and self._guard(violation, path)

    def _guard(self, violation: Set, path: Formula, *, declared: bool = False) -> bool:
        """Exclude the parameters of `violation` by a host condition; False where that cannot be said or leaves none.
        `declared`: the program means nothing for them anyway."""
        wrong = parameter_formula(drop_quotients(violation))
        if wrong is None:
            return False
        facts = both((self.context, self.ranges(atoms_of(wrong) | atoms_of(self.context))))
        known = make_set(self.vocabulary, (), facts)
        bad = make_set(self.vocabulary, (), wrong).gist(known)
        simple = _complement(bad, known)
        if simple is None:
            # excluding more than is wrong is right as well, while it leaves something
            simple = _complement(bad := hull(bad).gist(known), known)
        if simple == TRUE:
            return False
        parts = [] if simple is None else [self._shorten(p, bad) for p in options(simple)]
        parts = [p for p in parts if self._alive(path, p, declared=declared)]
        units = self._unit_values(violation, (wrong, either(parts)), known)
        parts += [p for p in units if self._alive(path, p, declared=declared)]
        simple = either(sorted(parts, key=lambda part: condition_text(self.vocabulary, part)))
        if simple == FALSE:
            return False
        try:
            condition = condition_expr(self.vocabulary, simple, self.span)
        except HostError:
            return False
        text = condition_text(self.vocabulary, simple)
        self.assume(Assumption(text, "guarded", condition, self.span, declared), simple)
        return True

    def _unit_values(self, violation: Set, sides: tuple[Formula, Formula], known: Set) -> list[Formula]:
        """Return `p == 1` for the parameters, strides mostly, that are never 1 where something is wrong, and may be 1
        (as far as is known) beside what is let through; `sides`: what is excluded, what is let through. What remains of
        a violation when it is divided is not said by the first."""
        wrong, right = sides
        values = violation.params()
        if values.is_equal(make_set(self.vocabulary, (), wrong).params()):
            return []
        let_through, facts = make_set(self.vocabulary, (), right).params(), known.params()
        units = [equal(atom(name), ONE) for name in sorted(atoms_of(wrong))]
        sets = [(one, make_set(self.vocabulary, (), one).params()) for one in units]
        own = [(one, held) for one, held in sets if values.intersect(held).is_empty()]
        return [one for one, held in own if not held.intersect(facts).is_subset(let_through)]

    def _guard_each(self, wrong: Sequence[Formula], path: Formula, *, declared: bool) -> bool:
        """Exclude one thing that is wrong after another: what leaves room for loops to run may be a disjunction for
        each, of which one guard for all would need the products."""
        if len(wrong) < 2:
            return False
        assumed, context = len(self.assumptions), self.context
        for one in wrong:
            violation = both((path, self.context, one))
            violation = both((violation, self.ranges(atoms_of(violation))))
            values = make_set(self.vocabulary, self.counters_of(violation), violation)
            if not values.is_empty() and not self._guard(values, path, declared=declared):
                del self.assumptions[assumed:]
                self.context = context
                return False
        return True

    def _shorten(self, guard: Formula, bad: Set) -> Formula:
        """Leave out comparisons that the guard does not need to keep clear of `bad`."""
        kept = list(guard.parts) if isinstance(guard, And) else [guard]
        for part in tuple(kept):
            rest = [p for p in kept if p is not part]
            if rest and make_set(self.vocabulary, (), both(rest)).intersect(bad).is_empty():
                kept = rest
        return both(kept)

    def _alive(self, path: Formula, guard: Formula, *, declared: bool = False) -> bool:
        """Whether the loops on `path` can have many iterations where the guard holds: as many as a `declared` extent
        leaves them."""
        plain = both((path, self.context, self.computed, guard if declared else TRUE))
        whole = both((plain, guard))
        ranges = self.ranges(atoms_of(whole))
        domain, free, counters = both((whole, ranges)), both((plain, ranges)), self.counters_of(whole)
        return sample(self.vocabulary, long_runs(self.vocabulary, domain, free, counters, nests=self.nests)) is not None

    def assume(self, assumption: Assumption, formula: Formula) -> None:
        """Add an assumption to the context."""
        if all(a.text != assumption.text for a in self.assumptions):
            self.assumptions.append(assumption)
        self.context = both((self.context, formula))

    def take(self, given: Sequence[Assumption]) -> None:
        """Add to the context what conditions say that hold in the whole scope, as far as they can be read."""
        allowed, self.guards = self.guards, False
        unproved = len(self.unproved)
        for condition in (one.condition for one in given if one.condition is not None):
            self.context = both((self.context, self.affine.condition(condition)[0]))
        del self.unproved[unproved:]
        self.guards = allowed

    # --- values of variables

    def forget(self, symbols: frozenset[Symbol]) -> None:
        """Forget the values of variables that something may have changed."""
        for symbol in symbols:
            self.values[symbol] = None
            self.pointers[symbol] = None

    def snapshot(self) -> tuple[dict[Symbol, Polynomial | None], dict[Symbol, PointerValue | None]]:
        """Return the values known now."""
        return dict(self.values), dict(self.pointers)

    def merge(self, other: tuple[dict[Symbol, Polynomial | None], dict[Symbol, PointerValue | None]]) -> None:
        """Keep only what is the same here and in `other` (a snapshot where two paths part)."""
        for symbol in self.values.keys() | other[0].keys():
            if self.values.get(symbol) != other[0].get(symbol) or symbol not in self.values:
                self.values[symbol] = None
        for symbol in self.pointers.keys() | other[1].keys():
            if self.pointers.get(symbol) != other[1].get(symbol) or symbol not in self.pointers:
                self.pointers[symbol] = None


def _complement(bad: Set, known: Set) -> Formula | None:
    """Return where `bad` does not hold, given `known`; None where that is too long or needs quotients.

    A conjunction fails where one of its comparisons fails, which is shorter than isl's disjoint pieces.
    """
    wrong = parameter_formula(bad, 1)
    return parameter_formula(bad.complement().gist(known)) if wrong is None else negate(wrong)


def _shape(expr: Expr) -> tuple[object, ...]:
    """Return a key that is equal for equal loads."""
    expr = peel(expr)
    match expr:
        case Name(symbol=symbol):
            return ("name", symbol)
        case Literal(value=value):
            return ("literal", value)
        case Member(base=base, field=name, arrow=arrow):
            return ("member", _shape(base), name, arrow)
        case Index(base=base, index=index):
            return ("index", _shape(base), _shape(index))
        case _:
            return ("other", *(_shape(p) for p in _operands(expr)))


def _operands(expr: Expr) -> tuple[Expr, ...]:
    return (expr.operand,) if isinstance(expr, Unary) else ()
