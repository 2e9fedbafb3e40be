"""LLVM IR in parts, each of which is compiled by itself: what many kernels have alike is compiled once for all of them.

    run, warp              what is the kernel's own                  one part
    access.load.i32 …      a function that kernels call              a part each, the same text in every kernel

Each part declares what it calls of others. What `run` does not get to is in no part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import Ir

__all__ = ["split_module"]

_OWN: Final = ("run", "warp")
_NAMES: Final = re.compile(r'@"([^"]+)"')
_METADATA: Final = re.compile(r"!prof !(\d+)")
"""How likely branches are, by numbers that a module gives; a part gives its own, so its text is always the same."""


def split_module(module: Ir) -> tuple[str, ...]:
    """Return the parts of a module: first that of its functions `run` and `warp`, then those that they call."""
    declared = {name: _declaration(function) for name, function in module.globals.items()}
    parts = [_part(module, [name for name in _OWN if name in module.globals], declared)]
    seen, pending = set(_OWN), [parts[0]]
    while pending:
        for name in dict.fromkeys(_NAMES.findall(pending.pop())):
            if name not in seen and not module.globals[name].is_declaration:
                parts.append(_part(module, [name], declared))
                pending.append(parts[-1])
            seen.add(name)
    return tuple(parts)


def _part(module: Ir, names: Iterable[str], declarations: Mapping[str, str]) -> str:
    """Return a module that defines some functions, and declares what they call."""
    defined = "\n".join(str(module.globals[name]) for name in names)
    declared = [declarations[name] for name in dict.fromkeys(_NAMES.findall(defined)) if name not in names]
    numbers = {old: new for new, old in enumerate(dict.fromkeys(_METADATA.findall(defined)))}
    defined = _METADATA.sub(lambda found: f"!prof !{numbers[found[1]]}", defined)
    notes = [str(module.metadata[int(old)]).replace(f"!{old} =", f"!{new} =", 1) for old, new in numbers.items()]
    return "\n".join([*declared, defined, *notes])


def _declaration(function: Ir) -> str:
    """Return the declaration of a function, whether the module has it or not."""
    return str(function) if function.is_declaration else str(ir.Function(ir.Module(), function.ftype, function.name))
