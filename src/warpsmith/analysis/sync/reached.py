"""Clashes shown by numbers: arguments and iterations are given some, and two threads get to one byte.

    if (i < n) s[i % 64] = …;         n = 64, block 0:  threads 0 and … or none

With a number for each unknown that is not data, tests before a place say which threads get there, and addresses are
numbers. The way from one place to the other without a barrier must be open: a test whose answer is a number lets only
that way through. Tests of elements of arrays are taken to let both threads through, where each tests an element of its
own; what an atomic, a vote or another thread says is not: it may elect one of them.

An argument that is part of an address is taken to be large, unless it is a bound as well: a stride that is too short
makes anything meet. One that alone says how far the two places lie apart, `a[i] += a[i + n]`, is tried as 1 as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, islice, product
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.affine.symbols import Atom, center
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.sync.first_block import asks_for_block, tests_before
from warpsmith.analysis.sync.races import FIRST_BLOCK, UNLIKE, Clash, Judge, Meeting, overlap
from warpsmith.analysis.sync.trial import Trial
from warpsmith.analysis.sync.ways import TriedWays, made_of, part_at
from warpsmith.ssa.nodes import Branch, Instruction, Memory, Operand, Phi, Query, Value, terminator_operands
from warpsmith.ssa.ops import OPS

__all__ = ["LED", "apart_by_numbers", "find_first_axis", "find_reached", "find_reached_in_grid", "is_made_of"]

LED: Final = "the data lead both threads there"
_MOST_TRIED: Final = 48
_MOST_NEAR: Final = 8
_DEEPEST: Final = 24
_LARGE: Final = 4096
_LESS: Final = 512
"""Large enough for a product of three."""
_WIDE: Final = 64
_MOST_SORTED: Final = 1024
_GROWING: Final = ("add", "sub", "mul", "shl")
_CARRYING: Final = (*_GROWING, "select", "trunc", "smin", "smax", "umin", "umax")
"""Ops whose operands have the sign that their result has."""
_SIGNS: Final = {
    "sext": "s", "smulwide": "s", "sdiv": "s", "srem": "s", "ashr": "s", "zext": "u", "umulwide": "u",
}  # fmt: skip
"""How ops read their operands."""

Numbers = Mapping[Atom, int]


class _Rows(Struct, frozen=True):
    """Where the threads that get to a place touch memory; `led`: a test of data is taken to let them through."""

    at: Mapping[int, int]
    led: bool


def find_reached(judge: Judge, meeting: Meeting) -> Clash | None:
    """Return a clash of two threads of a block for some numbers; None where none is found; one that is open where a
    barrier stands between the two with all numbers for which they meet."""
    if meeting.first.base is None or meeting.first.base is not meeting.second.base:
        return None
    said, closed = _first_block(judge, meeting), False
    tried = [islice(_numbers(judge, meeting), _MOST_TRIED)]
    tried += [islice(_numbers(judge, meeting, near), _MOST_NEAR) for near in _shifts(judge, meeting)]
    for one, two, numbers in chain.from_iterable(tried):
        trials, texts = (judge.trial(one), judge.trial(two)), (*said, *numbers)
        clash = _clash(judge, meeting, trials)
        if clash is None:
            continue
        if not _is_open(judge, meeting, trials):
            closed = True
            continue
        sides = zip((meeting.first, meeting.second), trials, strict=True)
        if all(_comes(judge, place.block, trial, known=FIRST_BLOCK in said) for place, trial in sides):
            return replace(clash, reached=True, assumptions=(*texts, *clash.assumptions))
    return Clash(None, why="no numbers are found for which no barrier stands between the two") if closed else None


def _first_block(judge: Judge, meeting: Meeting) -> tuple[str, ...]:
    """Return what is said where numbers are those of the first block, or may overflow."""
    pair = meeting.first, meeting.second
    if pair[0].address is None or pair[1].address is None:
        return ()
    said = tuple(f"the index of {p.base.name} does not overflow" for p in pair if p.overflow and p.base is not None)
    difference = pair[0].address.common().plus(pair[1].address.common(), -1)
    return (FIRST_BLOCK, *said) if any(atom.of_block for atom in difference.atoms()) else said


def apart_by_numbers(judge: Judge, meeting: Meeting) -> bool:
    """Return whether all addresses are numbers, for each number that variables of loops may have, and none meet."""
    one, other = meeting.first, meeting.second
    if one.base is None or one.base is not other.base:
        return False
    fixed = {a: 0 for a in judge.forms.lanes.atoms.values() if a.space or a is one.base}
    for here, there, _ in judge.choices(meeting):
        trials = judge.trial({**fixed, **here}), judge.trial({**fixed, **there})
        rows = [_touched(place, trial) for place, trial in zip((one, other), trials, strict=True)]
        if rows[0] is None or rows[1] is None:
            return False
        if rows[0] and rows[1] and overlap(rows[0], rows[1], (one.bytes, other.bytes, 0), 0) is not None:
            return False
    return True


def find_reached_in_grid(judge: Judge, pair: tuple[AccessSite, AccessSite]) -> Clash | None:
    """Return a clash of a thread of block 0 and one of block 1; None where none is found."""
    first, second = pair
    count = judge.forms.lanes.count
    meeting = Meeting(first, second, tuple((c.header, None) for p in pair for c in judge.forms.around[p.block]))
    axis = find_first_axis(judge)
    for one, two, texts in islice(_numbers(judge, meeting), _MOST_TRIED):
        trials = judge.trial(one), judge.trial(two if axis is None else {**two, axis: 1})
        rows = [_rows(place, trial) for place, trial in zip(pair, trials, strict=True)]
        if rows[0] is None or rows[1] is None or not rows[0].at or not rows[1].at:
            continue
        there = {t + count: n for t, n in rows[1].at.items()}
        if found := overlap(rows[0].at, there, (first.bytes, second.bytes, 0), 0):
            threads = found[0], found[1] - count
            led = (LED,) if rows[0].led or rows[1].led else ()
            if not any(_overflows(*side) for side in zip(trials, pair, threads, strict=True)):
                return Clash(True, threads, assumptions=(*texts, *led))
    return None


def find_first_axis(judge: Judge) -> Atom | None:
    """Return the index that two blocks differ in: a kernel that reads no ctaid.x has one block along x."""
    flat = {f"ctaid.{'xyz'[axis]}" for axis in judge.forms.transfer.shape.flat}
    atoms = (a for a in judge.forms.lanes.atoms.values() if a.of_block and a.name not in flat)
    return min(atoms, key=lambda a: a.name, default=None)


# --- the numbers


def _numbers(
    judge: Judge, meeting: Meeting, near: Atom | None = None
) -> Iterator[tuple[Numbers, Numbers, tuple[str, ...]]]:
    """Yield numbers for the unknowns of both places, and what they are in words. `near`: an argument that is 1, if
    nothing else says what it is."""
    atoms = judge.forms.lanes.atoms.values()
    fixed = {a: 0 for a in atoms if a.space or a is meeting.first.base}
    arguments = [a for a in atoms if a.argument and a not in fixed]
    fixed |= {a: 0 for a in atoms if a.of_block} | {a: 4 for a in atoms if a.of_grid}
    counted = _counters(judge, meeting)
    entered = judge.entered(meeting)
    possible = (chosen for chosen in judge.choices(meeting) if _may_be(judge, meeting, chosen[:2], entered))
    orbits = list(islice(possible, _MOST_TRIED))
    addresses = [p.address for p in (meeting.first, meeting.second) if p.address is not None]
    monomials = [m for p in addresses for m in p.terms]
    terms = [[b for a in m for b in _arguments_of(judge, a, arguments)] for m in monomials]
    products = {a for m, term in zip(monomials, terms, strict=True) if len(m) > 1 for a in term}
    tested = [a for a in arguments if _is_tested(judge, meeting, a)]
    far = products | ({a for term in terms for a in term} - set(tested))
    longest = max(map(len, terms), default=0)
    large = _LESS if longest > 2 and judge.forms.lanes.count <= _LESS else _LARGE
    # two offsets lie apart: nobody says that they are the same
    places = {a: large * (n + 1) for n, a in enumerate(a for a in arguments if a in far - products)}
    if near is not None:
        if near not in places:
            return
        places[near] = 1
    for size in _sizes(judge) if any(a not in far for a in tested) else (large,):
        given = {a: _fit(a, places.get(a, large if a in far else size)) for a in arguments}
        texts = tuple(f"{a.argument} is {n}" for a, n in given.items() if a in far or a in tested)
        for here, there in _iterations(counted, dict(meeting.ahead), entered):
            for one, two, _ in orbits:
                sides = _at_iteration(judge, one, counted, here), _at_iteration(judge, two, counted, there)
                if sides[0] is not None and sides[1] is not None:
                    yield {**fixed, **given, **sides[0], **one}, {**fixed, **given, **sides[1], **two}, texts


def _at_iteration(judge: Judge, chosen: Numbers, counted: Mapping[str, Atom], at: Numbers) -> Numbers | None:
    """Return the iterations that fit the numbers of loops' variables: what these have in one iteration alone says which
    it is; None where they have other numbers in those of `at`."""
    found = dict(at)
    for header, atom in counted.items():
        orbit = judge.values.get(header)
        if orbit is None or not set(orbit.atoms) <= chosen.keys():
            continue
        step = tuple(chosen[one] for one in orbit.atoms)
        if orbit.closed and step in orbit.steps:
            found[atom] = orbit.steps.index(step)
        elif orbit.at(at[atom]) not in (None, step):
            return None
    return found


def _shifts(judge: Judge, meeting: Meeting) -> list[Atom]:
    """Return the arguments that by themselves say how far the two places lie apart, in elements: a[i] and a[i + n].
    Where no index has both, `part = &a[n]` may have made it, and nobody means part[i] to be a[i + 1]."""
    first, second = meeting.first.address, meeting.second.address
    if first is None or second is None:
        return []
    apart = first.plus(second, -1).terms
    alone = [m[0] for m, n in apart.items() if len(m) == 1 and m[0].argument and abs(n) == meeting.first.bytes]
    return [a for a in alone if any(_is_in_index(judge, place, a) for place in (meeting.first, meeting.second))]


def _is_in_index(judge: Judge, place: AccessSite, atom: Atom) -> bool:
    """Whether an argument and what differs between threads are parts of one sum that counts elements, not bytes."""
    for made in made_of(judge.forms.answer, place.instruction.operands[0]):
        if not isinstance(made, Instruction) or made.op not in ("add", "sub"):
            continue
        form = judge.forms.found.get(made.result)
        if form is None or abs(form.terms.get((atom,), 0)) != 1 or not form.varying().terms:
            continue
        if form.bits < _WIDE or place.bytes > 1:
            return True
    return False


def _arguments_of(judge: Judge, atom: Atom, arguments: Sequence[Atom]) -> list[Atom]:
    """Return the arguments that an unknown of an address is made of: pitch, of pitch / 4."""
    value = judge.forms.named.get(atom)
    if atom in arguments:
        return [atom]
    if value is None or atom.of_block or atom.of_grid or atom.cycles or atom.kind not in ("shared", "own"):
        return []
    return [argument for argument in arguments if is_made_of(judge, value, argument)]


def _sizes(judge: Judge) -> list[int]:
    x, _, _ = judge.forms.lanes.block
    return list(dict.fromkeys((256, judge.forms.lanes.count, x, 4 * x, 16, 4, 1)))


def _fit(atom: Atom, size: int) -> int:
    """Return a number that an argument may be."""
    low, high = atom.range
    rest, power = atom.residue
    size = int(max(low, min(high, size)))
    return size - (size - rest) % (1 << power) if power else size


def _counters(judge: Judge, meeting: Meeting) -> dict[str, Atom]:
    """Return the numbers of iterations of the loops around the places."""
    cycles = {c.header: c for p in (meeting.first, meeting.second) for c in judge.forms.around[p.block]}
    return {header: judge.forms.iteration(cycle) for header, cycle in cycles.items()}


def _may_be(judge: Judge, meeting: Meeting, chosen: tuple[Numbers, Numbers], entered: Mapping[str, Set[int]]) -> bool:
    """Whether the variables of loops around one place alone are those of iterations in which it meets the other."""
    for header, iterations in entered.items():
        orbit = judge.values.get(header)
        inside = judge.forms.headers[header] in judge.forms.around[meeting.first.block]
        here = chosen[0] if inside else chosen[1]
        if orbit is None or not set(orbit.atoms) <= here.keys():
            continue
        steps = {orbit.steps[n] for n in iterations if n < len(orbit.steps)}
        if tuple(here[atom] for atom in orbit.atoms) not in steps:
            return False
    return True


def _iterations(
    counted: Mapping[str, Atom], ahead: Mapping[str, int | None], entered: Mapping[str, Set[int]]
) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the first iterations, as far ahead of each other as they are; `entered`: those of loops around one place
    alone, where others do not meet it."""
    ways: list[list[tuple[int, int]]] = []
    for header in counted:
        if header in entered:
            ways.append([(n, n) for n in sorted(entered[header])])
            continue
        by = ahead.get(header, 0)
        start = max(0, -(by or 0))
        pairs = [(n, n + by) for n in (start, start + 1)] if by is not None else list(product(range(4), range(4)))
        ways.append(pairs)
    for chosen in sorted(islice(product(*ways), _MOST_SORTED), key=lambda pairs: sum(max(pair) for pair in pairs)):
        atoms = counted.values()
        yield (
            {a: n for a, (n, _) in zip(atoms, chosen, strict=True)},
            {a: n for a, (_, n) in zip(atoms, chosen, strict=True)},
        )


