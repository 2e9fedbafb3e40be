"""Whatever is called a reduction gives the same integers in any order of its iterations: programs are run to see."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from random import Random

import pytest
from msgspec.structs import replace

from tests.poly.analysis import facts_of
from tests.poly.dependences.random_updates import SCALARS, body, function
from tests.sampling import one_in
from warpsmith.base.verdict import Proved
from warpsmith.poly.dependences import reductions, updates
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import Assign

COUNT = 200
# rare in a small batch
RARE = (
    "s = x[i] - s;",
    "if (x[i] > m) { m = x[i]; c = c + 1; }",
    "if (x[i] > 3) q = 1; if (y[i] < x[i]) q = 0;",
    "if (y[i] > 3) m = x[i];",
)
HEAD = "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"

MAIN = r"""
#include <stdio.h>
#include <string.h>
typedef void run_t(int *, int *, const int *, const int *, int *, int, const int *);
static void fill(int *p, unsigned seed)
{
    for (int i = 0; i < 32; i++)
        p[i] = (int)((seed = seed * 1103515245u + 12345u) >> 20) % 23 - 7;
}
int main(void)
{
    static run_t *const runs[] = {RUNS};
    for (int k = 0; k < (int)(sizeof runs / sizeof *runs); k++) {
        int same = 1;
        for (unsigned seed = 1; seed <= 4; seed++) {
            int first[80], x[32], y[32];
            fill(x, seed * 7 + k); fill(y, seed * 13 + k);
            for (unsigned turn = 0; turn < 6; turn++) {
                int a[32], h[32], out[16] = {0}, order[13], all[80];
                fill(a, seed); fill(h, seed + 1);
                for (int i = 0; i < 13; i++) order[i] = i;
                for (int i = 12; turn && i > 0; i--) {
                    int j = (int)(((turn * 2654435761u + seed) >> i) % (unsigned)(i + 1)), o = order[i];
                    order[i] = order[j]; order[j] = o;
                }
                runs[k](a, h, x, y, out, 13, order);
                memcpy(all, a, sizeof a); memcpy(all + 32, h, sizeof h); memcpy(all + 64, out, sizeof out);
                for (int p = 0; p < 80; p++)
                    if (turn == 0) first[p] = all[p];
                    else if (all[p] != first[p] && !((OPEN) & (p >= 64 ? 1u << (p - 64) : 0))) same = 0;
            }
        }
        putchar('0' + same);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def bodies() -> list[str]:
    random = Random(20)
    return [*RARE, *(body(random) for _ in range(COUNT))]


@pytest.fixture(scope="module")
def free(bodies: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """For each body "1" where every order gave the same result. Temporaries, and locations of equal extremes, may
    differ: which of equal values comes first is distinguished by `strict`."""
    temporaries = sum(1 << SCALARS.index(name) for name in ("t", "u", "k"))
    text = HEAD + "".join(function(k, one) for k, one in enumerate(bodies))
    runs = ", ".join(f"run{k}" for k in range(len(bodies)))
    folder = tmp_path_factory.mktemp("orders")
    (folder / "all.c").write_text(text + MAIN.replace("RUNS", runs).replace("OPEN", f"{temporaries}u"))
    command = ["gcc", "-O1", "-fwrapv", "-w", str(folder / "all.c"), "-o", str(folder / "all")]
    subprocess.run(command, check=True)
    return subprocess.run([str(folder / "all")], check=True, capture_output=True, text=True, timeout=60).stdout


def claimed(bodies: list[str]) -> list[LoopFacts]:
    text = HEAD + "".join(function(k, one).split("void run")[0] for k, one in enumerate(bodies))
    found = facts_of(text)
    return [found[f"f{k}/i"] for k in range(len(bodies))]


def wrong(bodies: list[str], free: str, facts: list[LoopFacts]) -> list[str]:
    """Return the bodies that are called reductions and are none."""
    proved = [f.category == "reduction" and isinstance(f.combined, Proved) for f in facts]
    return [one for one, is_free, claim in zip(bodies, free, proved, strict=True) if claim and is_free == "0"]


@pytest.mark.slow
def test_reductions_are_free_of_order(bodies: list[str], free: str) -> None:
    facts = claimed(bodies)
    assert not wrong(bodies, free, facts)
    called = [f for f in facts if f.category == "reduction" and isinstance(f.combined, Proved)]
    assert len(called) > COUNT // 4
    assert len({r.op for f in called for r in f.reductions}) >= 8
    # of what gives the same result in any order, most is recognized
    assert len(called) > 0.6 * free.count("1")


def _first_operator(patch: pytest.MonkeyPatch) -> None:
    """Different operators on one accumulator count as one."""
    real = reductions.updates
    patch.setattr(reductions, "updates", lambda loop: tuple(replace(u, op="+", constant=False) for u in real(loop)))


def _other_uses(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reductions, "_only", lambda *_: True)


def _turned(patch: pytest.MonkeyPatch) -> None:
    """`s = x - s` counts as a subtraction from s."""
    patch.setattr(updates, "_ONE_WAY", ())


def _free_companions(patch: pytest.MonkeyPatch) -> None:
    """A companion may be any function of what the loop computes."""
    patch.setattr(reductions, "_agree", lambda *_: True)
    patch.setattr(
        updates,
        "_with_companions",
        lambda update, companions, *, strict: update and replace(update, companions=companions, strict=strict),
    )


def _stores(patch: pytest.MonkeyPatch) -> None:
    """Any constant store counts as a truth value's."""
    real: Callable[[Assign], updates.AssociativeUpdate | None] = vars(updates)["_constant"]

    def constant(node: Assign) -> updates.AssociativeUpdate | None:
        found = real(node)
        return None if found is None else replace(found, op="||")

    patch.setattr(updates, "_constant", constant)


def _values(patch: pytest.MonkeyPatch) -> None:
    """The comparison need not be of what is assigned."""
    patch.setattr(updates, "_extreme", lambda condition, then, other: ("max", True))


def _held_forever(patch: pytest.MonkeyPatch) -> None:
    """A temporary still counts as the accumulator's value when that has changed, and may be used elsewhere."""
    patch.setattr(updates, "_forget", lambda held, written: None)
    patch.setattr(reductions, "_only", lambda *_: True)


SEEDED: Mapping[str, Callable[[pytest.MonkeyPatch], None]] = {
    "operators mixed": _first_operator,
    "other uses ignored": _other_uses,
    "subtraction turned round": _turned,
    "companions unchecked": _free_companions,
    "stores of zero and one mixed": _stores,
    "any comparison": _values,
    "stale temporaries": _held_forever,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(6, SEEDED))
def test_seeded_bugs_are_seen(name: str, bodies: list[str], free: str, monkeypatch: pytest.MonkeyPatch) -> None:
    SEEDED[name](monkeypatch)
    assert wrong(bodies, free, claimed(bodies))
