"""What is said of two values of `e & m` and of `e / m`: true of all small integers; and random loops whose subscripts
go through them, against all their iterations."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.poly.analysis import facts_of
from tests.poly.host_value import value as host_value
from tests.sampling import one_in
from warpsmith.base.verdict import Proved
from warpsmith.poly.dependences import index_maps
from warpsmith.poly.dependences.index_maps import DIVIDED, MASKED, Law, map_values, shared_values
from warpsmith.poly.facts import LoopFacts
from warpsmith.poly.isl.bitwise import divide, mask_value
from warpsmith.poly.isl.library import isl
from warpsmith.poly.isl.polynomial import atom
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.tree.nodes import Expr

Numbers = tuple[int, ...]


def masked(span: int) -> Iterator[Numbers]:
    for e, m in itertools.product(range(-span, span + 1), repeat=2):
        yield e, m, e & m


def divided(span: int) -> Iterator[Numbers]:
    for e, m in itertools.product(range(span + 1), range(1, span + 1)):
        yield e, m, e // m, e % m


def violated(law: Law, values: Sequence[Numbers]) -> tuple[Numbers, Numbers] | None:
    """Return two values of one map of which the law is wrong."""
    text = re.sub(r"(?<![<>!])=", "==", re.sub(r"(\d) (?=[a-z]\d)", r"\1*", law.fact))
    code = compile(text, "fact", "eval")
    for first, second in itertools.product(values, repeat=2):
        if first[1] != second[1]:
            continue
        names = {f"{n}1": v for n, v in zip(law.names, first, strict=True)}
        names |= {f"{n}2": v for n, v in zip(law.names, second, strict=True)}
        if not eval(code, {}, names):
            return first, second
    return None


def test_the_laws_are_true_of_all_small_integers() -> None:
    assert violated(MASKED, list(masked(18))) is None
    assert violated(DIVIDED, list(divided(20))) is None


def test_isl_reads_the_laws_as_they_are_written() -> None:
    """Pairs that no two values of one map are; nothing that is said of single values is in the laws."""
    assert not holds_in_isl(MASKED, (3, 1, 1), (3, 1, 0)), "one value has one image"
    assert not holds_in_isl(MASKED, (2, 1, 0), (3, 1, 0)), "2 ^ 1 is 3, so that 3 ^ 1 is 2"
    assert holds_in_isl(MASKED, (2, 1, 0), (3, 1, 1))
    assert not holds_in_isl(DIVIDED, (3, 2, 1, 1), (4, 2, 1, 0))
    assert holds_in_isl(DIVIDED, (3, 2, 1, 1), (4, 2, 2, 0))


def holds_in_isl(law: Law, first: Numbers, second: Numbers) -> bool:
    relation = law.relation(0)
    for kind, numbers in ((isl.dim_type.in_, first), (isl.dim_type.out, second)):
        for position, number in enumerate(numbers):
            relation = relation.fix_val(kind, position, isl.Val(number))
    return not relation.is_empty()


def test_values_of_two_maps_are_not_compared() -> None:
    names = AtomVocabulary()
    i, j, k = (atom(names.parameter(name, name, None, None)) for name in "ijk")
    one, other, third = (mask_value(names, i, m) for m in (j, k, j))
    assert one is not None and other is not None and third is not None
    first, second = map_values(names, one.atoms()), map_values(names, other.atoms())
    assert len(first) == len(second) == 1
    assert not list(shared_values(first, second))
    assert len(list(shared_values(first, map_values(names, third.atoms())))) == 1
    parts = divide(names, i, j)
    assert parts is not None
    both = map_values(names, parts[0].atoms() | parts[1].atoms())
    assert len(both) == 1, "quotient and remainder are one value"
    assert not list(shared_values(first, both)), "a mask is no divisor"
    with pytest.raises(ValueError, match="no value of a map"):
        index_maps._value(names, next(iter(i.atoms())))


# --- random loops


class Term(Struct, frozen=True):
    """An expression in C, and its value for (i, j, n)."""

    text: str
    value: Callable[[int, int, int], int]


XOR = Term("(i ^ j)", lambda i, j, n: i ^ j)
VALUES = (
    Term("i", lambda i, j, n: i),
    XOR,
    Term("(i | j)", lambda i, j, n: i | j),
    Term("(i & j)", lambda i, j, n: i & j),
    Term("(i & ~j)", lambda i, j, n: i & ~j),
    Term("(i + j)", lambda i, j, n: i + j),
    Term("((i + 1) ^ j)", lambda i, j, n: (i + 1) ^ j),
    Term("((i + j) & (n - 1))", lambda i, j, n: (i + j) & (n - 1)),
    Term("(n - 1 - (i ^ j))", lambda i, j, n: n - 1 - (i ^ j)),
    Term("((i ^ j) ^ n)", lambda i, j, n: i ^ j ^ n),
    Term("(i ^ 5)", lambda i, j, n: i ^ 5),
    Term("(i / j * 2 * j + i % j)", lambda i, j, n: i // j * 2 * j + i % j),
    Term("(i / j * 2 * j + i % j + j)", lambda i, j, n: i // j * 2 * j + i % j + j),
    Term("(i / j * j + i % j)", lambda i, j, n: i // j * j + i % j),
    Term("(i % j)", lambda i, j, n: i % j),
    Term("(i / j)", lambda i, j, n: i // j),
    Term("(i % j + n)", lambda i, j, n: i % j + n),
)
GUARDS = (
    Term("", lambda i, j, n: 1),
    Term("(i ^ j) > i", lambda i, j, n: (i ^ j) > i),
    Term("(i ^ j) >= i", lambda i, j, n: (i ^ j) >= i),
    Term("(i & j) == 0", lambda i, j, n: (i & j) == 0),
    Term("i & j", lambda i, j, n: i & j),
    Term("i < (i ^ j) && (i & n)", lambda i, j, n: i < (i ^ j) and (i & n)),
    Term("i % j < 2", lambda i, j, n: i % j < 2),
    Term("(i / j) % 2 == 0", lambda i, j, n: (i // j) % 2 == 0),
)


class Case(Struct, frozen=True):
    """`for (i < n) if (guard) { a[reads]…; a[writes] = …; }`."""

    guard: Term
    reads: tuple[Term, ...]
    writes: tuple[Term, ...]

    def text(self, name: str) -> str:
        reads = " + ".join(f"a[{term.text}]" for term in self.reads) or "1"
        body = "".join(f" a[{term.text}] = t;" for term in self.writes)
        test = f"if ({self.guard.text}) " if self.guard.text else ""
        return f"void {name}(int n, int j) {{ for (int i = 0; i < n; i++) {test}{{ int t = {reads};{body} }} }}\n"

    def carries(self, n: int, j: int) -> bool:
        """Whether two iterations touch one element, one of them writing it."""
        touched: dict[int, set[int]] = {}
        written: dict[int, set[int]] = {}
        for i in range(n):
            if self.guard.value(i, j, n):
                for term in (*self.reads, *self.writes):
                    touched.setdefault(term.value(i, j, n), set()).add(i)
                for term in self.writes:
                    written.setdefault(term.value(i, j, n), set()).add(i)
        return any(len(touched[place]) > 1 for place in written)


SIZES = [(n, j) for n in range(1, 19) for j in range(1, 18)]
COUNT = 40
SEEDS = (1, 2, 3)


def cases(seed: int) -> list[Case]:
    rng = random.Random(seed)
    pairs = ((VALUES[0], XOR), (VALUES[0], VALUES[2]), (VALUES[0], VALUES[5]), (VALUES[11], VALUES[12]))
    found: list[Case] = []
    for _ in range(COUNT):
        if rng.random() < 0.4:
            terms: tuple[Term, ...] = rng.choice(pairs)
        else:
            terms = tuple(rng.sample(VALUES, rng.randint(1, 2)))
        writes = terms if rng.random() < 0.6 else terms[:1]
        found.append(Case(rng.choice(GUARDS), terms, writes))
    return found


def judge(found: Sequence[Case]) -> list[LoopFacts]:
    """Return the facts of each case's loop, in order; its file has nothing else."""
    text = "int a[4096];\n" + "".join(case.text(f"f{k}") for k, case in enumerate(found))
    facts = facts_of(text)
    return [facts[f"f{k}/i"] for k in range(len(found))]


