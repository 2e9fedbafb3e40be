"""OpenCL's conversions by name: rounding, saturation, the same bits."""

from __future__ import annotations

from pathlib import Path

from tests.lower.opencl_answers import answers_cl
from warpsmith.lower.builtins.convert import conversion

VALUES: dict[str, list[int | float]] = {
    "oi[g] = convert_char(g + 126)": [126, 127, -128, -127, -126, -125, -124, -123],
    "oi[g] = convert_char_sat(g + 124)": [124, 125, 126, 127, 127, 127, 127, 127],
    "oi[g] = convert_uchar_sat(g - 3)": [0, 0, 0, 0, 1, 2, 3, 4],
    "ou[g] = convert_uint_sat(g - 3)": [0, 0, 0, 0, 1, 2, 3, 4],
    "oi[g] = convert_int_sat((long)(g - 4) << 40)": [*[-2147483648] * 4, 0, *[2147483647] * 3],
    "oi[g] = convert_int_rte((g - 4) * 0.5f)": [-2, -2, -1, 0, 0, 0, 1, 2],
    "oi[g] = convert_int_rtp((g - 4) * 0.5f)": [-2, -1, -1, 0, 0, 1, 1, 2],
    "oi[g] = convert_int_rtn((g - 4) * 0.5f)": [-2, -2, -1, -1, 0, 0, 1, 1],
    "oi[g] = convert_int((g - 4) * 0.5f)": [-2, -1, -1, 0, 0, 0, 1, 1],
    "oi[g] = convert_uchar_sat((g - 2) * 64.0f)": [0, 0, 0, 64, 128, 192, 255, 255],
    "oi[g] = convert_int2((float2)(g, 9.5f)).y": [9] * 8,
    "oi[g] = as_int((float)g)": [
        0, 0x3F800000, 0x40000000, 0x40400000, 0x40800000, 0x40A00000, 0x40C00000, 0x40E00000,
    ],
}  # fmt: skip


def test_values(tmp_path: Path) -> None:
    assert answers_cl(VALUES, tmp_path) == VALUES


def test_only_names_of_conversions_are_some() -> None:
    assert all(conversion(name) for name in ("convert_int4_sat_rte", "as_float2", "convert_ulong16", "convert_half"))
    assert not any(conversion(name) for name in ("convert", "printf", "int4", "asin"))
