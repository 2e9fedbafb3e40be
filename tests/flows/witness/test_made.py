"""Arguments that are made up: what fits which parameter, and arrays that become longer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.flows.witness.kernels import unit_of
from warpsmith.analysis.uniformity.facts import LaunchCall, LaunchShape
from warpsmith.flows.witness.made import LONGEST, Made, make_arguments


def made_for(folder: Path, parameters: str, known: Mapping[str, int] | None = None, threads: int = 64) -> list[Made]:
    """Return what is made up for a kernel with such parameters."""
    unit = unit_of(folder, f"struct pair {{ int x, y; }};\n__global__ void k({parameters}) {{}}\n")
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    return list(make_arguments(unit, kernel, threads, LaunchShape(arguments=known or {})))


def test_sizes_are_above_the_threads(tmp_path: Path) -> None:
    made = made_for(tmp_path, "float *a, int n, unsigned char c")
    assert [one.numbers for one in made] == [{"n": str(n), "c": str(min(n, 127))} for n in (128, 109, 64, 8)]
    assert {one.texts[-1] for one in made} == {"a=rand:f32[256]"}
    large = made_for(tmp_path, "unsigned char c", threads=1024)
    assert {one.numbers["c"] for one in large} == {"127", "8"}, "what it holds"


def test_numbers_that_are_given_are_no_sizes(tmp_path: Path) -> None:
    (one,) = made_for(tmp_path, "int *a, int n", {"n": 7, "m": 8})
    assert one.numbers == {"n": "7"} and one.given == frozenset({"n"})
    assert one.assumptions == ("random numbers below 64 in a",)


def test_numbers_of_launches_stay_together(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, "__global__ void k(int *a, int n, int m, int s) {}\n")
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    calls = (LaunchCall(None, {"n": (9000,), "m": (1,)}), LaunchCall(None, {"n": (20,), "m": (2, 3)}))
    made = list(make_arguments(unit, kernel, 64, LaunchShape(calls=calls)))
    plain = [one.numbers for one in made if not one.shrunk]
    assert [(one["n"], one["m"], one["s"]) for one in plain] == [
        (n, m, str(size)) for size in (128, 109, 64, 8) for n, m in (("9000", "1"), ("20", "2"), ("20", "3"))
    ]
    assert all(one.given == {"n", "m"} for one in made if not one.shrunk)
    smaller = [one for one in made if one.shrunk]
    assert [one.numbers["n"] for one in smaller] == ["128", "109", "64", "8"], "9,000 may be too large for a run"
    assert all(one.given == {"m"} and one.numbers["m"] == "1" for one in smaller)
    fixed = make_arguments(unit, kernel, 64, LaunchShape(calls=calls, deciding=frozenset({"n"})))
    assert not [one for one in fixed if one.shrunk], "it decides what code there is"


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        ("double *p", "p=rand:f64[256]"), ("const short *p", "p=rand:i16[256]:below=64"),
        ("unsigned *p", "p=rand:u32[256]:below=64"), ("pair *p", "p=rand:u8[256]:below=64"),
        ("float p", "p=1.5"), ("pair p", f"p=hex:{'00' * 8}"),
    ],
)  # fmt: skip
def test_what_fits_a_parameter(parameter: str, text: str, tmp_path: Path) -> None:
    (one,) = made_for(tmp_path, parameter)
    assert one.texts == (text,)


def test_an_array_becomes_longer_until_it_is_too_long(tmp_path: Path) -> None:
    one = made_for(tmp_path, "float *a, int n")[0]
    longer = one.longer("a", 4000)
    assert longer is not None and longer.arrays["a"] == ("f32", 1024), "a power of two that holds them"
    assert one.longer("a", 1) == one.longer("a", 8 * 256), "four times as long at least"
    assert one.longer("a", LONGEST + 1) is None and one.longer("n", 8) is None


def test_fractions_rise_around_what_arrays_hold(tmp_path: Path) -> None:
    (one,) = made_for(tmp_path, "float least, float most, double step")
    assert one.numbers == {"least": "-1.5", "most": "1.5", "step": "4.5"}


def test_arrays_of_a_block_hold_nothing(tmp_path: Path) -> None:
    unit = unit_of(tmp_path, "__kernel void k(__local int *s, __local float *f, __global float4 *g) {}\n", "k.cl")
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    (one,) = make_arguments(unit, kernel, 64, LaunchShape())
    assert one.texts == ("s=local:i32[2048]", "f=local:f32[2048]", "g=rand:f32[256]")
    assert one.assumptions == ()
    longer = one.longer("s", 1 << 15)
    assert longer is not None and longer.arrays["s"] == ("i32", 1 << 13)
    assert one.longer("s", 1 << 20) is None, "more than a block has"


@pytest.mark.parametrize(
    ("body", "long"),
    [
        ("((float *)(p + y * m))[x] = n;", True),
        ("a[i * (n * m * 3 >> 2) + y * (m >> 2) + x] = 1;", True),
        ("if (x < m) a[y * m + x] = n;", False),
        ("a[y + m] = n;", False),
        ("if (x < m / 2) a[y * m + x] = n;", False),
    ],
)
def test_what_rows_are_apart_by_is_long(body: str, *, long: bool, tmp_path: Path) -> None:
    text = (
        f"__global__ void k(char *p, float *a, int n, int m, int i) {{ int x = threadIdx.x, y = threadIdx.y; {body} }}"
    )
    unit = unit_of(tmp_path, f"{text}\n")
    (kernel,) = (one for one in unit.module.functions if one.kernel)
    made = list(make_arguments(unit, kernel, 64, LaunchShape()))
    assert [one.numbers["m"] for one in made] == [str(n * (16 if long else 1)) for n in (128, 109, 64, 8)]
    # a row is no shorter than a block
    factor = "* m" in body
    made = list(make_arguments(unit, kernel, 64, LaunchShape(), 32))
    assert [one.numbers["m"] for one in made][3:] == [str((32 if factor else 8) * (16 if long else 1))]
