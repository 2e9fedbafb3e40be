"""PTX becomes the kernel IR: every kind of statement, code that compilers made, and files that are broken."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.read import read_ptx
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import (
    ASYNCHRONOUS,
    Barrier,
    Branch,
    Constant,
    Exit,
    Function,
    Instruction,
    Limits,
    Memory,
    Module,
    Switch,
    Undefined,
)
from warpsmith.ssa.text import print_function, print_module
from warpsmith.ssa.types import F32
from warpsmith.ssa.verify import faults

FEATURES = Path(__file__).parent / "features.ptx"
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"


def _read(text: str) -> tuple[Module, tuple[Finding, ...]]:
    return read_ptx(SourceFile("t.ptx", text))


def _kernel(
    body: str, registers: str = ".reg .b32 %r<9>; .reg .pred %p<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;"
) -> Function:
    module, findings = _read(f"{HEADER}.entry k(.param .u64 a, .param .u32 n) {{ {registers}\n{body}\n}}")
    assert not findings, [finding.message for finding in findings]
    (function,) = module.functions
    assert not faults(function)
    return function


def _ops(function: Function) -> list[str]:
    return [instruction.op for _, instruction in function.instructions()]


def _only(function: Function, op: str) -> Instruction:
    (found,) = (instruction for _, instruction in function.instructions() if instruction.op == op)
    return found


@pytest.fixture(scope="module")
def features() -> Module:
    module, findings = read_ptx(SourceFile.read(str(FEATURES)))
    assert [finding.message for finding in findings] == []
    return module


def test_a_file_with_everything_is_read_and_well_formed(features: Module) -> None:
    assert [faults(function) for function in features.functions] == [()] * 4
    assert [symbol.name for symbol in features.symbols] == ["table", "counter", "dynamic"]
    assert features.symbols[0].initial[-1] == 255 and features.symbols[2].count == 0
    kernel = features.function("features")
    assert kernel is not None
    assert kernel.limits == Limits(most_threads=256, least_blocks=3)
    assert [(s.name, s.space, s.bytes) for s in kernel.symbols] == [("tile", "shared", 512), ("depot", "local", 32)]
    assert "unmodeled" not in _ops(kernel)


def test_predicates_become_branches_that_say_so(features: Module) -> None:
    kernel = features.function("features")
    assert kernel is not None
    branches = [b.terminator for b in kernel.blocks if isinstance(b.terminator, Branch)]
    assert [branch.predicated for branch in branches] == [True, True, False, True, False]
    assert [branch.uniform for branch in branches] == [False, False, False, False, True]
    assert sum(isinstance(block.terminator, Exit) for block in kernel.blocks) == 2
    (switch,) = (block.terminator for block in kernel.blocks if isinstance(block.terminator, Switch))
    assert (switch.cases, switch.other, switch.uniform) == (((0, "$one"), (1, "$two")), "$three", True)
    assert Graph.of(kernel).cycles


def test_memory_operands_say_space_offset_and_width(features: Module) -> None:
    kernel = features.function("features")
    assert kernel is not None
    loads = [i for _, i in kernel.instructions() if i.op == "load"]
    assert [i.detail for i in loads][:2] == [
        Memory("global", 8, 8, cached="read only"),
        Memory("shared", 5, 1, order="volatile"),
    ]
    assert len(loads[0].results) == 2
    (store,) = (i for _, i in kernel.instructions() if i.op == "store" and len(i.operands) == 5)
    assert store.detail == Memory("global", -16, 16)


def test_what_goes_to_a_call_and_what_comes_back(features: Module) -> None:
    kernel = features.function("features")
    assert kernel is not None
    calls = [i for _, i in kernel.instructions() if i.op == "call"]
    assert [(len(i.operands), len(i.results)) for i in calls] == [(1, 1), (1, 1), (3, 1)]
    assert calls[1].result.type == F32


def test_a_loop_has_a_phi_and_registers_keep_their_names() -> None:
    function = _kernel("mov.u32 %r1, 0;\n$top: add.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra $top;\nret;")
    (phi,) = (phi for block in function.blocks for phi in block.phis)
    assert phi.result.name == "r1"


def test_a_register_that_was_never_written_is_undefined() -> None:
    function = _kernel("ld.param.u64 %rd1, [a];\nst.global.u32 [%rd1], %r5;\nret;")
    assert isinstance(_only(function, "store").operands[1], Undefined)


def test_small_loads_are_extended_as_their_type_says() -> None:
    function = _kernel("ld.param.u64 %rd1, [a];\nld.global.s8 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\nret;")
    assert "sext" in _ops(function) and "zext" not in _ops(function)


def test_a_barrier_that_only_arrives_does_not_wait() -> None:
    function = _kernel("bar.arrive 1, 64;\nret;")
    assert _only(function, "barrier").detail == Barrier(waits=False)


def test_lines_are_the_source_files_where_it_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("first\n  second line\n")
    ptx = tmp_path / "k.ptx"
    body = ".reg .b32 %r<3>;\n.loc 1 2 3\nmov.u32 %r1, %tid.x;\n.loc 2 1 1\nadd.s32 %r2, %r1, 1;\nbar.sync %r2;\nret;"
    ptx.write_text(f'{HEADER}.file 1 "k.cu"\n.file 2 "gone.cu"\n.entry k() {{ {body} }}')
    module, _ = read_ptx(SourceFile.read(str(ptx)))
    spans = [i.span for _, i in module.functions[0].instructions()]
    assert spans[0] is not None and spans[0].text == "second line"
    assert spans[1] is not None and spans[1].text == "add.s32 %r2, %r1, 1"


def test_a_line_of_a_library_is_the_call_that_the_user_wrote(tmp_path: Path) -> None:
    library = tmp_path / "cccl" / "cub"
    library.mkdir(parents=True)
    for file in (tmp_path / "k.cu", tmp_path / "own.cuh", library / "scan.cuh"):
        file.write_text("".join(f"{file.name} {line}\n" for line in range(1, 10)))
    inlined = [
        (".loc 1 6 1", "k.cu 6"),
        (".loc 3 1 1, function_name $a, inlined_at 1 6 1", "k.cu 6"),
        (".loc 3 2 1, function_name $b, inlined_at 3 1 1", "k.cu 6"),
        (".loc 3 2 1, function_name $c, inlined_at 3 2 1", "k.cu 6"),  # a template that calls itself
        (".loc 4 9 1, function_name $d, inlined_at 3 2 1", "k.cu 6"),  # a header that is nowhere
        (".loc 2 3 1, function_name $e, inlined_at 1 7 1", "own.cuh 3"),
        (".loc 3 1 1, function_name $a, inlined_at 2 3 1", "own.cuh 3"),
        (".loc 3 2 1, function_name $b, inlined_at 3 1 1", "own.cuh 3"),
    ]
    body = "".join(f"{line}\nmov.u32 %r1, %tid.x;\n" for line, _ in inlined)
    named = enumerate(("k.cu", "own.cuh", "cccl/cub/scan.cuh", "gone.h"), 1)
    files = "".join(f'.file {number} "{name}"\n' for number, name in named)
    ptx = tmp_path / "k.ptx"
    ptx.write_text(f"{HEADER}{files}.entry k() {{ .reg .b32 %r<3>;\n{body}ret; }}")
    module, _ = read_ptx(SourceFile.read(str(ptx)))
    spans = [i.span for _, i in module.functions[0].instructions() if i.op != "return"]
    assert [span.text for span in spans if span is not None] == [text for _, text in inlined]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("frobnicate.b32 %r1, %r2; st.global.u32 [%rd1], %r1; ret;", "frobnicate is not known"),
        ("add.s32 %r1, %r77, 1; ret;", "there is no register called %r77"),
        ("mov.u32 %r1, nothing; ret;", "called nothing"),
        ("bra $nowhere;", "there is no label $nowhere"),
        ("add.s32 %r1; ret;", "operands and needs"),
        ("setp.s32 %p1, %r1, 0; ret;", "names no comparison"),
        ("add.s32 %p1, %r1, 0; ret;", "predicate"),
        ("ld.global.u32 %r1, %rd1; ret;", "is not an address"),
    ],
)
def test_an_instruction_that_makes_no_sense_is_blamed_and_the_rest_is_read(body: str, message: str) -> None:
    module, findings = _read(f"{HEADER}.entry k() {{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n{body} }}")
    assert any(message in finding.message for finding in findings), [f.message for f in findings]
    assert all(finding.span is not None and finding.span.line == 5 for finding in findings)
    assert not faults(module.functions[0])


def test_a_file_that_ends_early_gives_what_there_is() -> None:
    text = FEATURES.read_text()
    for length in range(0, len(text), 211):
        module, findings = _read(text[:length])
        assert all(not faults(function) for function in module.functions)
        assert findings or length > len(text) - 211 or "{" not in text[:length]


def test_noise_gives_diagnostics_and_no_crash() -> None:
    chosen = random.Random(5)
    text = FEATURES.read_text()
    for _ in range(25):
        letters = list(text)
        for _ in range(chosen.randint(1, 30)):
            letters[chosen.randrange(len(letters))] = chr(chosen.randrange(256))
        module, _ = _read("".join(letters))
        print_module(module)
    noise = "".join(chr(chosen.randrange(256)) for _ in range(20_000))
    assert _read(noise)[1]


@pytest.mark.slow
def test_long_code_is_read_in_linear_time_and_depth() -> None:
    steps = "\n".join(
        f"setp.eq.s32 %p1, %r1, {n};\n@%p1 bra $L{n};\nadd.s32 %r2, %r2, {n};\n$L{n}:" for n in range(2000)
    )
    function = _kernel(
        f"mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n{steps}\nld.param.u64 %rd1, [a];\nst.global.u32 [%rd1], %r2;\nret;"
    )
    assert len(function.blocks) > 4000
    assert print_function(function)


def test_a_function_whose_address_is_taken_is_a_number_of_its_own() -> None:
    text = f"""{HEADER}.func f() {{ ret; }}
