"""LLVM IR becomes machine code of this host, which is kept on disk: the same kernel is not compiled again.

    a part of LLVM IR, how it is compiled, by which LLVM, for which processor  ──►  key
    key  ─┬─►  object file from the cache                    all object files ──► linked into this process
          └─►  LLVM's passes ──► object file

The key is made of the LLVM IR itself: whatever a kernel and its checks become is in it, and so is every change of the
writers. Writing it takes a tenth of what compiling takes. Fresh or kept, code is linked the same way.

Invariant: code is run by who keeps it (LinkedCode), and calls nothing that is not there. Where LLVM's linker does not
find a function, it says so to nobody and leaves all calls from one part to another at address 0; so one word is linked
that is looked at (`_WITNESS`).

The code is vectors already, and long parts of it are functions of their own, so few of LLVM's passes find anything:
those of `_PASSES` give code as fast as all of -O2, in a fifth of the time. `-prefer-256-bit`: 512 bits are used where
there are. What is compiled as it is written, without passes (`quick`), starts in half the time or less, and takes half
as long again to run: launches begin with that, and change to better code where they are long (launch.py). What LLVM
needs grows faster than the kernel, so very large ones are never compiled in another way."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm
import msgspec
from msgspec import Struct

from warpsmith.base.cache import is_kept, kept_bytes

__all__ = ["LinkedCode", "has_fast_gathers", "link"]


_PASSES: Final = (
    *("sroa", "simplify_cfg", "reassociate", "instruction_combine", "jump_threading", "simplify_cfg"),
    *("aggressive_dce", "global_dead_code_eliminate"),
)
"""Slots become registers; instructions are combined; where it is known on the way to a branch which way it goes, that
is gone at once, so fewer vectors are carried around loops; what nobody asks for goes."""


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
    """Machine code in this process, whose functions are at their addresses as long as `engine` is kept: `entry` is that
    of `run`."""

    entry: int
    engine: Any

    def function(self, result: Any, *arguments: Any) -> Callable[..., Any]:
        """Return `run` with types of ctypes, as a function that keeps the code."""
        made = ctypes.CFUNCTYPE(result, *arguments)(self.entry)
        made.keeps = self  # type: ignore[attr-defined]
        return made


_FOLDER: Final = "simulator"
_LARGE: Final = 2_000_000
"""Letters of LLVM IR, of some 4,000 instructions of a kernel with branches, that take some ten seconds to optimize."""


_NAMES: Final = re.compile(r'^(declare|define)\b[^@\n]*@"?([^"(]+)', re.MULTILINE)
_WITNESS: Final = """declare ptr @memset(ptr, i32, i64)
@witness = constant ptr @memset
"""
"""A word that the linker fills in together with all others that are of another part: 0 where it did not."""


def link(*parts: str, quick: bool = False) -> LinkedCode:
    """Return the machine code of LLVM IR, whose parts call each other; `quick`: compiled as it is written, but for what
    is kept. Raises RuntimeError where one of them calls a function that is neither in another nor in this process."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_WITNESS), _recipe(0).target())
    for text in parts:
        engine.add_object_file(llvm.ObjectFileRef.from_data(_object_file(text, quick=quick)))
    engine.finalize_object()
    witness, entry = engine.get_global_value_address("witness"), engine.get_function_address("run")
    if not witness or not ctypes.c_void_p.from_address(witness).value or not entry:
        missing = ", ".join(_missing(parts)) or "one that LLVM calls by itself"
        raise RuntimeError(f"the machine code of a kernel calls functions that are not there: {missing}")
    return LinkedCode(entry, engine)


def _missing(parts: Sequence[str]) -> list[str]:
    """Return the functions that parts of LLVM IR declare, and that are not there."""
    found = [name for part in parts for name in _NAMES.findall(part)]
    defined = {name for how, name in found if how == "define"}
    declared = {"run", *(name for how, name in found if how == "declare" and not name.startswith("llvm."))}
    return sorted(name for name in declared - defined if not llvm.address_of_symbol(name))


def _object_file(text: str, *, quick: bool) -> bytes:
    """Return the object file of one part, kept or made; the better one where it is kept."""
    recipe, plain = (_recipe(len(text), quick=how) for how in (False, True))
    better, worse = (msgspec.json.encode(one) + b"\0" + text.encode() for one in (recipe, plain))
    if quick and not is_kept(_FOLDER, better):
        return kept_bytes(_FOLDER, worse, lambda: _compile(text, plain))
    return kept_bytes(_FOLDER, better, lambda: _compile(text, recipe))


def has_fast_gathers() -> bool:
    """Return whether this processor reads lanes' places fast by itself: AVX-512, and AVX2 of Skylake's kind."""
    return "+avx512f" in _features().split(",") or "lake" in llvm.get_host_cpu_name()


@cache
def _features() -> str:
    """Return what this processor can do; to ask takes as long as to read ten small object files."""
    return f"{llvm.get_host_cpu_features().flatten()},-prefer-256-bit"


def _recipe(size: int, *, quick: bool = False) -> _Recipe:
    """Return how so many letters of LLVM IR are compiled."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_default_triple()
    level, passes = (0, ()) if quick or size > _LARGE else (2, _PASSES)
    processor = llvm.get_host_cpu_name()
    return _Recipe(llvmlite.__version__, llvm.llvm_version_info, triple, processor, _features(), level, passes)


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