def _is_tested(judge: Judge, meeting: Meeting, atom: Atom) -> bool:
    """Whether an argument is in a test before one of the places."""
    for place in (meeting.first, meeting.second):
        above = judge.forms.graph.dominator.get(place.block)
        while above is not None:
            terminator = judge.forms.blocks[above].terminator
            if isinstance(terminator, Branch) and is_made_of(judge, terminator.condition, atom):
                return True
            above = judge.forms.graph.dominator.get(above)
    return False


def is_made_of(judge: Judge, operand: Operand, atom: Atom) -> bool:
    """Whether an unknown has a part in a number, but by way of what is loaded."""
    for made in made_of(judge.forms.answer, operand):
        for value in made.results if isinstance(made, Instruction) else ():
            form = judge.forms.found.get(value)
            if form is not None and atom in set(form.atoms()):
                return True
    return False


# --- with numbers


def _clash(judge: Judge, meeting: Meeting, trials: tuple[Trial, Trial]) -> Clash | None:
    """Return two threads that touch one byte under a trial, but those of a warp that has an order of its own."""
    first, second = _rows(meeting.first, trials[0]), _rows(meeting.second, trials[1])
    if first is None or second is None or not first.at or not second.at:
        return None
    sizes = meeting.first.bytes, meeting.second.bytes, 0
    ordered = judge.may_be_ordered(meeting) or any(judge.is_ordered(meeting, *trials))
    warp = judge.forms.lanes.warp if ordered or meeting.at_once else 0
    found, texts = overlap(first.at, second.at, sizes, warp), (LED,) if first.led or second.led else ()
    if found is None and warp and not ordered:
        found, texts = overlap(first.at, second.at, sizes, 0), (*texts, UNLIKE)
    sides = zip(trials, (meeting.first, meeting.second), found or (), strict=False)
    if found is None or any(_overflows(*side) for side in sides):
        return None
    return Clash(True, found, first.at[found[0]], assumptions=texts)


