"""A kernel as it is launched: what no launch of the program comes to is left out.

Facts are of launches that are there: where every launch gives 0 for `verify`, the code behind `if (verify)` is none
of them. A kernel that nothing launches, or whose arguments the user gives, stays as it is.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.kernels.shape import known_arguments
from warpsmith.ssa.nodes import Function, Module, Param
from warpsmith.ssa.passes.decide import Known, decide_branches

__all__ = ["as_launched", "name_launches"]

_FEW: Final = 3
"""Arguments that are named."""


def as_launched(module: Module, kernel: Function, shape: LaunchShape) -> tuple[Module, LaunchShape]:
    """Return the module with the kernel as launches run it, and the shape with the parameters that decide that."""
    known = known_arguments(shape.calls)
    made = decide_branches(kernel, known)
    if made is kernel:
        return module, shape
    functions = tuple(made if one is kernel else one for one in module.functions)
    written = tuple(decide_branches(one, known) if one.name == kernel.name else one for one in module.written)
    return replace(module, functions=functions, written=written), replace(shape, deciding=_deciding(kernel, known))


def _deciding(kernel: Function, known: Known) -> frozenset[str]:
    """Return the parameters that decide branches, all where none does so alone."""
    alone = (name for name, numbers in known.items() if decide_branches(kernel, {name: numbers}) is not kernel)
    return frozenset(alone) or frozenset(known)


def name_launches(facts: KernelFacts) -> KernelFacts:
    """Return the facts of a kernel, whose freedom of races holds for the arguments of its launches."""
    freedom, known = facts.freedom, known_arguments(facts.shape.calls)
    read = {i.detail.parameter for _, i in facts.function.instructions() if isinstance(i.detail, Param)}
    names = [name for name in known if name in read | facts.shape.deciding]
    if freedom.kind != "none" or not names:
        return facts
    told = [f"{name} is {' or '.join(map(str, sorted(known[name])))}" for name in names[:_FEW]]
    more = ["…"] if len(names) > _FEW else []
    text = f"{', '.join([*told, *more])}, as it is launched"
    return replace(facts, freedom=replace(freedom, assumptions=(*freedom.assumptions, text)))