def wrongly_proved(found: Sequence[Case], facts: Sequence[LoopFacts]) -> list[tuple[str, tuple[int, int]]]:
    """Return the loops that are called parallel and are not, with sizes that their guards allow."""
    wrong: list[tuple[str, tuple[int, int]]] = []
    for case, fact in zip(found, facts, strict=True):
        if isinstance(fact.verdict, Proved):
            guards = [getattr(a, "condition", None) for a in fact.verdict.assumptions]
            bad = (at for at in SIZES if all(guard(g, *at) for g in guards) and case.carries(*at))
            wrong += [(case.text("f"), at) for at in itertools.islice(bad, 1)]
    return wrong


def guard(condition: object, n: int, j: int) -> bool:
    assert isinstance(condition, Expr), "a guard is a host condition"
    return bool(host_value(condition, {"n": n, "j": j}))


@pytest.fixture(scope="module", params=[SEEDS[:1], pytest.param(SEEDS, marks=pytest.mark.slow)], ids=len)
def judged(request: pytest.FixtureRequest) -> Mapping[int, tuple[list[Case], list[LoopFacts]]]:
    return {seed: (found, judge(found)) for seed in request.param if (found := cases(seed))}


def test_no_loop_is_wrongly_called_parallel(judged: Mapping[int, tuple[list[Case], list[LoopFacts]]]) -> None:
    for found, facts in judged.values():
        assert not wrongly_proved(found, facts)