def _rows(place: AccessSite, trial: Trial) -> _Rows | None:
    """Return who touches what; None where it is not known who gets there, or where that is."""
    _, sure = trial.threads(place.block)
    at = _touched(place, trial) if sure or _is_led(trial, place.block) else None
    return None if at is None else _Rows(at, not sure)


def _touched(place: AccessSite, trial: Trial) -> dict[int, int] | None:
    """Return where the threads that may get to a place touch memory."""
    detail = place.instruction.detail
    assert isinstance(detail, Memory)
    numbers = trial.numbers(place.instruction.operands[0], place.block)
    there, _ = trial.threads(place.block)
    return None if numbers is None else {t: center(numbers[t] + detail.offset, _WIDE) for t in there}


def _overflows(trial: Trial, place: AccessSite, thread: int) -> bool:
    """Whether a narrow sum or product of an address does not fit its type: nobody launches with such numbers."""
    answer = trial.forms.answer
    pending: list[tuple[Operand, str]] = [(place.instruction.operands[0], "")]
    seen: set[tuple[Operand, str]] = set()
    while pending and len(seen) < _MOST_SORTED:
        value, sign = pending.pop()
        made = answer.definitions.get(value) if isinstance(value, Value) else None
        if (value, sign) in seen or not isinstance(made, Instruction) or not OPS[made.op].pure:
            continue
        seen.add((value, sign))
        home = answer.homes[made.result]
        rows = [trial.numbers(o, home) for o in made.operands] if sign and made.op in _GROWING else []
        known = [row for row in rows if row is not None]
        if rows and len(known) == len(rows) and not _fits(made, [row[thread] for row in known], sign):
            return True
        below = _SIGNS.get(made.op, sign if made.op in _CARRYING else "")
        pending += [(o, below) for o in made.operands]
    return False


