"""Division made cheaper: by powers of two, and as floats where numbers are small.

    udiv x, 2^n                     ushr x, n                       always
    umod x, 2^n                     and x, 2^n - 1                  always
    udiv x, c                       ushr x, log2 c                  c is a power of two: granted; log2 c is the exponent
    umod x, c                       and x, c - 1                    of c as a float
    iadd x, -(x / c) * c            umod x, c                       c is not 0 (a power of two is not)
    flr (itof i / 2^n)              itof (ishr i, n)                |i| ≤ 2^24; whatever the sign of i
    mod (itof i), 2^n               itof (and i, 2^n - 1)           0 ≤ i ≤ 2^24: refused for i that may be negative
    udiv x, y                       ftou ((utof x + 0.5) · 1 / y)   0 ≤ x < 2^20, 1 ≤ y < 2^23

Invariant of the last one: x + 0.5 is at least 0.5 / y away from every multiple of y, relative to y; the three roundings
(of a sum that is exact, of a reciprocal and of a product, each within an ulp of hardware) change the quotient by less
than (x / y) · 2^-22 < 0.5 / y.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.front.il.nodes import WHOLE, IlSource
from warpsmith.targets.il.facts import IlFacts, Read, power_of, said
from warpsmith.targets.il.rewrites import IlCandidate, IlCondition, IlRefusal, Writer

__all__ = ["divide_rules", "remainder_rules"]

_EXACT: Final = 1 << 24
_SMALL: Final = 1 << 20
_HALF: Final = 0x3F000000


def divide_rules(facts: IlFacts, at: int) -> Iterator[IlCandidate | IlRefusal]:
    """Yield what may be done with a division at one place."""
    one = facts.instructions[at]
    if one.saturate or one.destination is None or not one.destination.computed:
        return
    match one.op.name:
        case "udiv" | "umod":
            yield from _by_power(facts, at)
            yield from _as_floats(facts, at)
        case "flr" | "round_neginf":
            yield from _floor(facts, at)
        case "mod":
            yield from _modulo(facts, at)
        case _:
            return


def remainder_rules(facts: IlFacts, at: int) -> Iterator[IlCandidate | IlRefusal]:
    """Yield what may be done with an addition that is what a division leaves: before the division is gone."""
    one = facts.instructions[at]
    if one.op.name == "iadd" and one.destination is not None and one.destination.computed:
        yield from _remainder(facts, at)


def _letters(facts: IlFacts, at: int) -> str:
    target = facts.instructions[at].destination
    return target.computed if target is not None else ""


def _by_power(facts: IlFacts, at: int) -> Iterator[IlCandidate]:
    one = facts.instructions[at]
    dividend, divisor = one.sources
    assert one.destination is not None
    letters = _letters(facts, at)
    if dividend.negated or divisor.negated:
        return
    words = {facts.literal(facts.read(at, 1, letter)) for letter in letters}
    write = Writer(facts.program, one.span)
    word = words.pop() if len(words) == 1 else None
    power = power_of(word) if word is not None else None
    if (word is None and divisor.register.kind != "cb") or (word is not None and power is None):
        return
    names = dict.fromkeys(said(divisor, letter) for letter in letters) if word is None else ()
    conditions = tuple(IlCondition(f"{name} is a power of two") for name in names)
    if one.op.name == "udiv":
        shift = _logarithm(write, divisor) if power is None else write.literal(power)
        write.put("ushr", one.destination, dividend, shift)
        title = "a division by a power of two is a shift"
    else:
        mask = _less(write, divisor) if word is None else write.literal(word - 1)
        write.put("and", one.destination, dividend, mask)
        title = "a remainder by a power of two is a mask"
    yield IlCandidate(title, at, tuple(write.lines), conditions, tuple(write.literals))


def _logarithm(write: Writer, source: IlSource) -> IlSource:
    """Return log2 of powers of two: the exponent of the float that they are, which is exact."""
    exponent = write.compute("ushr", write.compute("utof", source), write.literal(23))
    return write.compute("iadd", exponent, write.literal(-127 & 0xFFFFFFFF))


def _less(write: Writer, source: IlSource) -> IlSource:
    return write.compute("iadd", source, write.literal(0xFFFFFFFF))


def _remainder(facts: IlFacts, at: int) -> Iterator[IlCandidate]:
    """Yield x + (x / c) * -c as a mask, where c is a power of two."""
    one = facts.instructions[at]
    assert one.destination is not None
    letters = _letters(facts, at)
    for first in (0, 1):
        found = [_quotient(facts, at, first, 1 - first, letter) for letter in letters]
        if not found or any(divisor is None or divisor != found[0] for divisor in found):
            continue
        divisor = found[0]
        assert divisor is not None
        source = IlSource(divisor.register, divisor.letter * 4)
        write = Writer(facts.program, one.span)
        write.put("and", one.destination, one.sources[first], _less(write, source))
        condition = IlCondition(f"{said(source, 'x')} is a power of two")
        yield IlCandidate("what division leaves is a mask", at, tuple(write.lines), (condition,), tuple(write.literals))


def _quotient(facts: IlFacts, at: int, first: int, second: int, letter: str) -> Read | None:
    """Return the constant c where one operand is x and the other (x / c) * -c."""
    x, product = facts.read(at, first, letter), facts.read(at, second, letter)
    times = facts.definition(at, product)
    if x.changed or times is None or facts.instructions[times].op.name not in ("imul", "umul"):
        return None
    for place in (0, 1):
        quotient = facts.read(times, place, product.letter)
        source = facts.instructions[times].sources[1 - place]
        index = WHOLE.index(product.letter)
        divisor = Read(source.register, source.swizzle[index])
        divided = facts.definition(times, quotient)
        if divided is None or product.letter not in source.negated or divisor.register.kind != "cb":
            continue
        if facts.instructions[divided].op.name != "udiv":
            continue
        by, what = facts.read(divided, 1, quotient.letter), facts.read(divided, 0, quotient.letter)
        if by == divisor and facts.same(divided, what, at, x):
            return divisor
    return None


def _floor(facts: IlFacts, at: int) -> Iterator[IlCandidate]:
    """Yield the floor of a quotient by a power of two as a shift, which asks nothing of the sign."""
    one = facts.instructions[at]
    found = _whole_operand(facts, at, "div")
    if found is None or one.destination is None:
        return
    source, power, letters, place = found
    write = Writer(facts.program, one.span)
    write.put("itof", one.destination, write.compute("ishr", source, write.literal(power)))
    conditions = tuple(_within(facts, place, source, letter, -_EXACT) for letter in letters)
    title = "the floor of a quotient by a power of two is a shift"
    yield IlCandidate(title, at, tuple(write.lines), conditions, tuple(write.literals))


def _modulo(facts: IlFacts, at: int) -> Iterator[IlCandidate | IlRefusal]:
    """Yield a remainder of floats by a power of two as a mask, where it cannot be negative."""
    one = facts.instructions[at]
    found = _whole_operand(facts, at, "")
    if found is None or one.destination is None:
        return
    source, power, letters, place = found
    negative = [b for b in (_bounds(facts, place, source, letter) for letter in letters) if b is not None and b[0] < 0]
    if negative:
        least, size = max(negative[0][0], -(_EXACT)), 1 << power
        value = -1 if least <= -1 <= negative[0][1] else least
        left, masked = -(-value % size), value & (size - 1)
        if left != masked:
            witness = f"{value} % {size} is {left}, and {value} & {size - 1} is {masked}"
            yield IlRefusal("a remainder of what may be negative is no mask", witness, one.span)
            return
    write = Writer(facts.program, one.span)
    write.put("itof", one.destination, write.compute("and", source, write.literal((1 << power) - 1)))
    conditions = tuple(_within(facts, place, source, letter, 0) for letter in letters)
    title = "a remainder of whole floats by a power of two is a mask"
    yield IlCandidate(title, at, tuple(write.lines), conditions, tuple(write.literals))


def _whole_operand(facts: IlFacts, at: int, through: str) -> tuple[IlSource, int, str, int] | None:
    """Return the integer that a float was made of, n where it is divided by 2^n, the components, and where the integer
    was read. `through`: the division is another instruction, before this one."""
    letters = _letters(facts, at)
    powers: set[int | None] = set()
    made: set[tuple[int, str]] = set()
    for letter in letters:
        place, at_letter = at, letter
        if through:
            divided = facts.definition(at, facts.read(at, 0, letter))
            if divided is None or not _is_plain(facts, divided, through):
                return None
            place, at_letter = divided, facts.read(at, 0, letter).letter
        powers.add(_power(facts.number(facts.read(place, 1, at_letter))))
        value = facts.read(place, 0, at_letter)
        converted = facts.definition(place, value)
        if converted is None or facts.instructions[converted].op.name != "itof":
            return None
        made.add((converted, value.letter))
    if len(made) != 1 or len(powers) != 1 or None in powers:
        return None
    ((converted, letter),) = made
    read = facts.read(converted, 0, letter)
    if read.changed or not facts.same(converted, read, at, read):
        return None
    (power,) = powers
    assert power is not None
    return IlSource(read.register, read.letter * 4), power, letters, converted


def _is_plain(facts: IlFacts, at: int, name: str) -> bool:
    return facts.instructions[at].op.name == name and not facts.instructions[at].saturate


def _power(number: float | None) -> int | None:
    """Return n where a number is 2^n, a whole one that floats are exact for."""
    whole = number is not None and 1 <= number < _EXACT and number.is_integer()
    return power_of(int(number)) if whole and number is not None else None


def _bounds(facts: IlFacts, at: int, source: IlSource, letter: str) -> tuple[int, int] | None:
    return facts.bounds_of(at, Read(source.register, source.swizzle[WHOLE.index(letter)]))


def _within(facts: IlFacts, at: int, source: IlSource, letter: str, low: int) -> IlCondition:
    bounds = _bounds(facts, at, source, letter)
    proved = bounds is not None and low <= bounds[0] and bounds[1] <= _EXACT
    span = facts.instructions[at].span
    line = f" in line {span.line}" if span else ""
    return IlCondition(f"{said(source, letter)}{line} is from {low} to {_EXACT}", proved)


def _as_floats(facts: IlFacts, at: int) -> Iterator[IlCandidate]:
    """Yield a division of small numbers as one of floats."""
    one = facts.instructions[at]
    assert one.destination is not None
    if one.op.name != "udiv" or any(source.negated for source in one.sources):
        return
    letters = _letters(facts, at)
    write = Writer(facts.program, one.span)
    half = write.compute("add", write.compute("utof", one.sources[0]), write.literal(_HALF))
    number = write.compute("utof", one.sources[1])
    if len({facts.read(at, 1, letter) for letter in letters}) > 1:
        return
    single = IlSource(number.register, letters[0] * 4)
    product = write.compute("mul_ieee", half, write.compute("rcp", single, zero="infinity"))
    write.put("ftou", one.destination, product)
    conditions: list[IlCondition] = []
    for letter in letters:
        for source, low, high in ((0, 0, _SMALL - 1), (1, 1, (1 << 23) - 1)):
            bounds = facts.bounds_of(at, facts.read(at, source, letter))
            proved = bounds is not None and low <= bounds[0] and bounds[1] <= high
            line = f" in line {one.span.line}" if one.span and one.sources[source].register.kind == "r" else ""
            conditions.append(IlCondition(f"{said(one.sources[source], letter)}{line} is from {low} to {high}", proved))
    title = "a division of small numbers is one of floats"
    yield IlCandidate(title, at, tuple(write.lines), tuple(conditions), tuple(write.literals))
