"""LOWER: a file goes in, text comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.source import SourceFile
from warpsmith.flows.lower import kernel_of_loop, lower_kernel, lower_to
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.il.read import parse_il
from warpsmith.front.load import FrontOptions
from warpsmith.kernels.units import KernelFile
from warpsmith.simt.mask.assembler import assemble

MANUAL = Path(__file__).parents[2] / "examples" / "manual"


def test_a_kernel_becomes_a_program() -> None:
    made = lower_kernel(KernelFile(str(MANUAL / "countdown.cu")), "")
    assert assemble(SourceFile("k.mask", made.text)).registers == 2


def test_a_kernel_that_is_not_there_and_a_file_that_is_not() -> None:
    with pytest.raises(UsageError):
        lower_kernel(KernelFile(str(MANUAL / "countdown.cu")), "no")
    with pytest.raises(InputError):
        lower_kernel(KernelFile(str(MANUAL / "none.cu")), "")


def test_a_kernel_becomes_text_of_several_machines() -> None:
    made = lower_to(KernelFile(str(MANUAL / "halve.cu")), "", ("gcn", "avx512"), ("gfx1030",))
    assert [column.title for column in made.columns] == ["gcn gfx1030", "avx512 skylake-avx512"]
    texts = [column.listing.text for column in made.columns if column.listing is not None]
    assert all("halve.cu:7: v[i] = v[i] / 2.0f;" in text for text in texts)
    assert "v_mul_f32" in texts[0]
    assert "vmulps" in texts[1]


def test_a_target_that_refuses_is_a_column_unless_all_do() -> None:
    shared = KernelFile(str(MANUAL.parent / "reduction.cu"))
    mask, llvm = lower_to(shared, "", ("mask", "llvm")).columns
    assert mask.listing is None
    assert mask.refused is not None
    assert mask.refused.rule == "MSK007"
    assert llvm.listing is not None
    with pytest.raises(InputError, match="shared memory"):
        lower_to(shared, "", ("mask",))


def test_a_kernel_becomes_a_program_of_amd_il() -> None:
    (column,) = lower_to(KernelFile(str(MANUAL / "countdown.cu")), "", ("il",)).columns
    assert column.title == "il" and column.listing is not None
    text = column.listing.text
    assert "\n    ; countdown.cu:6: " in text
    program = parse_il(SourceFile("k.il", text))
    assert program.kind == "cs" and list(program.uavs) == [0]
    places = {(line.file.path, line.line) for line in column.listing.lines if line.file is not None}
    assert {Path(path).name for path, _ in places} == {"countdown.cu"}


def test_an_architecture_of_no_target_is_an_error() -> None:
    with pytest.raises(UsageError, match="gfx900 is of no target"):
        lower_to(KernelFile(str(MANUAL / "halve.cu")), "", ("ptx",), ("gfx900",))


BROOK = MANUAL.parent / "brook" / "bitonic.br"


def test_a_kernel_over_streams_becomes_pseudo_code_and_a_pixel_shader() -> None:
    pseudo, il = lower_to(KernelFile(str(BROOK)), "", ("pseudo", "il")).columns
    assert pseudo.listing is not None and il.listing is not None
    assert "r4 = r3 ? 1 : -1" in pseudo.listing.text
    assert "// bitonic.br:9: float side = (fmod(here, period) < distance) ? 1.0f : -1.0f;" in pseudo.listing.text
    program = parse_il(SourceFile("k.il", il.listing.text))
    assert program.kind == "ps" and program.resources[0].axes == 1
    (rows,) = lower_to(KernelFile(str(BROOK)), "", ("il",), ("translated",)).columns
    assert rows.title == "il translated" and rows.listing is not None
    assert parse_il(SourceFile("k.il", rows.listing.text)).resources[0].axes == 2


def test_other_kernels_have_no_streams_to_translate() -> None:
    with pytest.raises(InputError, match="has no streams"):
        lower_to(KernelFile(str(MANUAL / "countdown.cu")), "", ("il",), ("translated",))


LOOPS = """void scale(int n, int *a) { for (int i = 0; i < n; i++) a[i] = 3 * a[i] + i; }
void product(int n, float (*restrict C)[n], float (*restrict A)[n], float (*restrict B)[n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
        }
}
int last(int n, int *a) { int x = 0; for (int i = 0; i < n; i++) { x = (x * x + a[i]) % 97; a[i] = x; } return x; }
"""


@pytest.fixture
def loops(tmp_path: Path) -> str:
    path = tmp_path / "loops.c"
    path.write_text(LOOPS)
    return str(path)


@pytest.mark.parametrize(("loop", "name"), [("scale/i", "ws_scale_k1"), ("product/i", "ws_product_k1")])
def test_a_loop_becomes_what_its_port_becomes(loops: str, loop: str, name: str, tmp_path: Path) -> None:
    """The kernel that `port` writes is read from its file as the kernel of the loop is."""
    of_loop = instructions(*kernel_of_loop(loops, FrontOptions(), loop, ""))
    written = port([loops], PortOptions(loops=(loop,), verify=False)).files
    (device,) = [file for file in written if file.path.endswith("_kernels.cu")]
    (tmp_path / "written.cu").write_text(device.text.replace('#include "loops_kernels.h"', ""))
    assert of_loop == instructions(KernelFile(str(tmp_path / "written.cu")), f"{name}_kernel*")
    assert len(of_loop) > 20


def instructions(file: KernelFile, kernel: str) -> list[str]:
    (column,) = lower_to(file, kernel, ("gcn",)).columns
    assert column.listing is not None
    lines = (line.text.strip() for line in column.listing.lines)
    return [line for line in lines if line and not line.startswith((";", ".", "-"))]


def test_a_loop_is_a_program_of_masks(loops: str) -> None:
    made = lower_kernel(*kernel_of_loop(loops, FrontOptions(), "", "ws_scale_k1"))
    assert "; t0, u0: a_gpu, one buffer" in made.text and assemble(SourceFile("k.mask", made.text)).registers > 1


def test_one_of_several_loops_must_be_named(loops: str) -> None:
    with pytest.raises(UsageError) as caught:
        kernel_of_loop(loops, FrontOptions(), "", "")
    (finding,) = caught.value.findings
    assert "becomes 2 kernels" in finding.message and "ws_scale_k1 of scale/i" in finding.help[0]
    with pytest.raises(UsageError, match=r"no kernel of .* is called .other."):
        kernel_of_loop(loops, FrontOptions(), "", "other")


def test_a_loop_that_becomes_no_kernel_is_refused_with_its_reason(loops: str) -> None:
    with pytest.raises(InputError) as caught:
        kernel_of_loop(loops, FrontOptions(), "last/i", "")
    assert caught.value.findings[0].severity == "error" and "last/i" in caught.value.findings[0].message