def _fits(made: Instruction, given: Sequence[int], sign: str) -> bool:
    """Whether a sum or a product is the whole number that it stands for; unsigned sums may be differences."""
    bits = made.result.type.bits
    one, other = (center(n, bits) if sign == "s" else n for n in given)
    if made.op == "shl":
        other = 1 << min(other, bits)
    exact = one * other if made.op in ("mul", "shl") else one + other if made.op == "add" else one - other
    if sign == "s":
        return -(1 << bits - 1) <= exact < 1 << bits - 1
    return made.op in ("add", "sub") or exact < 1 << bits


def _is_led(trial: Trial, block: str) -> bool:
    """Whether all tests that are open are of data that each thread has of its own."""
    presences = trial.presences
    for name in presences.find_diverging(block):
        terminator = trial.forms.blocks[name].terminator
        if not isinstance(terminator, Branch):
            return False
        known = presences.guard(name, block) is not None and trial.numbers(terminator.condition, name) is not None
        if not known and not _is_of_data(trial, terminator.condition):
            return False
    return True


def _is_of_data(trial: Trial, condition: Operand) -> bool:
    """Whether a condition is made of elements that each thread has of its own: a test whether its index, or what
    threads exchange, is some number may let one thread through alone."""
    own, exchanged, equal, indexed = 0, False, False, False
    for made in made_of(trial.forms.answer, condition):
        if isinstance(made, Phi):
            continue
        if made is None or not (OPS[made.op].pure or made.op == "load") or made.op == "lanewise":
            return False
        equal = equal or made.op in ("eq", "ne")
        if made.op == "load":
            exchanged = exchanged or (isinstance(made.detail, Memory) and made.detail.space == "shared")
            form = trial.forms.of(made.operands[0], trial.forms.answer.homes[made.results[0]])
            own += form is None or form.has("index", "own")
        elif isinstance(made.detail, Query) and made.detail.register.startswith(("tid", "lane", "warpid")):
            indexed = True
    return own > 0 and not (equal and (exchanged or indexed))