def test_the_pairs_of_an_involution_are_found_apart(judged: Mapping[int, tuple[list[Case], list[LoopFacts]]]) -> None:
    for found, facts in judged.values():
        proved = [c for c, f in zip(found, facts, strict=True) if isinstance(f.verdict, Proved)]
        free = [c for c in found if not any(c.carries(*at) for at in SIZES)]
        assert len(proved) > COUNT / 8
        missed = [c.text("f") for c in free if c not in proved and (c.reads, c.guard) == ((VALUES[0], XOR), GUARDS[1])]
        assert not missed, missed[0]


# each of these says more than is true: (law, what it says, what it should not say)
BUGS = [
    (MASKED, "(e1 = e2 and y1 = y2)", "(e1 = e2 and y1 = y2 and e1 > e2)"),
    (MASKED, "(e2 = e1 + m1 - 2 y1 and e1 = e2 + m2 - 2 y2) or ", ""),
    (MASKED, "e1 != e2 and ", "e1 < e2 and "),
    (MASKED, "e2 != e1 + m1 - 2 y1 and", "e2 != e1 + m1 - y1 and"),
    (MASKED, "e1 != e2 + m2 - 2 y2", "e1 != e2 + m2"),
    (DIVIDED, "q1 = q2 and e1 - r1 = e2 - r2", "q1 = q2 and e1 = e2"),
    (DIVIDED, "e1 - r1 + m1 <= e2 - r2", "e1 + m1 <= e2"),
    (DIVIDED, "q2 < q1 and e2", "q2 < q1 and e2 + 1"),
]


@pytest.mark.parametrize(("law", "old", "new"), one_in(3, BUGS))
def test_a_law_that_says_too_much_is_caught(law: Law, old: str, new: str) -> None:
    assert old in law.fact
    wrong = replace(law, fact=law.fact.replace(old, new))
    values = list(masked(18)) if law is MASKED else list(divided(20))
    assert violated(wrong, values) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("MASKED", "(e2 = e1 + m1 - 2 y1 and e1 = e2 + m2 - 2 y2) or ", ""),
        ("MASKED", "e2 != e1 + m1 - 2 y1 and e1 != e2 + m2 - 2 y2", "e1 != e2 and y1 != y2"),
        ("DIVIDED", "(q1 = q2 and e1 - r1 = e2 - r2)", "(q1 = q2 and e1 = e2 and r1 = r2)"),
    ],
)
def test_random_loops_notice_a_wrong_law(monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    law: Law = getattr(index_maps, name)
    assert old in law.fact
    monkeypatch.setattr(index_maps, name, replace(law, fact=law.fact.replace(old, new)))
    assert any(wrongly_proved(found, judge(found)) for found in map(cases, SEEDS))
