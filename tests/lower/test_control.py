"""Conditions: branches where C says so, plain values where nothing but arithmetic is skipped."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code

# body: the words of its branches, how many selects it has
SHAPES: dict[str, tuple[list[str], int]] = {
    "if (t < n && t > 2) oi[t] = 1": (["if"], 0),
    "if (t < n && in[t] > 2) oi[t] = 1": (["&&", "if"], 0),
    "if (t < n || in[t] > 2) oi[t] = 1": (["||", "if"], 0),
    "if (!(t < n && in[t] > 2)) oi[t] = 1": (["&&", "if"], 0),
    "oi[t] = t < n ? t : n": ([], 1),
    "oi[t] = t < n ? in[t] : n": (["?:"], 0),
    "oi[t] = t < n ? t / 3 : n": (["?:"], 0),
    "of[t] = t < n ? s * 3 : s": ([], 1),
    "oi[t] = t < n && t": ([], 0),
    "oi[t] = t < n && in[t]": (["&&"], 0),
    "oi[t] = t < n || oi[t]++": (["||"], 0),
    "oi[t] = n > 5 ? t < 3 ? 1 : 2 : 3": ([], 2),
    "t < n ? oi[t]++ : oi[t]--": (["?:"], 0),
}
VALUES: dict[str, list[int | float]] = {
    "oi[t] = t && in[0] / t": [0, 1, 1, 1, 1, 1, 1, 1],
    "oi[t] = !t || ou[t]++; ": [1, 0, 0, 0, 0, 0, 0, 0],
    "oi[t] = t < 3 ? t : t > 5 ? -t : 100": [0, 1, 2, 100, 100, 100, -6, -7],
    "int k = 0; oi[t] = (t > 3 && (k = 5)) + k": [0, 0, 0, 0, 6, 6, 6, 6],
    "Pair p = {1}, q = {2}; oi[t] = (t & 1 ? p : q).i": [2, 1, 2, 1, 2, 1, 2, 1],
}


def test_where_branches_are(tmp_path: Path) -> None:
    made = code(SHAPES, tmp_path)
    for body, (words, selects) in SHAPES.items():
        text, told = made[body]
        branches = [line.split()[1] for line in text.splitlines() if line.strip().startswith("branch")]
        assert (sorted(branches), text.count("= select")) == (sorted(words), selects), (body, text)
        assert not told


def test_what_is_skipped_is_not_done(tmp_path: Path) -> None:
    known = {body: wanted for body, wanted in VALUES.items() if "Pair" not in body}
    assert answers(known, tmp_path) == known