# --- the way between


def _is_open(judge: Judge, meeting: Meeting, trials: tuple[Trial, Trial]) -> bool:
    """Whether control may come from one place to the other without a barrier, or both threads to their places from a
    test in one iteration."""
    forms, (one, other) = judge.forms, (meeting.first, meeting.second)
    shared = {cycle.header for cycle in set(forms.around[one.block]) & set(forms.around[other.block])}
    ahead = {h: _chosen(judge, h, trials) if by is None else by for h, by in meeting.ahead if h in shared}
    back = {header: None if by is None else -by for header, by in ahead.items()}
    if TriedWays(judge, trials, ahead, meeting.cut).leads(one, other):
        return True
    test = part_at(forms, one, other, meeting.cut)
    if test and all(ahead.get(cycle.header) == 0 for cycle in forms.around[test]):
        return True
    return TriedWays(judge, trials[::-1], back, meeting.cut).leads(other, one)


def _chosen(judge: Judge, header: str, trials: tuple[Trial, Trial]) -> int | None:
    """Return how many iterations of a loop the numbers of the second place are ahead."""
    count = judge.forms.iteration(judge.forms.headers[header])
    first, second = (trial.assignment.get(count) for trial in trials)
    return None if first is None or second is None else second - first


def _comes(judge: Judge, block: str, trial: Trial, *, known: bool) -> bool:
    """Whether control may come to a block from the entry; `known`: by tests of the block's index that are decided."""
    forms = judge.forms
    for name in tests_before(forms, block) if known else ():
        condition = terminator_operands(forms.blocks[name].terminator)[0]
        branch = isinstance(forms.blocks[name].terminator, Branch)
        if asks_for_block(forms, condition) and (not branch or trial.numbers(condition, name) is None):
            return False
    return TriedWays(judge, (trial, trial), {}, lambda _: False).comes(block)