.func g() {{ ret; }}
.entry k(.param .u64 a) {{ .reg .b64 %rd<4>; mov.u64 %rd1, f; mov.u64 %rd2, g; st.global.u64 [%rd1], %rd2; }}"""
    module, findings = _read(text)
    assert not findings
    kernel = module.function("k")
    assert kernel is not None
    address, value = _only(kernel, "store").operands
    assert isinstance(address, Constant) and isinstance(value, Constant) and address.bits != value.bits


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("bar.sync 0; st.global.u32 [%rd1], %r1;", "the file ends inside of this function"),
        ("@%p1 bra nowhere; bar.sync 0;", "bra: there is no label nowhere"),
        ("bra.uni nowhere;", "bra.uni: there is no label nowhere"),
    ],
)
def test_what_is_not_in_the_file_may_do_anything(body: str, message: str) -> None:
    registers = ".reg .b32 %r<9>; .reg .pred %p<9>; .reg .b64 %rd<9>;"
    end = "" if "ends" in message else "ret; }"
    module, findings = _read(f"{HEADER}.entry k() {{ {registers} {body} {end}")
    assert message in [finding.message for finding in findings]
    (kernel,) = module.functions
    assert not faults(kernel)
    assert "unmodeled" in _ops(kernel)


def test_what_a_broken_instruction_writes_is_unknown() -> None:
    registers = ".reg .b32 %r<9>; .reg .pred %p<9>; .reg .b64 %rd<9>;"
    body = "mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 1; @%p1 add.s32 %r1, %r2; st.global.u32 [%rd1], %r1; ret;"
    module, findings = _read(f"{HEADER}.entry k() {{ {registers} {body} }}")
    assert [finding.message for finding in findings] == ["add.s32: add.s32 has 2 operands and needs 3"]
    (kernel,) = module.functions
    assert not faults(kernel)
    (store,) = (block for block in kernel.blocks if any(i.op == "store" for i in block.instructions))
    unknown = _only(kernel, "unmodeled").results[0]
    assert unknown in [value for phi in store.phis for _, value in phi.incoming]


def test_what_is_not_modeled_is_said_once_a_kernel() -> None:
    registers = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;"
    body = (
        "cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group; mbarrier.arrive.shared.b64 %rd2, [%r1];"
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]; ret;"
    )
    module, findings = _read(f"{HEADER}.entry k() {{ {registers} {body} }}")
    said = f"not modeled: {ASYNCHRONOUS}, mbarrier; what comes of them is taken for unknown"
    assert [(f.rule, f.severity, f.message) for f in findings] == [("INP006", "note", said)]
    # a texture is changed by no thread: what it gives is a function of the place
    assert _only(module.functions[0], "lanewise").operands[1:]
    assert _ops(module.functions[0]).count("unmodeled") == 2
