"""Kernels of Brook+ as pixel shaders: what they write, and how many bundles they have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.front.brook.by_hand import CASES, BrookCase, numbers_in
from tests.front.il.listings import PLAIN, TRANSLATED
from tests.front.il.running import parse
from tests.targets.il.pixels.agree import il_agrees, written
from tests.targets.il.pixels.programs import random_case
from tests.targets.il.pixels.seeded import BUGS, MOST, PixelBug, found_by
from warpsmith.base.errors import InputError
from warpsmith.front.il.check import check_program
from warpsmith.front.il.printing import print_il
from warpsmith.targets.il.optimize import optimize_il
from warpsmith.targets.il.pixels.instructions import PixelInstructions
from warpsmith.targets.il.pixels.subscripts import PixelSubscripts, axis_of
from warpsmith.targets.r600.analyze import compile_il

DOCUMENT = """kernel void
bitonic(float input[], out float output<>, float stageWidth, float offset, float twoOffset)
{
    float idx2;
    float sign, dir;
    float min, max;
    float idx1 = (float)instance().x;

    sign = (fmod(idx1, twoOffset) < offset) ? 1.0f : -1.0f;
    dir = (fmod(floor(idx1 / stageWidth), 2.0f) == 0.0f) ? 1.0f: -1.0f;
    idx2 = idx1 + sign * offset;
    min = (input[idx1] < input[idx2]) ? input[idx1] : input[idx2];
    max = (input[idx1] > input[idx2]) ? input[idx1] : input[idx2];
    output = (sign == dir) ? min : max;
}
"""


@pytest.mark.parametrize("case", CASES, ids=lambda one: one.kernel)
def test_an_example_writes_what_its_kernel_does(case: BrookCase) -> None:
    assert il_agrees(case)


@pytest.mark.parametrize("row", [2, 8, 64])
def test_a_translated_pass_does_as_well(row: int) -> None:
    assert all(il_agrees(case, row=row) for case in CASES[:3])


@pytest.mark.parametrize("seed", range(MOST))
def test_random_kernels_do_as_well(seed: int) -> None:
    assert il_agrees(random_case(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 800, 100))
def test_many_random_kernels_do_as_well(first: int) -> None:
    assert [seed for seed in range(first, first + 100) if not il_agrees(random_case(seed))] == []


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda one: one.title)
def test_bugs_in_the_writer_are_seen(bug: PixelBug) -> None:
    assert found_by(bug) is not None


SOLID = """
kernel float at(float g[][][], int z, float v) { int4 i = instance(); return g[z][i.y][i.x] + v * (float)i.z; }
kernel void k(float a<>, float g[][][], float h[][], out float o<>, float s) { BODY }
"""
BODIES = (
    "int4 i = instance(); o = 100.0f * (float)i.z + 10.0f * (float)i.y + (float)i.x + s;",
    "int4 i = instance(); o = a * g[i.z][i.y][i.x];",
    "int4 i = instance(); o = g[(i.z + 1) % 3][3 - i.y][i.x] - g[2 - i.z][i.y][4 - i.x] + a;",
    "o = at(g, 1, s) + a;",
    "int4 i = instance(); float t = 0; int n; for (n = 0; n < 3; n++) { t += g[n][i.y][i.x]; } o = t + h[i.y][i.x];",
    "o = indexof(a).z * s + indexof(o).y - h[indexof(a).y][indexof(a).x];",
    "int4 i = instance(); o = i.z > 0 && i.y < 3 ? g[i.z - 1][i.y + 1][i.x] : s * (float)i.y;",
)


def solid_case(body: str) -> BrookCase:
    """Return a kernel whose threads lie in three layers of four rows of five."""
    arrays = {"a": numbers_in(1, 60), "g": numbers_in(2, 60), "h": numbers_in(3, 20), "o": np.zeros(60, "f4")}
    numbers = {"depth": 3, "g_width": 5, "g_height": 4, "h_width": 5, "s": 2.5}
    return BrookCase("", "k", arrays, numbers, (12, 5), ["o"], text=SOLID.replace("BODY", body))


@pytest.mark.parametrize("body", BODIES)
def test_layers_lie_below_each_other(body: str) -> None:
    assert il_agrees(solid_case(body))


def _other_division(real: Callable[..., object]) -> Callable[..., object]:
    return lambda self, i, axis: real(self, i, {"y": "z", "z": "y"}.get(axis, axis))


BROKEN: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "rows are taken for layers": lambda patch: patch.setattr(
        PixelInstructions, "_thread", _other_division(PixelInstructions._thread)
    ),
    "rows of layers are no place of the thread": lambda patch: patch.setattr(
        PixelSubscripts, "_row", lambda self, operand: axis_of(self.made, operand)
    ),
    "y in a layer is taken for the row": lambda patch: patch.setattr(
        PixelInstructions, "_is_along", lambda self, terms, axis: len(terms) == 1 and self.axes.get(terms[0]) == axis
    ),
}


@pytest.mark.parametrize("bug", BROKEN)
def test_bugs_in_layers_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BROKEN[bug](monkeypatch)

    def wrong(body: str) -> bool:
        try:
            return not il_agrees(solid_case(body))
        except InputError:
            return True

    assert any(map(wrong, BODIES))


def test_the_place_in_a_layer_takes_one_constant() -> None:
    made = written(SOLID.replace("BODY", BODIES[0]), "k")
    assert sorted(one.name for one in made.words) == ["height", "s"]
    program = parse(made.text)
    granted = ("cb0[0].x is a power of two", "cb0[0].y is a power of two")
    before, after = (compile_il(one, "r600").code.bundles for one in (program, optimize_il(program, granted).program))
    assert after < before


def test_functions_of_the_hardware_agree() -> None:
    value = "sin(a) + cos(a) * exp2(a) + log2(abs(a) + 1) + rsqrt(a * a + 1)"
    text = f"kernel void k(float a<>, out float o<>) {{ o = {value}; }}"
    arrays = {"a": numbers_in(5, 16), "o": np.zeros(16, "f4")}
    assert il_agrees(BrookCase("", "k", arrays, {}, (1, 16), ["o"], text=text))


def test_what_is_written_reads_back_as_the_same_program() -> None:
    for translated in (False, True):
        made = written(DOCUMENT, "bitonic", translated=translated)
        program = parse(made.text)
        assert not check_program(program) and print_il(program) == print_il(made.program)


def test_the_documents_kernel_beside_its_hand_written_program() -> None:
    """Ours keeps the floats of the kernel; by hand they became integers, and remainders masks."""
    ours = [parse(written(DOCUMENT, "bitonic", translated=one).text) for one in (False, True)]
    theirs = [parse(PLAIN), parse(TRANSLATED)]
    assert [compile_il(one, "r600").code.bundles for one in (*ours, *theirs)] == [14, 28, 10, 22]
    for program in ours:
        before = compile_il(program, "r600").code.bundles
        assert compile_il(optimize_il(program).program, "r600").code.bundles <= before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel void k(float a<>, out float o[]) { o[instance().x] = a; }", "o is written at any place"),
        ("kernel void k(float a<>, out float o<>) { o = exp(a); }", "AMD IL has no functions of mathematics"),
        ("kernel void k(double a<>, out double o<>) { o = a + 1; }", "64"),
        (
            "kernel void k(" + ", ".join(f"out float o{n}<>" for n in range(9)) + ") { o0 = 1; }",
            "k has 9 out streams, and pixel shaders 8",
        ),
    ],
)
def test_what_pixel_shaders_have_not_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        written(text, "k")


def test_rows_of_two_axes_are_not_translated() -> None:
    with pytest.raises(InputError, match="g has rows of its own"):
        written("kernel void k(float g[][], out float o<>) { o = g[0][0]; }", "k", translated=True)
