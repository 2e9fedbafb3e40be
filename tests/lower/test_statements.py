"""Statements: what runs, how often, in which order."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code

VALUES: dict[str, list[int | float]] = {
    "int r = 0; for (int i = 0; i < t; i++) r += i; oi[t] = r": [0, 0, 1, 3, 6, 10, 15, 21],
    "int r = 0; for (int i = 9; i > t; i -= 2) r++; oi[t] = r": [5, 4, 4, 3, 3, 2, 2, 1],
    "int r = 0, i = t; while (i > 0) { i--; if (i == 2) continue; if (i == 0) break; r++; } oi[t] = r": [
        0, 0, 1, 1, 2, 3, 4, 5,
    ],
    "int r = 0; do r++; while (r < t); oi[t] = r": [1, 1, 2, 3, 4, 5, 6, 7],
    "int r = 0; do { r++; if (r == 3) continue; } while (r < t && r != 3); oi[t] = r": [1, 1, 2, 3, 3, 3, 3, 3],
    "int r = 0; switch (t) { case 1: r = 1; case 2: r += 10; break; default: r = 5; case 3: r += 100; } oi[t] = r": [
        105, 11, 10, 100, 105, 105, 105, 105,
    ],
    "switch (t) { case 3: oi[t] = 1; }": [0, 0, 0, 1, 0, 0, 0, 0],
    "switch ((char)(t - 1)) { case -1: oi[t] = 7; break; case 0: oi[t] = 8; }": [7, 8, 0, 0, 0, 0, 0, 0],
    "oi[t] = 1; if (t > 3) return; oi[t] = 2": [2, 2, 2, 2, 1, 1, 1, 1],
    "int r = 0; again: r++; if (r < t) goto again; oi[t] = r": [1, 1, 2, 3, 4, 5, 6, 7],
    "int a = 5; { int a = t; oi[t] = a; } oi[t] += 10 * a": [50 + n for n in range(8)],
    "int r = 0; for (;;) { if (r >= t) break; r += 2; } oi[t] = r": [0, 2, 2, 4, 4, 6, 6, 8],
    "int r = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { if (j) break; r += 1; } oi[t] = r": [3] * 8,
}  # fmt: skip


def test_values(tmp_path: Path) -> None:
    assert answers(VALUES, tmp_path) == VALUES


def test_branches_know_their_construct_and_what_is_not_reached_goes(tmp_path: Path) -> None:
    bodies = ["while (oi[t]) oi[t]--", "do oi[t]--; while (oi[t])", "for (; oi[t];) oi[t]--", "return; oi[t] = 1"]
    made = code(bodies, tmp_path)
    words = [[w for w in ("branch while", "branch do", "branch for") if w in made[body][0]] for body in bodies]
    assert words == [["branch while"], ["branch do"], ["branch for"], []]
    assert "store" not in made[bodies[3]][0] and "branch" not in made[bodies[3]][0]


def test_a_local_that_holds_nothing_yet_is_any_value(tmp_path: Path) -> None:
    made = code(
        ["int a; oi[t] = a", "static __shared__ int b; oi[t] = b", "extern __shared__ int c[]; oi[t] = c[t]"], tmp_path
    )
    texts = [text for text, _ in made.values()]
    assert "undef:i32" in texts[0] and "load [shared" in texts[1] and "load [shared" in texts[2]
