"""Launchers: blocks and grids, and what they pass on."""

from __future__ import annotations

from pathlib import Path

from tests.emit.device.test_kernel import text_of
from tests.emit.examples import lu
from tests.offload.hand import load
from warpsmith.emit.host.cuda import emit_cuda
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions


def launchers(text: str, folder: Path) -> str:
    program = load(text, folder)
    port = plan_port(program, analyze(program, PolyOptions()), OffloadOptions(), PolyOptions())
    return text_of(emit_cuda(program, port.program), "_kernels.cu")


def test_lu_is_launched_in_slices_where_a_grid_may_be_too_small() -> None:
    made = lu()
    text = text_of(emit_cuda(made.original, made.ported), "_kernels.cu")
    assert "if (count_i <= 0 || count_j <= 0)\n        return;" in text
    assert (
        "    for (long long first_y = 0; first_y < blocks_y; first_y += 65535) {\n"
        "        const long long left_y = blocks_y - first_y;\n"
    ) in text
    assert "(unsigned)(left_y < 65535 ? left_y : 65535)" in text
    assert ">>>(A_gpu, N, k, (unsigned)first_y);\n        WS_CHECK(cudaGetLastError());\n    }\n" in text


def test_few_threads_with_loops_are_spread_over_more_blocks(tmp_path: Path) -> None:
    body = "double s = 0; for (int j = 0; j < n; j++) s = s * a[j]; x[i] = s;"
    text = launchers(
        f"void f(int n, double *restrict x, const double *restrict a) {{ for (int i = 0; i < n; i++) {{ {body} }} }}",
        tmp_path,
    )
    assert (
        "    const unsigned threads = n < 32768 ? 32 : 256; // few threads are spread over more multiprocessors\n"
    ) in text
    assert "<<<(n + (threads - 1)) / threads, threads>>>" in text


def test_threads_without_loops_have_one_kind_of_block(tmp_path: Path) -> None:
    text = launchers("void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = i; }", tmp_path)
    assert "<<<(n + 255u) / 256, 256>>>" in text and "threads" not in text
