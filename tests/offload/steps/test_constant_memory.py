"""Constant memory: which arrays a kernel may have there, and what the plan and the port say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import answer, decided, refused
from warpsmith.base.verdict import Proved, Refuted
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.steps.constant_memory import ConstantMemory

BLUR = (
    "static double c[5], big[9000], d[9000]; void use(double *);\n"
    "void f(int n, double *restrict out, const double *restrict in, const double *restrict p) {"
    " for (int i = 2; i < n - 2; i++) { double s = 0; for (int k = 0; k < 5; k++) s += c[k] * in[i + k - 2];"
    " out[i] = s; } }"
)


def blur(changed: str, by: str) -> str:
    assert changed in BLUR
    return BLUR.replace(changed, by)


def test_a_table_that_is_only_read(tmp_path: Path) -> None:
    assert isinstance(answer(BLUR, ConstantMemory("f/i", ("c",)), tmp_path), Proved)
    local = blur("{ for (int i", "{ double w[3] = {1, 2, 3}; for (int i").replace("c[k]", "c[k] * w[k % 3]")
    assert isinstance(answer(local, ConstantMemory("f/i", ("c", "w")), tmp_path), Proved)
    (decision,) = decided(BLUR, tmp_path, ConstantMemory("f/i", ("c",)))
    assert (decision.kind, decision.arrays) == ("constant", ("c",))


@pytest.mark.parametrize(
    ("changed", "by", "arrays", "why"),
    [
        ("c[k] *", "c[k] *", (), "no arrays are named"),
        ("c[k] *", "c[k] *", ("q",), "the kernel uses no array q"),
        ("c[k] *", "c[k] *", ("n",), "n is no array"),
        ("c[k] *", "p[k] *", ("p",), "how large p is"),
        ("c[k] *", "c[k] *", ("out",), "may write out"),
        ("c[k] *", "big[k] *", ("big",), "65536 bytes, and big has 72000"),
        ("static double c[5]", "static double c[3000], e[6000]", ("c", "e"), "uses no array e"),
    ],
)
def test_what_cannot_lie_there(changed: str, by: str, arrays: tuple[str, ...], why: str, tmp_path: Path) -> None:
    assert why in refused(blur(changed, by), ConstantMemory("f/i", arrays), tmp_path).text


def test_all_kernels_share_constant_memory(tmp_path: Path) -> None:
    text = (
        "static double c[5000], d[5000]; void f(int n, double *restrict x) {"
        " for (int i = 0; i < n; i++) x[i] += c[i % 5]; for (int i = 0; i < n; i++) x[i] *= d[i % 5]; }"
    )
    from tests.poly.programs import load
    from warpsmith.poly.analyze import Facts
    from warpsmith.poly.facts import PolyOptions

    program = load(text, tmp_path)
    first = ConstantMemory("f/i", ("c",))
    assert isinstance(first.check(program, Facts.about(program, PolyOptions())), Proved)
    program = first.apply(program)
    verdict = ConstantMemory("f/i#2", ("d",)).check(program, Facts.about(program, PolyOptions()))
    assert not isinstance(verdict, Proved) and "all kernels together" in verdict.reasons[0].text


def test_loops_that_become_no_kernel(tmp_path: Path) -> None:
    carried = blur("out[i] = s;", "out[i] = s + out[i - 1] * out[i - 1];")
    assert isinstance(answer(carried, ConstantMemory("f/i", ("c",)), tmp_path), Refuted)
    assert "inside a thread" in refused(BLUR, ConstantMemory("f/i/k", ("c",)), tmp_path).text


def test_the_port(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(BLUR)
    made = port([str(path)], PortOptions(steps=False, verify=False, chosen=(ConstantMemory("f/i", ("c",)),)))
    assert made.plan is not None
    (fragment,) = made.plan.fragments
    assert [(one.array, one.bytes, one.uniform) for one in fragment.constants] == [("c", 40, True)]
    text = next(file.text for file in made.files if file.path.endswith(".cu"))
    assert "__constant__ double c_constant[5];\n" in text
    assert "s += c_constant[k] * in_gpu[i + k - 2];" in text
    copy = "cudaMemcpyToSymbol(c_constant, c_gpu, sizeof(c_constant), 0, cudaMemcpyDeviceToDevice)"
    assert text.index(copy) < text.index("<<<") and "kernel(double *__restrict__" not in text
