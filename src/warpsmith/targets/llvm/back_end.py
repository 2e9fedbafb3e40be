"""LLVM reads what was written, verifies it, makes it shorter, and writes the text of a machine.

The passes are few: values in registers, what is the same computed once, branches that lead nowhere gone. Loops stay as
they are, so that each line of the text is one of the user's."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import llvmlite.binding as llvm
from msgspec import Struct

__all__ = ["BackEnd", "optimized", "verified", "written"]

_PASSES: Final = (
    *("sroa", "instruction_combine", "simplify_cfg", "global_dead_code_eliminate"),
    *("new_gvn", "loop_simplify", "instruction_combine", "simplify_cfg", "aggressive_dce"),
)


class BackEnd(Struct, frozen=True):
    """A target of LLVM's: `triple`, `processor` and its `features`."""

    triple: str
    processor: str
    features: str = ""

    def machine(self) -> Any:
        """Return LLVM's machine for it."""
        _start()
        target = llvm.Target.from_triple(self.triple)
        return target.create_target_machine(cpu=self.processor, features=self.features, opt=2, reloc="pic")


@cache
def _start() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def verified(text: str, machine: Any) -> Any:
    """Return LLVM IR as LLVM reads it; raises RuntimeError where it is none, which is a mistake of ours."""
    _start()
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    return module


def optimized(module: Any, machine: Any) -> Any:
    """Make a module shorter."""
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    manager = llvm.create_new_module_pass_manager()
    for name in _PASSES:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
    module.verify()
    return module


def written(text: str, end: BackEnd) -> tuple[str, str]:
    """Return LLVM IR as it is after the passes, and the text of the machine."""
    machine = end.machine()
    module = optimized(verified(text, machine), machine)
    return str(module), machine.emit_assembly(module)
