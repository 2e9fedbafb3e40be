"""Relations of OpenCL, and choices by them."""

from __future__ import annotations

from pathlib import Path

from tests.lower.opencl_answers import answers_cl

VALUES: dict[str, list[int | float]] = {
    "oi[g] = isless((float)g, 3.0f) + 2 * isgreaterequal((float)g, 3.0f)": [1, 1, 1, 2, 2, 2, 2, 2],
    "oi[g] = isequal(NAN, 1.0f) + 2 * isnotequal(NAN, 1.0f) + 4 * isnan(NAN) + 8 * isinf(-INFINITY)": [14] * 8,
    "oi[g] = isunordered(NAN, 1.0f) + 2 * isordered(NAN, 1.0f) + 4 * isfinite(1.0f) + 8 * isnormal(0.0f)": [5] * 8,
    "oi[g] = islessgreater(1.0f, (float)g) + 2 * signbit(g - 4.0f)": [3, 2, 3, 3, 1, 1, 1, 1],
    "int2 r = isless((float2)(g, 9), (float2)(3, 3)); oi[g] = r.x * 10 + r.y": [-10, -10, -10, 0, 0, 0, 0, 0],
    "oi[g] = any((int2)(0, g - 4)) + 2 * all((int2)(-1, g - 4))": [3, 3, 3, 3, 0, 0, 0, 0],
    "oi[g] = select(1, 2, g - 4)": [2, 2, 2, 2, 1, 2, 2, 2],
    "oi[g] = select((int2)(1, 1), (int2)(2, 2), (int2)(0, g - 4)).y": [2, 2, 2, 2, 1, 1, 1, 1],
    "oi[g] = bitselect(0xff00, g, 0x3)": [0xFF00, 0xFF01, 0xFF02, 0xFF03, 0xFF00, 0xFF01, 0xFF02, 0xFF03],
}


def test_values(tmp_path: Path) -> None:
    bodies = {f"oi[g] = 0; {body}" if not body.startswith("oi") else body: wanted for body, wanted in VALUES.items()}
    assert answers_cl(bodies, tmp_path) == bodies
