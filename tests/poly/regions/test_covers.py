"""Sections that are said to be written whole are: random nests of stores, run for small sizes, against the bounds of
what they touch. Whoever believes it does not copy the array to the device before."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from tests.poly.programs import load
from tests.poly.regions.test_sections import asked, bounds
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.regions import covers
from warpsmith.poly.regions.region import Access
from warpsmith.tree.program import Program

COUNT = 70
SIZES = tuple((n, m) for n in range(-1, 7) for m in range(5))


class Nest(Struct, frozen=True):
    """for (i = low; i < n + past; i += step) for (j = 0; j < width; j++) if (test) a[subscript] = …, and a read."""

    low: int
    past: int
    step: int
    width: str
    test: str
    subscript: str
    reads: bool

    def c_text(self, name: str) -> str:
        inner = f"for (int j = 0; j < {self.width}; j++) if ({self.test})"
        store = f"{{ a[{self.subscript}] = i; {f'x[0] += a[{self.subscript}];' if self.reads else ''} }}"
        head = f"for (int i = {self.low}; i < n + {self.past}; i += {self.step})"
        return f"void {name}(int n, int m, double *restrict a, double *restrict x) {{ {head} {inner} {store} }}"

    def stored(self, n: int, m: int) -> set[int]:
        """Return the elements that are stored at these sizes."""
        found = set()
        for i in range(self.low, n + self.past, self.step):
            for j in range(eval(self.width, {"m": m, "i": i, "n": n})):
                known = {"i": i, "j": j, "n": n, "m": m}
                if eval(self.test, known):
                    found.add(eval(self.subscript, known))
        return found


def nests(seed: int) -> Iterator[Nest]:
    rng = random.Random(seed)
    for _ in range(COUNT):
        width = rng.choice(("1", "1", "m", "m", "3", "i + 1", "m - 1"))
        rows = ("i*m + j", "i*m + j", "j", "i*3 + j", "i + j", "2*i + j", "i*m + j + 1", "(i + 1)*m + j")
        yield Nest(
            rng.choice((0, 0, 0, 1)),
            rng.choice((0, 0, 1)),
            rng.choice((1, 1, 1, 2)),
            width,
            rng.choice(("1", "1", "1", "i > 0", "j != 1", "j < m")),
            rng.choice(rows) if width != "1" else rng.choice(("i", "i + j", "2*i", "i + 2", "n - i")),
            rng.random() < 0.3,
        )


def written_whole(program: Program, made: list[Nest]) -> Iterator[tuple[Nest, bool, list[tuple[int, int]]]]:
    """Yield nests, whether their section is said to be written whole, and at which sizes it is not."""
    for k, nest in enumerate(made):
        found = asked(program, f"f{k}/i", f"f{k}/i")
        section = next((s for s in found.sections if s.symbol.name == "a"), None)
        if section is None:
            continue
        missed = []
        for n, m in SIZES:
            ends = bounds(found, "a", n=n, m=m)
            if ends is not None and not set(range(*ends)) <= nest.stored(n, m):
                missed.append((n, m))
        yield nest, section.covers, missed


@pytest.fixture(scope="module")
def made() -> list[Nest]:
    return list(nests(20261123))


def _program(made: list[Nest], folder: Path) -> Program:
    return load("\n".join(nest.c_text(f"f{k}") for k, nest in enumerate(made)), folder)


def test_what_is_said_to_be_written_whole_is(made: list[Nest], tmp_path: Path) -> None:
    answers = list(written_whole(_program(made, tmp_path), made))
    assert len(answers) > COUNT / 2
    for nest, said, missed in answers:
        assert not (said and missed), (nest, missed[:3])
    said_whole = sum(said for _, said, _ in answers)
    whole = sum(not missed for *_, missed in answers)
    assert 8 < said_whole < len(answers) - 8, (said_whole, whole, len(answers))
    assert said_whole > 0.7 * whole, (said_whole, whole)


def _gaps(patch: pytest.MonkeyPatch) -> None:
    """The hull of what is touched counts as touched."""
    real = covers._union
    patch.setattr(covers, "_union", lambda sets: real(sets).remove_divs().simple_hull().to_set())


def _short_rows(patch: pytest.MonkeyPatch) -> None:
    """A row counts as full if one of its elements is written."""
    real = covers._image

    def first_digit(state: object, statement: object, digits: list[Polynomial]) -> object:
        return real(state, statement, digits[:1])  # type: ignore[arg-type]

    patch.setattr(covers, "_image", first_digit)
    patch.setattr(covers, "_sizes", lambda state, strides: [])


@pytest.mark.parametrize("bug", [_gaps, _short_rows])
def test_a_seeded_bug_is_seen(bug: object, made: list[Nest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(bug)
    bug(monkeypatch)
    assert any(said and missed for _, said, missed in written_whole(_program(made, tmp_path), made))


STRUCTS = """
struct P { double x, y; long k; };
struct Q { double x; struct P in; };
struct U { double x; union { long a; double b; } u; };
struct H { double x; int k; };
struct V { double x; double v[2]; };
"""
EACH = "for (int i = 0; i < n; i++)"


@pytest.mark.parametrize(("type", "body", "whole"), [
    ("P", f"{EACH} {{ a[i].x = 1; a[i].y = 2; a[i].k = i; }}", True),
    ("P", f"{EACH} {{ a[i].x = 1; a[i].y = 2; }}", False),
    ("P", f"{EACH} {{ a[i].x = 1; a[i].y = 2; if (i > 1) a[i].k = i; }}", False),
    ("P", f"{EACH} {{ a[i].x = 1; a[i].y = 2; a[i + 1].k = i; }}", False),
    ("P", f"{EACH} {{ a[i].x = 1; a[i].y = 2; if (c[i]) a[i].k = i; else a[i].k = 3; }}", True),
    ("P", f"{EACH} {{ a[i].x = 1; a[i].y = 2; if (c[i]) a[i].k = i; else a[i].x = 3; }}", False),
    ("P", f"{EACH} {{ a[i].x = 0; if (c[i]) a[i] = b[0]; else {{ a[i].y = 2; a[i].k = i; }} }}", True),
    ("P", f"{EACH} {{ a[i].x = 0; if (c[i]) a[i] = b[0]; else a[i].y = 2; }}", False),
    ("P", f"{EACH} {{ a[i] = b[i]; a[i].x += 1; }}", True),
    ("Q", f"{EACH} {{ a[i].x = 1; a[i].in.x = 1; a[i].in.y = 2; a[i].in.k = i; }}", True),
    ("Q", f"{EACH} {{ a[i].x = 1; a[i].in.x = 1; a[i].in.k = i; }}", False),
    ("Q", f"{EACH} {{ a[i].x = 1; a[i].in = b[i].in; }}", True),
    ("Q", f"{EACH} {{ a[i].in = b[i].in; }}", False),
    ("U", f"{EACH} {{ a[i].x = 1; a[i].u.a = 1; }}", False),
    ("H", f"{EACH} {{ a[i].x = 1; a[i].k = i; }}", False),  # 4 bytes behind k are no member's
    ("H", f"{EACH} {{ a[i] = b[i]; }}", True),
    ("V", f"{EACH} {{ a[i].x = 1; a[i].v[0] = 1; }}", False),
])  # fmt: skip
def test_structs_are_written_whole_where_each_member_is(type: str, body: str, whole: bool, tmp_path: Path) -> None:
    head = f"void f0(int n, struct {type} *restrict a, struct {type} *restrict b, int *restrict c)"
    program = load(f"{STRUCTS}{head} {{ {body} }}", tmp_path)
    found = asked(program, "f0/i", "f0/i")
    assert any(s.covers for s in found.sections if s.symbol.name == "a") is whole


def test_the_members_of_a_struct_are_not_taken_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: a member counts as the element."""
    monkeypatch.setattr(covers, "_parts", lambda _: [()])
    monkeypatch.setattr(Access, "part", ())
    with pytest.raises(AssertionError):
        test_structs_are_written_whole_where_each_member_is("P", f"{EACH} {{ a[i].x = 1; }}", False, tmp_path)
