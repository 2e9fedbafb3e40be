"""Trip counts and values: certain where the text, the user or a run says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.base.source import Span
from warpsmith.offload.gain.sizes import DEFAULT_TRIPS, Size, Sizes, find_changed, find_doubtful, infer_values
from warpsmith.offload.plan import LoopCount
from warpsmith.tree.nodes import Assign, ExprStmt, For, Loop, Name
from warpsmith.tree.walk import loops, walk

TEXT = """
#define N 64
enum { M = 10 };
void f(int n, double *a) {
    for (int i = 0; i < N; i++) a[i] = 0;
    for (int i = M; i >= 1; i -= 3) a[i] = 0;
    for (int i = 0; i < n; i++) a[i] = 0;
    for (int i = 0; i < 2 * N; i++)
        for (int j = i; j < 2 * N; j++) a[j] = 0;
    while (a[0] < 1) a[0] += 1;
    for (int i = 5; i < 2; i++) a[i] = 0;
}
"""
ROWS = """
void g(int n, const int *row, double *restrict a) {
    for (int i = 0; i < n; i++)
        for (int j = row[i]; j < row[i + 1]; j++) a[j] = 0;
}
"""


def all_loops(tmp_path: Path) -> list[Loop]:
    ((_, f),) = load(TEXT, tmp_path).functions()
    return [loop for loop, _ in loops(f.body)]


def test_constants_are_certain_and_parameters_are_not(tmp_path: Path) -> None:
    found = [Sizes().trips(loop) for loop in all_loops(tmp_path)]
    assert found[0] == Size(64)
    assert round(found[1].value) == 3 and found[1].certain
    assert found[2] == Size(DEFAULT_TRIPS, certain=False, guessed=True)
    assert not found[5].certain
    assert found[6] == Size(0)


def test_what_the_user_or_a_run_says_is_certain(tmp_path: Path) -> None:
    loop, uncounted = all_loops(tmp_path)[2], all_loops(tmp_path)[5]
    assert Sizes(given={"n": 400}).trips(loop) == Size(400)

    def shown(place: Span) -> LoopCount | None:
        return LoopCount(2, 15) if place.line == uncounted.header.line else None

    assert Sizes(measured=shown).trips(uncounted) == Size(7.5)
    assert not Sizes(measured=shown).trips(loop).certain
    assert Sizes(measured=lambda _: LoopCount(0, 0)).trips(loop) == Size(0)


def test_a_row_is_shorter_than_an_array(tmp_path: Path) -> None:
    ((_, g),) = load(ROWS, tmp_path).functions()
    rows, row = [Sizes().trips(loop) for loop, _ in loops(g.body)]
    assert rows.value == DEFAULT_TRIPS > row.value and not row.certain


def test_the_count_of_a_loop_tells_its_bound(tmp_path: Path) -> None:
    text = """
    int size = 32, grown;
    void f(int n, int m, int k, int c, double *a) {
        for (int i = 0; i < n; i++) a[i] = 0;
        for (int i = m - 1; i >= 0; i--) a[i] = 0;
        for (int i = 1; i <= k + 2; i++) a[i] = 0;
        for (int i = 0; i < c; i++) a[i] = 0;
        for (int i = 0; i < c; i++) a[i] = 1;
        for (int i = 0; i < size; i++) a[i] = 0;
        for (int t = 0; t < 3; t++) {
            for (int i = 0; i < grown; i++) a[i] = 0;
            grown = 2 * grown;
        }
    }
    """
    functions = [function for _, function in load(text, tmp_path).functions()]
    trips = {4: 400, 5: 50, 6: 8, 7: 10, 8: 11, 9: 1024, 10: 3, 11: 7}

    def shown(place: Span) -> LoopCount | None:
        return LoopCount(2, 2 * trips[place.line])

    found = infer_values(functions, Sizes(measured=shown))
    # that of m is no bound; c has two values, and grown is another number each time
    assert {symbol.name: value for symbol, value in found.items()} == {"n": Size(400), "k": Size(6), "size": Size(1024)}
    assert not infer_values(functions, Sizes())


def test_a_triangle_counts_half(tmp_path: Path) -> None:
    outer, inner = all_loops(tmp_path)[3:5]
    inside = Sizes().inside(outer)
    assert inside.trips(inner) == Size(128 - 63.5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 / 2", 3), ("-7 / 2", -3), ("-7 % 3", -1), ("1 << 5", 32), ("(int)(N + 1)", 65), ("N > 3 ? 4 : n", 4),
        ("n ? 4 : 9", 9),
        ("n >= 1 ? n : 0", None), ("sizeof(double) * N", 512), ("n", None), ("N / (M - 10)", None), ("N == 64 && M", 1),
    ],
)  # fmt: skip
def test_expressions_have_the_values_of_c(tmp_path: Path, text: str, value: float | None) -> None:
    program = load(f"#define N 64\nenum {{ M = 10 }};\nint f(int n) {{ int x; x = {text}; return x; }}", tmp_path)
    ((_, f),) = program.functions()
    (assign,) = [p for p in walk(f.body) if isinstance(p, Assign)]
    found = Sizes().value(assign.value)
    assert (found.value if found is not None else None) == value


def test_what_an_unknown_condition_chooses_is_not_certain(tmp_path: Path) -> None:
    program = load("int f(int n) { int x; x = n ? 4 : 9; return x; }", tmp_path)
    ((_, f),) = program.functions()
    (assign,) = [p for p in walk(f.body) if isinstance(p, Assign)]
    assert Sizes().value(assign.value) == Size(9, certain=False, guessed=True)


def test_what_changes_is_found(tmp_path: Path) -> None:
    text = """
    void g(int *);
    void f(void) { int a = 1, b = 1, c = 1, d = 1, e = 1, i; a = 2; b += c; g(&d); e--; for (i = 0; i < 3; i++) c; }
    """
    ((_, f),) = load(text, tmp_path).functions()
    assert {s.name for s in find_changed(f.body)} == {"a", "b", "d", "e", "i"}
    assert not find_doubtful(f.body)


def test_a_counter_has_its_mean_in_its_loop(tmp_path: Path) -> None:
    loop = all_loops(tmp_path)[0]
    assert isinstance(loop, For) and isinstance(loop.body, ExprStmt)
    name = next(p for p in walk(loop.body) if isinstance(p, Name) and p.symbol == loop.variable)
    assert Sizes().inside(loop).value(name) == Size(31.5)
