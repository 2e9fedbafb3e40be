"""Kernels with some unknowns tried out: the values that a loop's variable can have, and what follows from each.

    for (s = 128; s > 0; s >>= 1)     s is one of 128, 64, 32, 16, 8, 4, 2, 1

A variable that starts as a known number and that each iteration computes from itself alone has few values; the branch
at the end of the loop says where they stop. With a value for it, sums and conditions are numbers for each thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from warpsmith.analysis.affine.symbols import Atom, Form, center
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.presence import Guard, Presences
from warpsmith.ssa.graph import Cycle
from warpsmith.ssa.nodes import Branch, Constant, Instruction, Jump, Operand, Phi, Value
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lane, lanes

__all__ = ["Assignment", "Orbit", "Trial", "find_entered", "orbits"]

Assignment = Mapping[Atom, int]
_MOST_STEPS = 72
_DEEPEST = 8


class Orbit(Struct, frozen=True):
    """What the variables of a loop are in each iteration: `steps` has a number for each of `atoms`. `closed`: the loop
    has at most these iterations, in this order, `sure`: just these; not closed: these are all states that may come up,
    and perhaps more. `back`: which of them follows the last one, where that is known; `entered`: the test at the top of
    the loop lets the first iteration begin."""

    header: str
    atoms: tuple[Atom, ...]
    steps: tuple[tuple[int, ...], ...]
    closed: bool
    sure: bool
    back: int | None = None
    entered: bool = False

    def at(self, iteration: int) -> tuple[int, ...] | None:
        """Return the numbers in an iteration, from 0; None where the order of the states is not known."""
        if iteration < len(self.steps):
            return self.steps[iteration] if self.closed or self.back is not None else None
        if self.back is None or not self.steps:
            return None
        return self.steps[self.back + (iteration - self.back) % (len(self.steps) - self.back)]


def orbits(forms: Forms) -> dict[str, Orbit]:
    """Return the orbit of each loop that has one, by its header."""
    phis: dict[str, list[Phi]] = defaultdict(list)
    for value in forms.found:
        made, home = forms.answer.definitions[value], forms.answer.homes[value]
        if isinstance(made, Phi) and home in forms.headers and len(forms.headers[home].entries) == 1:
            phis[home].append(made)
    found = {header: _orbit(forms, inside, forms.headers[header]) for header, inside in phis.items()}
    known = {header: orbit for header, orbit in found.items() if orbit is not None}
    for header, inside in phis.items():
        nested = _nested(forms, inside, forms.headers[header], known) if header not in known else None
        if nested is not None:
            known[header] = nested
    return known


def find_entered(forms: Forms) -> frozenset[str]:
    """Return the headers of the loops whose test at the top lets the first iteration begin, however many come then."""
    phis: dict[str, list[Phi]] = defaultdict(list)
    for value in forms.found:
        made, home = forms.answer.definitions[value], forms.answer.homes[value]
        if isinstance(made, Phi) and home in forms.headers:
            phis[home].append(made)
    return frozenset(header for header, inside in phis.items() if _enters(forms, inside, forms.headers[header]))


def _enters(forms: Forms, phis: Sequence[Phi], cycle: Cycle) -> bool:
    latches = [name for name in forms.graph.predecessors[cycle.header] if name in cycle.blocks]
    if len(latches) != 1 or not isinstance(forms.blocks[latches[0]].terminator, Jump):
        return False
    starts = {phi.result: start for phi in phis if (start := _start(forms, phi, cycle)) is not None}
    return bool(starts) and _goes(forms, latches[0], cycle.header, starts) is True


def _nested(forms: Forms, phis: Sequence[Phi], cycle: Cycle, outer: Mapping[str, Orbit]) -> Orbit | None:
    """Return what a variable is that starts as what one of a loop around it makes of its own."""
    latches = [name for name in forms.graph.predecessors[cycle.header] if name in cycle.blocks]
    around = [outer[c.header] for c in forms.around[cycle.header] if c is not cycle and c.header in outer]
    if len(latches) != 1 or not around:
        return None
    for phi in phis:
        starts = _starts(forms, phi, cycle, around[0])
        atom = _atom(forms, phi) if starts else None
        states: list[int] = []
        for start in starts if atom is not None else ():
            found, _, _ = _states(forms, [phi], {phi.result: start}, (latches[0], cycle.header))
            if not found:
                return None
            states += [state[phi.result] for state in found]
        if atom is not None:
            return Orbit(cycle.header, (atom,), tuple((n,) for n in dict.fromkeys(states)), False, False)
    return None


def _starts(forms: Forms, phi: Phi, cycle: Cycle, outer: Orbit) -> list[int]:
    """Return the numbers that a variable may start from; none where one is not known."""
    outside = [o for before, o in phi.incoming if before not in cycle.blocks]
    variables = {atom: value for value, form in forms.found.items() for atom in _alone(form)}
    found: list[int] = []
    for step in outer.steps:
        known = {variables[a]: n for a, n in zip(outer.atoms, step, strict=True) if a in variables}
        numbers = [_scalar(forms, o, dict(known), 0) for o in outside]
        if len(numbers) != 1 or numbers[0] is None:
            return []
        found.append(numbers[0])
    return list(dict.fromkeys(found))


def _alone(form: Form) -> tuple[Atom, ...]:
    """Return the unknown that a form is, where it is nothing else."""
    ((monomial, coefficient), *others) = form.terms.items() or [((), 0)]
    return monomial if len(monomial) == 1 and coefficient == 1 and not others else ()


def _orbit(forms: Forms, phis: Sequence[Phi], cycle: Cycle) -> Orbit | None:
    latches = [name for name in forms.graph.predecessors[cycle.header] if name in cycle.blocks]
    if len(latches) != 1:
        return None
    starts = {phi: _start(forms, phi, cycle) for phi in phis}
    known = [phi for phi in phis if starts[phi] is not None]
    own = {phi: _atom(forms, phi) for phi in known}
    first = _goes(forms, latches[0], cycle.header, {phi.result: starts[phi] or 0 for phi in known})
    if first is None and not any(own.values()):
        return None
    edge = latches[0], cycle.header
    states, closed, _ = _states(forms, known, {phi.result: starts[phi] or 0 for phi in known}, edge)
    if closed:
        atoms = [(phi, atom) for phi in known if (atom := own[phi]) is not None]
        rows = (tuple(state[phi.result] for phi, _ in atoms) for state in states)
        steps = tuple((*row, at) for at, row in enumerate(rows))
        return Orbit(
            cycle.header,
            (*(atom for _, atom in atoms), forms.iteration(cycle)),
            steps,
            True,
            _leaves_at(forms, cycle) in ({latches[0]}, {cycle.header}),
            entered=len(states) > 1 and isinstance(forms.blocks[latches[0]].terminator, Jump),
        )
    mine = [phi for phi in known if own[phi] is not None]
    alone = [phi for phi in mine if _states(forms, [phi], {phi.result: starts[phi] or 0}, edge)[0]]
    for some in (alone, alone[:1]):
        states, _, back = _states(forms, some, {phi.result: starts[phi] or 0 for phi in some}, edge)
        if states:
            atoms_of = tuple(atom for phi in some if (atom := own[phi]) is not None)
            return Orbit(
                cycle.header, atoms_of, tuple(tuple(s[p.result] for p in some) for s in states), False, False, back
            )
    return None


def _leaves_at(forms: Forms, cycle: Cycle) -> set[str]:
    """Return the blocks at which threads leave a loop."""
    after = forms.graph.successors
    return {name for name in cycle.blocks if not after[name] or any(to not in cycle.blocks for to in after[name])}


def _start(forms: Forms, phi: Phi, cycle: Cycle) -> int | None:
    outside = [(before, o) for before, o in phi.incoming if before not in cycle.blocks]
    forms_ = [forms.of(o, before, cycle.header) for before, o in outside]
    numbers = {None if form is None or form.constant is None else form.constant % (1 << form.bits) for form in forms_}
    return numbers.pop() if len(numbers) == 1 else None


def _atom(forms: Forms, phi: Phi) -> Atom | None:
    """Return the unknown that a phi is, where it is one that threads share."""
    terms = forms.found[phi.result].terms
    if len(terms) != 1:
        return None
    ((monomial, coefficient),) = terms.items()
    one = len(monomial) == 1 and coefficient == 1 and monomial[0].kind == "shared"
    return monomial[0] if one and len(monomial[0].cycles) else None


def _states(
    forms: Forms, phis: Sequence[Phi], start: dict[Value, int], edge: tuple[str, str]
) -> tuple[list[dict[Value, int]], bool, int | None]:
    """Return the states of some phis from iteration to iteration, whether it is known where they end, and else which of
    them comes again; nothing where they cannot be computed, or are too many."""
    latch, header = edge
    states: list[dict[Value, int]] = []
    state: dict[Value, int] | None = dict(start)
    while state is not None and phis and state not in states:
        states.append(state)
        known = dict(state)
        goes = _goes(forms, latch, header, known)
        if goes is False:
            return states, True, None
        backs = {phi.result: _scalar(forms, dict(phi.incoming)[latch], known, 0) for phi in phis}
        state = {value: n for value, n in backs.items() if n is not None}
        if len(state) < len(backs) or len(states) > _MOST_STEPS:
            return [], False, None
    return states, False, states.index(state) if state in states else None


def _goes(forms: Forms, latch: str, header: str, known: dict[Value, int]) -> bool | None:
    """Return whether the loop goes on, None where that is not known: by the branch at its end, or that at its top."""
    terminator = forms.blocks[latch].terminator
    if isinstance(terminator, Jump) and isinstance(top := forms.blocks[header].terminator, Branch):
        inside = [way in forms.headers[header].blocks for way in (top.then, top.other)]
        taken = None if all(inside) else _scalar(forms, top.condition, known, 0)
        return None if taken is None else inside[0 if taken else 1]
    if not isinstance(terminator, Branch) or terminator.then == terminator.other:
        return None
    taken = _scalar(forms, terminator.condition, known, 0)
    return None if taken is None else (terminator.then if taken else terminator.other) == header


def _scalar(forms: Forms, operand: Operand, known: dict[Value, int], depth: int) -> int | None:
    """Return the number that an operand is where `known` values are what they are."""
    if isinstance(operand, Constant):
        return operand.bits
    if not isinstance(operand, Value):
        return None
    if operand in known:
        return known[operand]
    form = forms.found.get(operand)
    if form is not None and form.constant is not None:
        return form.constant % (1 << form.bits)
    made = forms.answer.definitions.get(operand)
    if not isinstance(made, Instruction) or not _is_computed(made) or depth > _DEEPEST:
        return None
    numbers = [_scalar(forms, o, known, depth + 1) for o in made.operands]
    given = tuple(n for n in numbers if n is not None)
    if len(given) < len(numbers) or not numbers:
        return None
    known[operand] = lane(made, given)[0]
    return known[operand]


def _is_computed(i: Instruction) -> bool:
    integers = all(o.type.kind != "float" for o in i.operands) and len(i.results) == 1
    special = ("query", "param", "address", "to_generic", "from_generic", "lanewise")
    return OPS[i.op].pure and i.op not in special and integers and i.results[0].type.kind != "float"


class Trial:
    """A function with numbers for some unknowns."""

    def __init__(self, forms: Forms, presences: Presences, assignment: Assignment) -> None:
        self.forms, self.presences, self.assignment = forms, presences, assignment
        self._numbers: dict[tuple[Value, str], tuple[int, ...] | None] = {}
        self._threads: dict[str, tuple[frozenset[int], bool]] = {}
        self._resolved: dict[Atom, int | None] = {}

    def substitute(self, form: Form) -> Form:
        """Return a sum with the numbers put in."""
        if not self.assignment:
            return form
        made = Form(form.bits, {})
        for monomial, coefficient in form.terms.items():
            factor, rest = coefficient, []
            for atom in monomial:
                number = self._number(atom)
                if number is None:
                    rest.append(atom)
                else:
                    factor *= number
            made = made.plus(Form(form.bits, {tuple(rest): 1}), factor)
        return made

    def _number(self, atom: Atom) -> int | None:
        """Return the number of an unknown: one that was given, or what follows from those for what it is made of."""
        if atom in self.assignment or atom.kind != "shared" or atom.argument or atom.of_block or atom.of_grid:
            return self.assignment.get(atom)
        if atom not in self._resolved:
            self._resolved[atom] = None
            value = self.forms.named.get(atom)
            made = self.forms.answer.definitions.get(value) if value is not None else None
            if value is not None and isinstance(made, Instruction) and _is_computed(made):
                row = self.numbers(value, self.forms.answer.homes[value])
                if row is not None and len(set(row)) == 1:
                    self._resolved[atom] = center(row[0], value.type.bits)
        return self._resolved[atom]

    def numbers(self, operand: Operand, block: str, depth: int = 0) -> tuple[int, ...] | None:
        """Return the number of each thread, as bits, None where it is not known."""
        lanes = self.forms.lanes
        if isinstance(operand, Constant):
            return (operand.bits,) * lanes.count
        if not isinstance(operand, Value) or depth > _DEEPEST:
            return None
        if (operand, block) not in self._numbers:
            self._numbers[operand, block] = self._evaluate(operand, block, depth)
        return self._numbers[operand, block]

    def _evaluate(self, value: Value, block: str, depth: int) -> tuple[int, ...] | None:
        form = self.forms.of(value, block)
        if form is not None:
            numbers = self.forms.lanes.numbers(self.substitute(form))
            if numbers is not None:
                return tuple(n % (1 << form.bits) for n in numbers)
        made = self.forms.answer.definitions.get(value)
        home = self.forms.answer.homes.get(value, block)
        late = form is not None and any(
            block not in self.forms.headers[h].blocks for a in form.atoms() for h in a.cycles
        )
        if not isinstance(made, Instruction) or not made.operands or late:
            return None
        return self.evaluate(made, [self.numbers(o, home, depth + 1) for o in made.operands])

    def evaluate(self, made: Instruction, rows: Sequence[tuple[int, ...] | None]) -> tuple[int, ...] | None:
        """Return what an instruction makes of the numbers of its operands; None where one is not known."""
        known = [row for row in rows if row is not None]
        return lanes(made, known) if len(known) == len(rows) and rows and _is_computed(made) else None

    def threads(self, block: str) -> tuple[frozenset[int], bool]:
        """Return which threads may be in a block, and whether exactly those are, whenever one of them is."""
        if block not in self._threads:
            self._threads[block] = self._there(block)
        return self._threads[block]

    def _there(self, block: str) -> tuple[frozenset[int], bool]:
        left = set(self.presences.at(block).threads)
        diverging = set(self.presences.find_diverging(block))
        for guard in self._guards(block, diverging):
            terminator = self.forms.blocks[guard.block].terminator
            assert isinstance(terminator, Branch)
            numbers = self.numbers(terminator.condition, guard.block)
            if numbers is not None:
                left &= {t for t, n in enumerate(numbers) if bool(n & 1) == guard.holds}
                diverging.discard(guard.block)
            else:
                left &= self.presences.may_hold(guard)
        return frozenset(left), not diverging

    def _guards(self, block: str, diverging: set[str]) -> list[Guard]:
        """Return the branches that `block` is behind, one way only."""
        graph = self.forms.graph
        above, names = graph.dominator.get(block), set(diverging)
        while above is not None and len(names) < 64:
            names.add(above)
            above = graph.dominator.get(above)
        guards = (self.presences.guard(name, block) for name in names)
        return [guard for guard in guards if guard is not None]
