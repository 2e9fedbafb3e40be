"""Atomics: which op, on which type, with which scope; and what they return."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code

LINES = {
    "atomicAdd(oi, t)": "atomic_add [global +0 align 4]",
    "atomicAdd(of, s)": "atomic_fadd [global +0 align 4]",
    "atomicAdd(od + 2, 1.0)": "atomic_fadd [global +16 align 8]",
    "atomicSub(oi + 1, t)": "atomic_add [global +4 align 4]",
    "atomicMin(oi, t)": "atomic_smin",
    "atomicMax(ou, 3u)": "atomic_umax",
    "atomicAnd_block(oi, t)": "atomic_and [global +0 align 4 scope block]",
    "atomicExch_system(oi, t)": "atomic_exchange [global +0 align 4 scope system]",
    "atomicCAS(oi, 1, t)": "atomic_compare",
    "atomicInc(ou, 7u)": "atomic_inc",
    "__shared__ int x; x = 0; atomicOr(&x, t); oi[t] = x": "atomic_or [shared +0 align 4]",
}
VALUES: dict[str, list[int | float]] = {
    "oi[t] = t; int old = atomicAdd(&oi[t], 5); oi[t] += 100 * old": [101 * t + 5 for t in range(8)],
    "oi[t] = t; atomicSub(&oi[t], 3)": [t - 3 for t in range(8)],
    "oi[t] = t; int old = atomicCAS(&oi[t], 3, 50); oi[t] += 100 * old": [0, 101, 202, 350, 404, 505, 606, 707],
    "oi[t] = t; atomicExch(&oi[t], -1)": [-1] * 8,
    "ou[t] = t; atomicInc(&ou[t], 3u)": [1, 2, 3, 0, 0, 0, 0, 0],
    "ou[t] = t; atomicDec(&ou[t], 3u)": [3, 0, 1, 2, 3, 3, 3, 3],
}


def test_ops(tmp_path: Path) -> None:
    made = code(LINES, tmp_path)
    assert {body: line in made[body][0] and not made[body][1] for body, line in LINES.items()} == dict.fromkeys(
        LINES, True
    )


def test_values(tmp_path: Path) -> None:
    assert answers(VALUES, tmp_path) == VALUES
