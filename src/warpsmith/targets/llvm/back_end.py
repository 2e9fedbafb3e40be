"""LLVM reads what was written, verifies it, makes it shorter, and writes the text of a machine: in a process of its
own, since what LLVM cannot select ends the process.

    {LLVM IR, triple, processor, features, passes}  ──JSON──►  worker  ──JSON──►  {LLVM IR after the passes, text}

The passes are few: values in registers, what is the same computed once. Branches and loops stay as they are, so that
each line of the text is one of the user's, and a branch is what the machine makes of branches."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

import warpsmith
from warpsmith.ssa.nodes import Function
from warpsmith.targets.llvm.refused import refuse

__all__ = ["PASSES", "BackEnd", "LlvmText", "answer", "main", "write_text"]

PASSES: Final = ("sroa", "instruction_combine", "new_gvn", "instruction_combine", "aggressive_dce")
_LIMIT_S: Final = 120.0


class BackEnd(Struct, frozen=True):
    """A target of LLVM's: `triple`, `processor` and its `features`; `passes` that make the code shorter."""

    triple: str
    processor: str
    features: str = ""
    passes: tuple[str, ...] = PASSES


class LlvmText(Struct, frozen=True):
    """LLVM IR as it is after the passes, and the text of the machine."""

    ir: str
    text: str


def write_text(text: str, end: BackEnd, kernel: Function) -> LlvmText:
    """Return what LLVM makes of LLVM IR; raises InputError where its back end cannot."""
    question = json.dumps([text, end.triple, end.processor, end.features, end.passes])
    package = str(Path(warpsmith.__file__).resolve().parents[1])
    start = f"import sys; sys.path.insert(0, {package!r}); from warpsmith.targets.llvm.back_end import main; main()"
    try:
        done = subprocess.run(
            [sys.executable, "-c", start], input=question, text=True, capture_output=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise refuse(f"LLVM took more than {_LIMIT_S:.0f} s for {kernel.name}", kernel.span) from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        said = next((line for line in lines if line.startswith("LLVM ERROR")), lines[-1])
        raise refuse(f"LLVM cannot write {kernel.name} for {end.processor}: {said[:200]}", kernel.span)
    ir, assembly = json.loads(done.stdout)
    return LlvmText(ir, assembly)


def main() -> None:
    """Answer one question: the worker."""
    text, triple, processor, features, passes = json.load(sys.stdin)
    json.dump(answer(text, BackEnd(triple, processor, features, tuple(passes))), sys.stdout)


def answer(text: str, end: BackEnd) -> tuple[str, str]:
    """Return LLVM IR after the passes and the text of the machine, by LLVM in this process."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(end.triple)
    if "x86" in end.triple:
        llvm.set_option("", "-x86-asm-syntax=intel")
    kind = {"cpu": end.processor, "features": end.features, "codemodel": "default"}
    machine = target.create_target_machine(opt=2, reloc="pic", **kind)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    _optimize(llvm, module, machine, end.passes)
    module.verify()
    return str(module), machine.emit_assembly(module)


def _optimize(llvm: Any, module: Any, machine: Any, passes: tuple[str, ...]) -> None:
    manager = llvm.create_new_module_pass_manager()
    for name in passes:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
