"""Exchanges between the lanes of a warp."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code

M = "0xffu"
VALUES: dict[str, list[int | float]] = {
    f"oi[t] = __ballot_sync({M}, t & 2)": [0xCC] * 8,
    f"oi[t] = __any_sync({M}, t == 3) + 2 * __all_sync({M}, t < 7)": [1] * 8,
    f"oi[t] = __shfl_sync({M}, t * 10, 3)": [30] * 8,
    f"oi[t] = __shfl_up_sync({M}, t, 2)": [0, 1, 0, 1, 2, 3, 4, 5],
    f"oi[t] = __shfl_down_sync({M}, t, 1, 4)": [1, 2, 3, 3, 5, 6, 7, 7],
    f"oi[t] = __shfl_xor_sync({M}, t, 1)": [1, 0, 3, 2, 5, 4, 7, 6],
    f"ol[t] = __shfl_xor_sync({M}, (long long)t << 33 | t, 1)": [t << 33 | t for t in (1, 0, 3, 2, 5, 4, 7, 6)],
    f"od[t] = __shfl_xor_sync({M}, t * 0.5, 2)": [1, 1.5, 0, 0.5, 3, 3.5, 2, 2.5],
    f"oi[t] = __match_any_sync({M}, t / 4)": [*[0x0F] * 4, *[0xF0] * 4],
    f"int all; oi[t] = __match_all_sync({M}, 5, &all) + 1000 * all": [0xFF + 1000] * 8,
    f"oi[t] = __reduce_add_sync({M}, t)": [28] * 8,
    f"oi[t] = __reduce_min_sync({M}, t - 4)": [-4] * 8,
    f"ou[t] = __reduce_max_sync({M}, (unsigned)t - 1)": [4294967295] * 8,
    "oi[t] = __activemask()": [0xFF] * 8,
}


def test_values(tmp_path: Path) -> None:
    assert answers(VALUES, tmp_path) == VALUES


def test_ops_say_who_and_how(tmp_path: Path) -> None:
    lines = {
        "oi[t] = __shfl_up(t, 1, n)": "shuffle [up unmasked]", "oi[t] = __ballot(t)": "vote [ballot unmasked]",
        f"oi[t] = __reduce_max_sync({M}, t)": "reduce [smax]", "oi[t] = __ldg(in + t)": "cached read only",
        "of[t] = __ldcg(fin + 1)": "load [generic", "__stcs(oi + t, 3)": "store [",
    }  # fmt: skip
    made = code(lines, tmp_path)
    found = {
        body: line in made[body][0] or line.replace("generic", "global") in made[body][0]
        for body, line in lines.items()
    }
    assert found == dict.fromkeys(lines, True) and not any(told for _, told in made.values())
