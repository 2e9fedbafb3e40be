"""Steps against execution: what is Proved gives the same bytes, at negative, zero, odd and larger sizes, and no
rewritten bound overflows. Bugs seeded into the steps are noticed by the same comparison."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.loops.steps import random_nests
from tests.loops.steps.twins import SIZES, Stand, completed, differences, function_text, stands, stepped
from warpsmith.base.verdict import Proved
from warpsmith.loops.analysis.shape import CounterRange
from warpsmith.loops.linear import Linear
from warpsmith.loops.step import Step
from warpsmith.loops.steps.order import distribute, fuse, interchange, peel, reverse, split, tile, unroll
from warpsmith.loops.steps.order.distribute import Distribute
from warpsmith.loops.steps.order.fuse import Fuse
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.loops.steps.order.peel import Peel
from warpsmith.loops.steps.order.reverse import Reverse
from warpsmith.loops.steps.order.shift import Shift
from warpsmith.loops.steps.order.split import Split
from warpsmith.loops.steps.order.strip_mine import StripMine
from warpsmith.loops.steps.order.tile import Tile
from warpsmith.loops.steps.order.unroll import Unroll
from warpsmith.loops.steps.statements import nest
from warpsmith.loops.steps.statements.nest import Nest
from warpsmith.tree.nodes import For

SQUARE = "    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            a[i][j] = b[j][i] + x[i];\n"
UPPER = "    for (int i = 0; i < n; i++)\n        for (int j = i; j < m; j++)\n            x[j] += a[i][j];\n"
LOWER = "    for (int i = 0; i < n; i++)\n        for (int j = 0; j <= i; j++)\n            a[i][j] = b[i][j] + 1;\n"
DOWN = (
    "    for (int i = n - 1; i >= 0; i--)\n        for (int j = i + 1; j < n; j++)\n            a[i][j] += b[j][i];\n"
)
ANTI = "    for (int i = 1; i < n; i++)\n        for (int j = 0; j < n - i; j++)\n            a[i][j] += b[i][j + 1];\n"
DOUBLED = "    for (int i = 0; i < n; i++)\n        for (int j = 2 * i; j < m; j++)\n            a[i][j] += 1;\n"
BACK = "    for (int i = 0; i <= 6; i++)\n        for (int j = n - i; j >= 0; j--)\n            a[i][j] = x[j] + 1;\n"
CUBE = (
    "    for (int i = 0; i < n; i++)\n        for (int j = 0; j <= i; j++)\n            for (int l = j; l < m; l++)\n"
    "                a[i][l] = a[i][l] * 0.5 + b[j][l];\n"
)
LINE = "    for (int i = 0; i < n; i++) {\n        double t = x[i];\n        y[i] = t * t + x[i + 1];\n    }\n"
FROM = "    for (int i = k; i <= n; i++)\n        y[i] = y[i] * 0.5 + x[i] + i;\n"
PIVOT = (
    "    for (int l = 0; l < n; l++)\n        for (int i = 0; i < n; i++)\n            for (int j = 0; j < n; j++)\n"
    "                if (a[i][l] + a[l][j] < a[i][j]) a[i][j] = a[i][l] + a[l][j];\n"
)
UNSIGNED = "    unsigned long s = m < 0 ? 0 : m;\n    for (unsigned long i = 1; i < s; i++)\n        y[i] = x[i] + i;\n"
TWO = (
    "    for (int i = 0; i < n; i++)\n        x[i] = y[i] + 1;\n"
    "    for (int j = 0; j < n; j++)\n        y[j] = x[j] * 2;\n"
)
ROWS = (
    "    for (int i = 0; i < n; i++) {\n        x[i] = 0;\n        for (int j = 0; j < n; j++)\n"
    "            x[i] += a[i][j];\n        y[i] = x[i] * 2;\n    }\n"
)
CHAIN = (
    "    for (int i = 1; i < n; i++) {\n        x[i] = y[i - 1] + 1;\n        y[i] = b[i][0] * 2;\n"
    "        a[i][0] = a[i - 1][0] + x[i];\n    }\n"
)
S2244 = "    for (int i = 0; i < n; i++) {\n        x[i + 1] = y[i] + 1;\n        x[i] = y[i] + b[i][0];\n    }\n"

CASED = (
    "    switch (k) {\n    case 0:\n    case 2:\n        for (int i = 0; i < n; i++)\n            x[i] += 1;\n"
    "        break;\n    default:\n        for (int j = 0; j < m; j++)\n            y[j] += 2;\n    }\n"
)

Case = tuple[str, Callable[[str], tuple[Step, ...]]]

# The last size has the least int: no bound may overflow where the loop does not run.
LEAST = (*SIZES, (-(2**31), -(2**31), 5))
CASES: tuple[Case, ...] = (
    (SQUARE, lambda f: (Interchange(f + "/i"),)),
    (UPPER, lambda f: (Interchange(f + "/i"),)),
    (LOWER, lambda f: (Interchange(f + "/i"),)),
    (DOUBLED, lambda f: (Interchange(f + "/i"),)),
    (CUBE, lambda f: (Interchange(f + "/i", ("i", "l", "j")),)),
    (CUBE, lambda f: (Interchange(f + "/i", ("j", "i", "l")), Interchange(f + "/j", ("j", "l", "i")))),
    (SQUARE, lambda f: (Tile(f + "/i", (3, 2)),)),
    (UPPER, lambda f: (Tile(f + "/i", (2, 3)),)),
    (LOWER, lambda f: (Tile(f + "/i", (4, 4)),)),
    (CUBE, lambda f: (Tile(f + "/i", (2, 3)),)),
    (LINE, lambda f: (StripMine(f + "/i", 4),)),
    (FROM, lambda f: (StripMine(f + "/i", 3),)),
    (LINE, lambda f: (Unroll(f + "/i", 3),)),
    (FROM, lambda f: (Unroll(f + "/i", 2),)),
    (LINE, lambda f: (Peel(f + "/i", 1),)),
    (LINE, lambda f: (Peel(f + "/i", 2, 1),)),
    (FROM, lambda f: (Peel(f + "/i", 1),)),
    (FROM, lambda f: (Peel(f + "/i", 0, 1),)),
    (LINE, lambda f: (Split(f + "/i", "k"),)),
    (LINE, lambda f: (Split(f + "/i", "k", single=True),)),
    (FROM, lambda f: (Split(f + "/i", "m"),)),
    (FROM, lambda f: (Split(f + "/i", "m", single=True),)),
    (PIVOT, lambda f: (Split(f + "/l/i/j", "l", single=True), Split(f + "/l/i", "l", single=True))),
    (SQUARE, lambda f: (Reverse(f + "/i"),)),
    (LINE, lambda f: (Reverse(f + "/i"),)),
    (LINE, lambda f: (Shift(f + "/i", 5),)),
    (FROM, lambda f: (Shift(f + "/i", -2),)),
    (TWO, lambda f: (Fuse(f + "/i"),)),
    (CASED, lambda f: (Unroll(f + "/i", 2), Peel(f + "/j", 1))),
    (S2244, lambda f: (Distribute(f + "/i"),)),
    (ROWS, lambda f: (Distribute(f + "/i"),)),
    (ROWS, lambda f: (Nest(f + "/i"), StripMine(f + "/i/j", 2))),
)
# These compute n - 1 or m - 1 themselves.
SMALL: tuple[Case, ...] = (
    (DOWN, lambda f: (Interchange(f + "/i"),)),
    (ANTI, lambda f: (Interchange(f + "/i"),)),
    (BACK, lambda f: (Interchange(f + "/i"), Tile(f + "/j", (4, 2)), Interchange(f + "/jj"))),
    (CHAIN, lambda f: (Distribute(f + "/i"),)),
    (ROWS, lambda f: (Nest(f + "/i"), Unroll(f + "/i", 2))),
    (UNSIGNED, lambda f: (StripMine(f + "/i", 4),)),
    (UNSIGNED, lambda f: (Unroll(f + "/i", 4),)),
    (UNSIGNED, lambda f: (Peel(f + "/i", 1, 1),)),
)


def test_every_step_gives_the_same_bytes(tmp_path: Path) -> None:
    assert stepped(CASES, tmp_path, LEAST) == []


def test_steps_on_loops_with_differences_in_their_bounds(tmp_path: Path) -> None:
    assert stepped(SMALL, tmp_path) == []


# --- random sequences


def _sequence(rng: random.Random, stand: Stand, longest: int) -> tuple[Stand, list[Step]]:
    """Apply up to `longest` random steps, each where it is Proved."""
    done: list[Step] = []
    for _ in range(longest):
        for step in random_nests.candidates(rng, stand):
            whole = completed(step, stand)
            if isinstance(stand.check(whole), Proved):
                stand, done = stand.after(whole), [*done, whole]
                break
    return stand, done


@pytest.mark.slow
def test_random_sequences_of_steps(tmp_path: Path) -> None:
    rng = random.Random(20261121)
    text = "\n".join(function_text(f"F{k}", random_nests.body(rng)) for k in range(28))
    originals = stands(text, tmp_path)
    made: dict[str, Stand] = {}
    kinds: Counter[str] = Counter()
    for name, stand in originals.items():
        made[name], done = _sequence(rng, stand, rng.choice([1, 2, 3, 5]))
        kinds.update(step.name for step in done)
    assert differences(text, made, originals, tmp_path, SIZES) == []
    assert len(kinds) >= 9, kinds
    assert kinds["interchange"] >= 3 and kinds["tile"] >= 3 and kinds["distribute"] >= 3, kinds


# --- seeded bugs


def _always(*_: object, **__: object) -> Proved:
    return Proved()


def _unclamped(cut: split._Cut, value: object) -> object:
    return value


def _too_wide(outer: For, first: CounterRange, second: CounterRange) -> CounterRange:
    found = HULL(outer, first, second)
    return CounterRange(found.low, found.past.shift(-1))


def _unguarded(*arguments: object, **more: object) -> tuple[Linear, list[object]]:
    return TIGHTER(*arguments, **more)[0], []  # type: ignore[arg-type]


HULL = interchange._hull
TIGHTER = interchange._tighter
FLOW = "    for (int i = 1; i < n; i++)\n        for (int j = 0; j < m; j++)\n            a[i][j] = a[i - 1][j + 1];\n"
NEXT = (
    "    for (int i = 0; i < n; i++)\n        x[i] = y[i];\n    for (int i = 0; i < n; i++)\n        y[i] = x[i + 1];\n"
)
BUGS: tuple[tuple[object, str, object, Case], ...] = (
    (interchange, "keeps_order", _always, (FLOW, lambda f: (Interchange(f + "/i"),))),
    (interchange, "_hull", _too_wide, (LOWER, lambda f: (Interchange(f + "/i"),))),
    (interchange, "_tighter", _unguarded, (UPPER, lambda f: (Interchange(f + "/i"),))),
    (tile, "keeps_order", _always, (FLOW, lambda f: (Tile(f + "/i", (2, 2)),))),
    (tile, "_keep_inside", lambda loop, point, strip: point, (LOWER, lambda f: (Tile(f + "/i", (2, 2)),))),
    (distribute, "keeps_order", _always, (CHAIN, lambda f: (Distribute(f + "/i", (1, 2)),))),
    (fuse, "keeps_order", _always, (NEXT, lambda f: (Fuse(f + "/i"),))),
    (reverse, "keeps_order", _always, (LINE.replace("x[i]", "y[i + 1]"), lambda f: (Reverse(f + "/i"),))),
    (split, "follows", lambda *_: True, (LINE, lambda f: (Split(f + "/i", "k", single=True),))),
    (split._Cut, "_clamp_value", _unclamped, (LINE, lambda f: (Split(f + "/i", "k"),))),
    (peel, "_runs", lambda *_: True, (LINE, lambda f: (Peel(f + "/i", 1),))),
    (nest, "follows", lambda *_: True, (ROWS.replace("j < n", "j < m"), lambda f: (Nest(f + "/i"),))),
    (unroll, "_rest", lambda length, whole, span: Linear((), 0).expr(span), (LINE, lambda f: (Unroll(f + "/i", 3),))),
)


@pytest.mark.slow
def test_seeded_bugs_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(function_text(f"F{k}", case[0]) for k, (*_, case) in enumerate(BUGS))
    originals = stands(text, tmp_path)
    made: dict[str, Stand] = {}
    for k, (place, name, wrong, (_, steps)) in enumerate(BUGS):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, wrong)
            made[f"F{k}"] = originals[f"F{k}"].proved(*steps(f"F{k}"))
    found = differences(text, made, originals, tmp_path, SIZES)
    missed = set(made) - {line.split()[0] for line in found}
    assert not missed
