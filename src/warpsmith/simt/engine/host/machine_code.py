"""LLVM IR becomes machine code of this host, which is kept on disk: the same kernel is not compiled again.

    a part of LLVM IR, how it is compiled, by which LLVM, for which processor  ──►  key
    key  ─┬─►  object file from the cache                    all object files ──► linked into this process
          └─►  LLVM's passes ──► object file

The key is made of the LLVM IR itself: whatever a kernel and its checks become is in it, and so is every change of the
writers. Writing it takes a tenth of what compiling takes. Fresh or kept, code is linked the same way.

The code is vectors already, and long parts of it are functions of their own, so few of LLVM's passes find anything:
those of `_PASSES` give code as fast as all of -O2, in a fifth of the time. `-prefer-256-bit`: 512 bits are used where
there are. What LLVM needs grows faster than the kernel, so very large ones are compiled as they are written: they
start many times sooner, and run some times slower."""

from __future__ import annotations

from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm
import msgspec
from msgspec import Struct

from warpsmith.base.cache import kept_bytes

__all__ = ["LinkedCode", "has_fast_gathers", "link"]


_PASSES: Final = (
    *("sroa", "simplify_cfg", "instruction_combine", "simplify_cfg", "aggressive_dce"),
    "global_dead_code_eliminate",
)
"""Slots become registers, branches that are known go, instructions are combined, what nobody asks for goes."""


class _Recipe(Struct, frozen=True):
    """How LLVM IR is compiled: all that decides over the machine code, besides the IR."""

    llvmlite: str
    llvm: tuple[int, ...]
    triple: str
    processor: str
    features: str
    level: int
    passes: tuple[str, ...]

    def target(self) -> Any:
        """Return a target of its own for each engine, which owns it."""
        target = llvm.Target.from_triple(self.triple)
        return target.create_target_machine(cpu=self.processor, features=self.features, opt=self.level, jit=True)


class LinkedCode(Struct, frozen=True, eq=False):
    """Machine code in this process: `entry` is the address of its function `run`; `engine` keeps it alive."""

    entry: int
    engine: Any


_FOLDER: Final = "simulator"
_LARGE: Final = 2_000_000
"""Letters of LLVM IR, of some 4,000 instructions of a kernel with branches, that take some ten seconds to optimize."""


def link(*parts: str) -> LinkedCode:
    """Return the machine code of LLVM IR, whose parts call each other."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _recipe(0).target())
    for text in parts:
        engine.add_object_file(llvm.ObjectFileRef.from_data(_object_file(text)))
    engine.finalize_object()
    entry = engine.get_function_address("run")
    if not entry:
        raise RuntimeError("LLVM does not find the function that it compiled")
    return LinkedCode(entry, engine)


def _object_file(text: str) -> bytes:
    """Return the object file of one part, kept or made."""
    recipe = _recipe(len(text))
    key = msgspec.json.encode(recipe) + b"\0" + text.encode()
    return kept_bytes(_FOLDER, key, lambda: _compile(text, recipe))


def has_fast_gathers() -> bool:
    """Return whether this processor reads lanes' places fast by itself: AVX-512, and AVX2 of Skylake's kind."""
    return bool(llvm.get_host_cpu_features().get("avx512f")) or "lake" in llvm.get_host_cpu_name()


def _recipe(size: int) -> _Recipe:
    """Return how so many letters of LLVM IR are compiled."""
    features = f"{llvm.get_host_cpu_features().flatten()},-prefer-256-bit"
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_default_triple()
    level, passes = (0, ()) if size > _LARGE else (2, _PASSES)
    processor = llvm.get_host_cpu_name()
    return _Recipe(llvmlite.__version__, llvm.llvm_version_info, triple, processor, features, level, passes)


def _compile(text: str, recipe: _Recipe) -> bytes:
    """Return the object file of LLVM IR."""
    target = recipe.target()
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = target.triple, str(target.target_data)
    manager = llvm.create_new_module_pass_manager()
    for name in recipe.passes:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options()))
    made: bytes = target.emit_object(module)
    return made
