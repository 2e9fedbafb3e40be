"""Rules that speak of what compilers made: calls that are left (OCC007), registers that are spilled (OCC006)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from warpsmith.analysis.resources.resources import CompilerFigures
from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.flows.explaining import registers
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile
from warpsmith.settings.read import Wanted, read_settings

HEAD = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) outside(.param .b32 x);
.func (.param .b32 r) leaf(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) chain(.param .b32 x) { .reg .b32 %a<3>; ld.param.b32 %a1, [x];
    { .param .b32 p; st.param.b32 [p], %a1; .param .b32 q; call.uni (q), leaf, (p); ld.param.b32 %a2, [q]; }
    st.param.b32 [r], %a2; ret; }
"""
KERNEL = """.visible .entry k(.param .u64 out) { .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
"""


def _call(name: str) -> str:
    given = ".param .b32 p; st.param.b32 [p], %r1; .param .b32 q;"
    return f"{{ {given} call.uni (q), {name}, (p); ld.param.b32 %r2, [q]; }}"


def _found(body: str, rule: str, *, ptxas: bool = False) -> Sequence[tuple[str, str]]:
    text = f"{HEAD}{KERNEL}{body}\n st.global.u32 [%rd1], %r2; ret; }}\n"
    settings = read_settings(Wanted({}, files=False, environment=False))
    report = explain([KernelFile("k.ptx", text=text)], ExplainOptions(settings, Launching((64, 1, 1)), ptxas=ptxas))
    assert not report.diagnostics, report.diagnostics[0].message
    told = [one.finding for one in report.findings if one.finding.rule == rule]
    return [(one.message, one.certainty) for one in told]


LOOP = "L: {call} add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 9; @%p1 bra L;"


@pytest.mark.parametrize(
    ("body", "callees"),
    [
        (_call("leaf"), ["leaf"]),
        (_call("chain"), ["chain"]),
        (f"mov.u32 %r3, 0; {LOOP.format(call=_call('leaf'))} {_call('chain')}", ["leaf", "chain"]),
        (_call("outside"), []),
        ("mov.u32 %r2, 3;", []),
        ("bra E; " + _call("leaf") + " E:", []),
    ],
    ids=["call", "chain", "loop", "no text", "none", "never reached"],
)
def test_calls_that_are_left(body: str, callees: list[str]) -> None:
    found = _found(body, "OCC007")
    assert [message.split()[0] for message, _ in found] == callees
    assert {certainty for _, certainty in found} <= {"proven"}


@pytest.mark.parametrize(
    ("compiled", "count"),
    [
        (CompilerFigures(200, 4), 1),
        (CompilerFigures(255, 32), 1),
        (CompilerFigures(32, 4096, 64), 1),
        (CompilerFigures(200, 0, 16), 0),
        (CompilerFigures(255, 0), 0),
        (None, 0),
    ],
    ids=["a word", "many", "with shared memory", "none", "many registers", "not asked"],
)
def test_registers_that_are_spilled(
    compiled: CompilerFigures | None, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registers, "assemble_ptx", lambda *_: {"k": compiled})
    found = _found("", "OCC006", ptxas=compiled is not None)
    assert len(found) == count
    assert all(certainty == "proven" and " bytes of registers" in message for message, certainty in found)


ARRAY = """.shared .align 4 .b8 _ZZ1kPfE1s[256];
    mul.wide.u32 %rd2, %r1, 8; mov.u64 %rd3, _ZZ1kPfE1s; add.s64 %rd4, %rd3, %rd2; st.shared.u32 [%rd4], %r1;"""


def test_arrays_are_found_under_the_names_that_compilers_give_them() -> None:
    ((message, certainty),) = _found(ARRAY, "MEM020")
    assert message.startswith("store to s outside of its 256 bytes") and certainty == "proven"
    assert _found(ARRAY.replace("%r1, 8", "%r1, 4"), "MEM020") == []
