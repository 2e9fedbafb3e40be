"""Barriers, fences, ends, copies of a few bytes."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code

LINES = {
    "__syncthreads()": "barrier [waits] 0:i32",
    "oi[t] = __syncthreads_count(t)": "barrier [waits count] 0:i32",
    "oi[t] = __syncthreads_or(t)": "barrier [waits or] 0:i32",
    "__syncwarp()": "warp_barrier 4294967295:i32",
    "__syncwarp(3)": "warp_barrier 3:i32",
    "__threadfence()": "fence [device]",
    "__threadfence_block()": "fence [block]",
    "__threadfence_system()": "fence [system]",
    "if (t > 3) __trap()": "trap",
    'printf("%d", oi[t])': "lanewise ['printf']",
    'if (cudaGetLastError() == cudaSuccess) printf("%s", cudaGetErrorString(cudaErrorUnknown))': "lanewise ['printf']",
    "ol[t] = clock64()": "query [clock64]",
    "oi[t] = __builtin_expect(t, 1)": "query [tid.x]",
}
VALUES: dict[str, list[int | float]] = {
    "oi[t] = __syncthreads_count(t > 2)": [5] * 8,
    "oi[t] = __syncthreads_and(t > 2) + 2 * __syncthreads_or(t > 2)": [2] * 8,
    "int a[2] = {t, 7}; long long b; memcpy(&b, a, 8); ol[t] = b": [(7 << 32) + t for t in range(8)],
    "float f = t; int b; memcpy(&b, &f, sizeof b); oi[t] = b > 0": [0, 1, 1, 1, 1, 1, 1, 1],
}


def test_ops(tmp_path: Path) -> None:
    made = code(LINES, tmp_path)
    assert {body: line in made[body][0] and not made[body][1] for body, line in LINES.items()} == dict.fromkeys(
        LINES, True
    )


def test_values(tmp_path: Path) -> None:
    assert answers(VALUES, tmp_path) == VALUES


def test_what_touches_memory_in_its_own_way_is_said(tmp_path: Path) -> None:
    bodies = ["memset(oi, 0, 64)", "memcpy(oi, in, n)", "memcpy(oi, in, 1000)", "void *p = malloc(8)"]
    made = code(bodies, tmp_path)
    assert all("copied, set or allocated" in told[0] for told in [made[b][1] for b in bodies])
