"""Kernels that the parser cannot take are analyzed as PTX, on the user's lines and under the user's names."""

from __future__ import annotations

import pytest

from warpsmith.base.findings import Finding
from warpsmith.base.nvidia import has_nvrtc
from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.front.cuda.nvrtc import PtxText
from warpsmith.kernels import ptx_kernels
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.settings.read import Wanted, read_settings
from warpsmith.ssa.nodes import Param

TEXT = """\
__device__ int f(int x) { return __newest_of_all(x); }
__global__ void wide(int *data, int n)
{
    data[32 * threadIdx.x] = n;
    __newer_than_that();
}
__global__ void part(int *data) { data[threadIdx.x] = f(2); }
__global__ void fine(int *data) { data[threadIdx.x] = 1; }
int main() { wide<<<200, 64>>>(0, 1); }
"""
ENTRY = """.visible .entry {name}(.param .u64 {name}_param_0{more})
{{
    .reg .b32 %r<4>; .reg .b64 %rd<5>;
    .loc 1 {line} 5
    ld.param.u64 %rd1, [{name}_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, {stride};
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}}
"""
PTX = (
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    + ENTRY.format(name="_Z4widePii", more=", .param .u32 _Z4widePii_param_1", line=4, stride=128)
    + ENTRY.format(name="_Z4partPi", more="", line=7, stride=4)
    + '.file 1 "n.cu"\n'
)
MADE = PtxText(PTX, {"wide": "_Z4widePii", "part": "_Z4partPi"}, ())


def _unit(monkeypatch: pytest.MonkeyPatch, answer: PtxText | Finding) -> KernelUnit:
    monkeypatch.setattr(ptx_kernels, "compile_to_ptx", lambda *_: answer)
    unit = read_unit(KernelFile("n.cu", text=TEXT))
    assert isinstance(unit, KernelUnit)
    return unit


def test_they_have_the_names_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = _unit(monkeypatch, MADE)
    kernels = {f.name: [p.name for p in f.parameters] for f in unit.module.functions if f.kernel and f.blocks}
    assert kernels == {"wide": ["data", "n"], "part": ["data"], "fine": ["data"]}
    assert unit.launches["wide"].block == (64, 1, 1)
    said = [(f.rule, f.severity) for f in unit.findings]
    assert said == [("INP001", "note"), ("INP001", "note"), ("INP008", "note"), ("INP008", "note")]


def test_their_findings_are_on_lines_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptx_kernels, "compile_to_ptx", lambda *_: MADE)
    options = ExplainOptions(read_settings(Wanted({}, files=False, environment=False)))
    report = explain([KernelFile("n.cu", text=TEXT)], options)
    (found,) = (one.finding for one in report.findings if one.finding.rule == "MEM001")
    assert found.span is not None and (found.span.file.path, found.span.line, found.kernel) == ("n.cu", 4, "wide")
    assert found.message.startswith("uncoalesced store to data")
    assert len(report.kernels) == 3 and {one.severity for one in report.diagnostics} == {"note"}


def test_where_nothing_can_compile_them_the_parser_has_the_word(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = _unit(monkeypatch, Finding("INP001", "error", "NVRTC refuses it"))
    assert [f.name for f in unit.module.functions if f.kernel and f.blocks] == ["part", "fine"]
    assert [f.severity for f in unit.findings if f.rule == "INP001"] == ["error", "error", "note"]
    assert [f.rule for f in unit.findings if f.severity == "warning"] == ["INP006"]


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
def test_nvrtc_makes_them() -> None:
    text = "__global__ void k(int *a, int n)\n{\n    a[16 * threadIdx.x] = __vimax3_s32(1, 2, n);\n}\n"
    unit = read_unit(KernelFile("n.cu", text=text))
    assert isinstance(unit, KernelUnit)
    (kernel,) = (f for f in unit.module.functions if f.kernel)
    assert {i.span.line for _, i in kernel.instructions() if i.span is not None and i.op == "store"} == {3}


def test_members_of_a_struct_are_read_where_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """struct Pair { int low, high; };
__global__ void wide(int *data, Pair p) { data[threadIdx.x] = p.low + p.high; __newest_of_all(); }
"""
    ptx = """.version 8.0
.target sm_80
.address_size 64
.visible .entry wide(.param .u64 wide_param_0, .param .align 4 .b8 wide_param_1[8])
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [wide_param_0];
    ld.param.u32 %r1, [wide_param_1];
    ld.param.u32 %r2, [wide_param_1+4];
    add.s32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
"""
    monkeypatch.setattr(ptx_kernels, "compile_to_ptx", lambda *_: PtxText(ptx, {"wide": "wide"}, ()))
    unit = read_unit(KernelFile("n.cu", text=text))
    assert isinstance(unit, KernelUnit)
    (kernel,) = (f for f in unit.module.functions if f.kernel)
    read = [i.detail for block in kernel.blocks for i in block.instructions if isinstance(i.detail, Param)]
    assert read == [Param("data"), Param("p"), Param("p", 4)]
