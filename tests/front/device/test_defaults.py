"""The first values of the members of an object that is made from nothing."""

from __future__ import annotations

from tests.front.test_kernels import boxes, functions, lines, load

TEXT = """
struct Plain { int a; float b; };
struct Values { int a = 4; float b = 1.5f; int c; };
struct Inner { Values v; int d = 2; };
struct Made { int a; __device__ Made() : a(7) {} };
struct Holds { Made m; int b; };
struct Below : Made { int c = 3; };
struct Rows { Values v[65]; };
struct Pair { Values v[2]; };
__global__ void k(int *p) {
    Plain plain; Values values; Inner inner; Made made; Holds holds;
    Pair pair;
    Values listed = {1}; Plain zeros{}; Values empty{}; Inner some = {{}, 5};
    p[0] = plain.a + values.c + inner.d + made.a + holds.b + listed.c + zeros.a + empty.a + some.d;
}
__global__ void unseen(int *p) { Rows r; Below b{}; p[0] = r.v[1].a + b.c; }
"""


def written() -> list[str]:
    return list(lines(functions(load(TEXT))["k"]))


def test_members_have_the_values_that_their_class_gives_them() -> None:
    made = written()
    assert not any(line.startswith("plain") for line in made)
    assert [line for line in made if line.startswith("values.")] == ["values.a = 4", "values.b = 1.5f"]
    assert {"inner.v.a = 4", "inner.v.b = 1.5f", "inner.d = 2"} <= set(made)
    assert {f"pair.v[{number}].{member}" for number in range(2) for member in ("a = 4", "b = 1.5f")} <= set(made)
    assert [line for line in made if line.startswith("made")] == ["made = Made::Made()"]
    assert [line for line in made if line.startswith("holds")] == ["holds.m = Made::Made()"]


def test_lists_leave_the_other_members_their_values() -> None:
    made = [line for line in written() if line.startswith(("listed", "zeros", "empty", "some"))]
    assert made == ["listed = {1, 1.5f, 0}", "zeros = {}", "empty = {4, 1.5f, 0}", "some = {{4, 1.5f, 0}, 5}"]


def test_what_is_not_seen_is_unknown() -> None:
    unit = load(TEXT)
    assert boxes(unit) == [
        "an array of more than 64 objects that a constructor makes",
        "what the part of Below that is its base class begins with",
    ]  # fmt: skip
