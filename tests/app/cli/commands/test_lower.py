"""`warpsmith lower`: a program on standard output, or the line that cannot be one."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

EXAMPLES = Path(__file__).parents[4] / "examples"


def call(capsys: pytest.CaptureFixture[str], *words: str, to: tuple[str, ...] = ("mask",)) -> tuple[int, str, str]:
    code = run_guarded(warpsmith, ["lower", *words, *(word for target in to for word in ("--to", target))])
    done = capsys.readouterr()
    return code, done.out, done.err


def test_a_kernel_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, str(EXAMPLES / "manual" / "countdown.cu"))
    assert (code, err) == (0, "")
    assert out.startswith("; countdown: a launch of 1 dimension\n; t0, u0: v, one buffer\n")
    assert out.endswith("    ret\n")


def test_a_kernel_that_cannot_be_is_refused_at_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, str(EXAMPLES / "transpose.cu"), "--kernel", "tiled")
    assert (code, out) == (2, "")
    assert "transpose.cu:12:22: error[MSK007] the mask ISA has no shared memory: tile" in err


def test_a_kernel_is_written_for_amd_with_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, str(EXAMPLES / "manual" / "halve.cu"), to=("gcn",))
    assert (code, err) == (0, "")
    assert "    ; halve.cu:6: if (v[i] < 0.0f)\n" in out
    assert "s_and_saveexec_b64" in out


def test_a_kernel_is_written_as_amd_il_and_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = call(capsys, str(EXAMPLES / "reduction.cu"), to=("il",))
    assert (code, err) == (0, "")
    assert "\nil_cs_2_0\n" in out and "fence_threads_memory_lds" in out
    path = tmp_path / "sum.il"
    path.write_text(out)
    words = [
        "simulate",
        str(path),
        "--block",
        "32",
        "--grid",
        "1",
        "--arg",
        "uav0=zeros:i32[1]",
        "--arg",
        "uav1=iota:i32[32]",
    ]
    code = run_guarded(warpsmith, words)
    assert code == 0 and "uav0  i32[1], 1 changed: 496" in capsys.readouterr().out


def test_what_il_has_not_is_refused_at_its_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(double *a) {\n    a[threadIdx.x] *= 2.0;\n}\n")
    code, out, err = call(capsys, str(path), to=("il",))
    assert (code, out) == (2, "") and "k.cu:2:5: error[TGT001] AMD IL has words of 32 bits, and this is f64" in err


def test_targets_stand_side_by_side_on_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, str(EXAMPLES / "manual" / "halve.cu"), "--format", "html", to=("llvm", "ptx"))
    assert code == 0
    assert out.startswith("<!doctype html>")
    assert "ptx sm_80" in out


def test_an_architecture_that_no_target_has(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, str(EXAMPLES / "manual" / "halve.cu"), "--arch", "gfx1", to=("gcn",))
    assert (code, out) == (2, "")
    assert "gfx900, gfx90a, gfx942, gfx1030, gfx1100" in err


def test_a_page_goes_to_its_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "halve.html"
    code, out, err = call(capsys, str(EXAMPLES / "manual" / "halve.cu"), "--format", f"html={page}", to=("gcn",))
    assert (code, out, err) == (0, "", "") and "s_and_saveexec_b64" in page.read_text()
    code, out, err = call(capsys, str(EXAMPLES / "manual" / "halve.cu"), "--format", "pdf", to=("gcn",))
    assert (code, out) == (2, "") and "no format is called 'pdf'" in err


def test_the_kernel_that_a_loop_becomes_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "double.c"
    path.write_text(
        "void f(int n, float *a) { for (int i = 0; i < n; i++) a[i] *= 2; }\n#ifdef TWO\n"
        "void g(int n, float *a) { for (int i = 0; i < n; i++) a[i] += 2; }\n#endif\n"
    )
    code, out, err = call(capsys, str(path), to=("ptx",))
    assert (code, err) == (0, "") and ".entry ws_f_k1_kernel(" in out and "double_kernels.cu:" in out
    code, out, err = call(capsys, str(path), "-DTWO", to=("ptx",))
    assert (code, out) == (2, "") and "ws_f_k1 of f/i; ws_g_k1 of g/i" in err
    code, out, err = call(capsys, str(path), "-DTWO", "--loop", f"{path}:3", to=("ptx",))
    assert (code, err) == (0, "") and ".entry ws_g_k1_kernel(" in out
    code, out, err = call(capsys, str(EXAMPLES / "manual" / "halve.cu"), "--loop", "f/i", to=("ptx",))
    assert (code, out) == (2, "") and "--loop names a loop of C or C++" in err


def test_a_constant_of_brook_is_passed_as_its_exponent(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = str(EXAMPLES / "brook" / "bitonic.br")
    code, out, err = call(capsys, path, "--encode", "sort_pass.width", "--encode", "sort_pass.period", to=("brook",))
    assert (code, err) == (0, "") and "int width_exponent" in out and "int main()" in out
    (tmp_path / "shifts.br").write_text(out)
    assert run_guarded(warpsmith, ["simulate", str(tmp_path / "shifts.br")]) == 0
    assert "values  f32[16]: 0 1 2 3 4 5 6 7 …" in capsys.readouterr().out
    code, out, err = call(capsys, path, "--encode", "sort_pass.width", to=("il",))
    assert (code, err) == (0, "") and "ishr" in out
    code, out, err = call(capsys, str(EXAMPLES / "manual" / "halve.cu"), "--encode", "halve.n", to=("il",))
    assert (code, out) == (2, "") and "it takes a .br file" in err
