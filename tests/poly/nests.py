"""Tiny loop nests with an independent meaning: rendered to C for the analysis, executed here for the truth.

A nest is loops around statements; every expression is a linear form over counters and the sizes n and m. The
interpreter follows C: unsigned counters and bounds wrap, and an endless loop is cut after some iterations.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

Linear = tuple[tuple[tuple[str, int], ...], int]

WIDTHS = {"int": 32, "long": 64, "unsigned": 32, "unsigned char": 8, "size_t": 64, "char": 8}
SIGNED = {"int", "long", "char"}
CUTS = {1: 300, 2: 40, 3: 16}


class Ref(Struct, frozen=True):
    """array[subscripts]; `linear`: the array is flat and the subscripts are row*width + column."""

    array: str
    subscripts: tuple[Linear, ...]
    width: str = ""


class Assign(Struct, frozen=True):
    """write = sum of reads, under a condition `form % modulus == 0` (modulus 0: form > 0; none: always)."""

    write: Ref
    reads: tuple[Ref, ...]
    condition: tuple[Linear, int] | None = None


class Loop(Struct, frozen=True):
    """for (type var = lower; var < bound; var += step); the bound as generators of tiled loops write it: `upper`, the
    lesser of it and `least`, or floor(upper / tile) by a division that truncates."""

    var: str
    type: str
    lower: Linear
    upper: Linear
    step: int
    body: tuple[Loop | Assign, ...] = ()
    least: Linear | None = None
    tile: int = 0


class Nest(Struct, frozen=True):
    name: str
    size_type: str
    loop: Loop


class Trace(Struct):
    """Every access of one run: (loop values outermost first, array, element, is a write)."""

    events: list[tuple[tuple[int, ...], str, tuple[int, ...], bool]] = field(default_factory=list)
    instances: list[tuple[str, tuple[int, ...], dict[int, list[int]]]] = field(default_factory=list)


def linear_text(form: Linear) -> str:
    text = " + ".join(f"{c} * {v}" if c != 1 else v for v, c in form[0])
    if not text:
        return str(form[1])
    return text if form[1] == 0 else f"{text} {'+' if form[1] > 0 else '-'} {abs(form[1])}"


def ref_text(ref: Ref) -> str:
    if ref.width:
        row, column = ref.subscripts
        return f"{ref.array}[({linear_text(row)}) * {ref.width} + {linear_text(column)}]"
    return ref.array + "".join(f"[{linear_text(s)}]" for s in ref.subscripts)


def render(nest: Nest) -> str:
    lines = [f"void {nest.name}({nest.size_type} n, {nest.size_type} m, double *restrict F, double *restrict G) {{"]
    lines += _render(nest.loop, "  ")
    return "\n".join([*lines, "}"])


def bound_text(loop: Loop) -> str:
    upper = linear_text(loop.upper)
    if loop.least is not None:
        least = linear_text(loop.least)
        return f"({upper} < {least} ? {upper} : {least})"
    if loop.tile:
        return (
            f"(({upper}) * {loop.tile} < 0 ? -((-({upper}) + {loop.tile} - 1) / {loop.tile}) : ({upper}) / {loop.tile})"
        )
    return upper


def _render(part: Loop | Assign, indent: str) -> list[str]:
    if isinstance(part, Assign):
        value = " + ".join(ref_text(r) for r in part.reads) or "1.0"
        text = f"{ref_text(part.write)} = {value};"
        if part.condition is not None:
            form, modulus = part.condition
            test = f"({linear_text(form)}) % {modulus} == 0" if modulus else f"{linear_text(form)} > 0"
            text = f"if ({test}) {text}"
        return [indent + text]
    head = f"for ({part.type} {part.var} = {linear_text(part.lower)}; {part.var} < {bound_text(part)}; "
    lines = [f"{indent}{head}{part.var} += {part.step}) {{"]
    for inner in part.body:
        lines += _render(inner, indent + "  ")
    return [*lines, indent + "}"]


def evaluate(form: Linear, values: Mapping[str, int], type: str) -> int:
    total = form[1] + sum(c * values[v] for v, c in form[0])
    return total if type in SIGNED else total % 2 ** WIDTHS[type]


def run(nest: Nest, n: int, m: int) -> Trace:
    """Execute the nest; the element of a flat array is its one subscript."""
    trace = Trace()
    _run(nest, nest.loop, {"n": n, "m": m}, (), trace)
    return trace


def _run(nest: Nest, part: Loop | Assign, values: dict[str, int], at: tuple[int, ...], trace: Trace) -> None:
    if isinstance(part, Assign):
        if part.condition is None or _holds(part.condition, values, nest):
            for ref in part.reads:
                trace.events.append((at, ref.array, element(ref, values, nest), False))
            trace.events.append((at, part.write.array, element(part.write, values, nest), True))
        return
    wide = "int" if WIDTHS[part.type] < 32 else part.type
    bound_type = _join(nest, part.upper, values)
    shared = _common(wide, bound_type)
    value = _wrap(evaluate(part.lower, values, _join(nest, part.lower, values)), part.type)
    upper = _wrap(evaluate(part.upper, values, bound_type), shared)
    if part.least is not None:
        upper = min(upper, evaluate(part.least, values, bound_type))
    upper = upper // part.tile if part.tile else upper
    groups: dict[int, list[int]] = {}
    trace.instances.append((part.var, at, groups))
    count = 0
    while _wrap(value, shared) < upper and count < CUTS[_depth(nest.loop)]:
        start = len(trace.events)
        for inner in part.body:
            _run(nest, inner, {**values, part.var: value}, (*at, value), trace)
        groups[count] = list(range(start, len(trace.events)))
        value = _wrap(value + part.step, part.type)
        count += 1


def _depth(loop: Loop) -> int:
    return 1 + max((_depth(p) for p in loop.body if isinstance(p, Loop)), default=0)


def _join(nest: Nest, form: Linear, values: Mapping[str, int]) -> str:
    """The type of a linear form: that of the sizes if one occurs, else int (counters are made to fit)."""
    return nest.size_type if any(v in ("n", "m") for v, _ in form[0]) else "int"


def _common(a: str, b: str) -> str:
    order = ["int", "unsigned", "long", "size_t"]
    wide = [x if x in order else "int" for x in (a, b)]
    return max(wide, key=order.index)


def _wrap(value: int, type: str) -> int:
    bits = WIDTHS[type]
    value %= 2**bits
    return value - 2**bits if type in SIGNED and value >= 2 ** (bits - 1) else value


def _holds(condition: tuple[Linear, int], values: Mapping[str, int], nest: Nest) -> bool:
    form, modulus = condition
    value = form[1] + sum(c * values[v] for v, c in form[0])
    return value % modulus == 0 if modulus else value > 0


def element(ref: Ref, values: Mapping[str, int], nest: Nest) -> tuple[int, ...]:
    numbers = tuple(form[1] + sum(c * values[v] for v, c in form[0]) for form in ref.subscripts)
    return (numbers[0] * values[ref.width] + numbers[1],) if ref.width else numbers


def carried(trace: Trace, var: str) -> bool:
    """Whether two iterations of one execution of the loop touch one element, one of them writing."""
    for name, _, groups in trace.instances:
        if name != var:
            continue
        seen: dict[tuple[str, tuple[int, ...]], set[tuple[int, bool]]] = {}
        for count, events in groups.items():
            for k in events:
                _, array, where, write = trace.events[k]
                seen.setdefault((array, where), set()).add((count, write))
        for users in seen.values():
            if any(w for _, w in users) and len({c for c, _ in users}) > 1:
                return True
    return False


# --- random nests


def make(rng: random.Random, name: str) -> Nest:
    kind = rng.choice(["int", "int", "int", "unsigned", "size_t", "long"])
    depth = rng.choice([1, 2, 2, 3])
    return Nest(name, kind, _loop(rng, kind, depth, (), 0))


def _loop(rng: random.Random, kind: str, depth: int, outer: tuple[str, ...], level: int) -> Loop:
    var = "ijk"[level]
    narrow = kind == "int" and rng.random() < 0.15
    type = rng.choice(["unsigned char", "char"]) if narrow else kind
    lower: Linear = ((), rng.choice([0, 0, 1, 2]))
    if outer and rng.random() < 0.25:
        lower = (((outer[-1], 1),), rng.choice([0, 1]))
    upper: Linear = (((rng.choice(["n", "n", "m"]), 1),), rng.choice([0, 0, -1]))
    if rng.random() < 0.15:
        upper = ((), 300 if type == "unsigned char" and depth == 1 and not outer else rng.choice([4, 6]))
    # drawn apart, so that all else stays as it was
    more = random.Random(f"{upper} {lower} {level} {rng.getstate()[1][:9]}")
    written = more.random() if kind in ("int", "long") and not narrow else 1.0
    least: Linear | None = (((more.choice(["m", *outer]), 1),), more.choice([0, 1, 2])) if written < 0.2 else None
    tile = more.choice([2, 3]) if 0.2 <= written < 0.35 else 0
    inner = (*outer, var)
    body: list[Loop | Assign] = []
    if depth > 1:
        body.append(_loop(rng, kind, depth - 1, inner, level + 1))
        if rng.random() < 0.3:
            body.insert(rng.choice([0, 1]), _assign(rng, inner))
    else:
        body += [_assign(rng, inner) for _ in range(rng.choice([1, 1, 2]))]
    return Loop(var, type, lower, upper, rng.choice([1, 1, 1, 2]), tuple(body), least, tile)


def _assign(rng: random.Random, counters: tuple[str, ...]) -> Assign:
    write = _ref(rng, counters)
    reads = tuple(_ref(rng, counters) for _ in range(rng.choice([0, 1, 1, 2])))
    if reads and rng.random() < 0.5:
        near = reads[0]
        reads = (Ref(write.array, _near(rng, write.subscripts), write.width), *reads[1:]) if near else reads
    condition = None
    if rng.random() < 0.2:
        form = (tuple((c, 1) for c in counters), rng.choice([0, 1]))
        condition = (form, rng.choice([0, 2]))
    return Assign(write, reads, condition)


def _near(rng: random.Random, forms: tuple[Linear, ...]) -> tuple[Linear, ...]:
    return tuple((form[0], form[1] + rng.choice([0, 0, 0, 1])) for form in forms)


def _ref(rng: random.Random, counters: tuple[str, ...]) -> Ref:
    shape = rng.choice(["a", "b", "A", "A", "F", "F"]) if len(counters) > 1 else rng.choice(["a", "b", "a", "F"])
    if shape in ("a", "b"):
        return Ref(shape, (_subscript(rng, counters, coupled=True),))
    forms = (_subscript(rng, counters, coupled=False), _subscript(rng, counters, coupled=False))
    if shape == "A":
        return Ref("A", forms)
    return Ref("F", (forms[0], (forms[1][0], 0)), "n" if rng.random() < 0.95 else "m")


def _subscript(rng: random.Random, counters: tuple[str, ...], *, coupled: bool) -> Linear:
    var = rng.choice(counters)
    if coupled and rng.random() < 0.2 and len(counters) > 1:
        return (tuple((c, 1) for c in counters[:2]), rng.choice([0, 1]))
    if rng.random() < 0.1:
        return ((), rng.choice([0, 1]))
    return (((var, rng.choice([1, 1, 1, 2]) if coupled else 1),), rng.choice([0, 0, 0, 1]))


def sizes() -> Iterator[tuple[int, int]]:
    for n in (0, 1, 2, 3, 5):
        for m in (1, 2, 4):
            yield n, m
