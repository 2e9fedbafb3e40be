"""A program of device code becomes a module of the kernel IR.

    tree ─► every function by itself ─► calls inlined ─► local memory becomes values ─► spaces of addresses ─► tidy

The module keeps the device functions too. What is not modeled is the op `unmodeled` and a finding; a function in which
control goes somewhere that is not modeled (goto) has no blocks, as if it were only declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.lower.constants import initial_numbers
from warpsmith.lower.frame import ModuleNames, Rules, symbol_for
from warpsmith.lower.functions import TARGETS, VALUES, lower_function
from warpsmith.lower.layout import NotModeled
from warpsmith.ssa.nodes import Callee, Function, Module, Space, Symbol
from warpsmith.ssa.passes.fold import fold_instruction
from warpsmith.ssa.passes.inline import inline_calls
from warpsmith.ssa.passes.tidy import tidy_twice
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

__all__ = ["Lowered", "lower"]


class Lowered(Struct, frozen=True):
    """`module` has the kernels under the names that the user writes; `findings`: what was not modeled."""

    module: Module
    findings: tuple[Finding, ...]


def lower(program: Program, *, inline: bool = True) -> Lowered:
    """Return the device code of `program`; `inline`: kernels have no calls left, as far as that can be."""
    functions = _functions(program)
    names = ModuleNames()
    symbols, homes, constants, findings = _variables(program, names)
    called = _name_called(functions)
    rules = Rules(VALUES, TARGETS, {f.symbol.key: f for f in functions}, called, homes, constants)
    made: list[Function] = []
    for function in functions:
        one, problems = lower_function(rules, names, function, called[function.symbol.key])
        made.append(one)
        findings += problems
    module = Module(tuple(made), tuple(symbols), images=any(_writes_images(function) for function in functions))
    if inline:
        module, problems = inline_calls(module, fold_instruction)
        findings += problems
        module = replace(module, functions=_find_needed(module.functions))
    both = [tidy_twice(function) for function in module.functions]
    written = tuple(f for _, f in both if f is not None and f.kernel)
    return Lowered(replace(module, functions=tuple(f for f, _ in both), written=written), _drop_repeats(findings))


def _drop_repeats(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each finding once: instances of a template have one text."""
    return tuple({(one.rule, one.message, str(one.span)): one for one in findings}.values())


def _writes_images(function: nodes.Function) -> bool:
    names = (node.symbol.name for node in walk(function.body) if isinstance(node, nodes.Name))
    return any(name.startswith("write_image") for name in names)


def _find_needed(functions: tuple[Function, ...]) -> tuple[Function, ...]:
    """Return the kernels, and what is still called; all where there is no kernel."""
    by_name = {function.name: function for function in functions}
    found = dict.fromkeys(function.name for function in functions if function.kernel)
    pending = list(found)
    while pending:
        for _, i in by_name[pending.pop()].instructions():
            if isinstance(i.detail, Callee) and i.detail.name in by_name and i.detail.name not in found:
                found[i.detail.name] = None
                pending.append(i.detail.name)
    return tuple(function for function in functions if function.name in found) or functions


def _functions(program: Program) -> tuple[nodes.Function, ...]:
    """Return the device code that kernels reach; all of it where there is no kernel."""
    device = {f.symbol.key: f for _, f in program.functions() if f.device is not None}
    found = {key: f for key, f in device.items() if f.device is not None and f.device.kernel}
    pending = list(found.values())
    while pending:
        for node in walk(pending.pop().body):
            if isinstance(node, nodes.Name) and node.symbol.key in device and node.symbol.key not in found:
                found[node.symbol.key] = device[node.symbol.key]
                pending.append(device[node.symbol.key])
    return tuple(f for key, f in device.items() if key in found) if found else tuple(device.values())


def _name_called(functions: tuple[nodes.Function, ...]) -> dict[str, str]:
    """Return the name of each function in the module: what the user calls it, with a number where that is taken."""
    names = ModuleNames()
    ordered = sorted(functions, key=lambda f: not (f.device is not None and f.device.kernel))
    return {f.symbol.key: names.fresh(f.symbol.label or f.symbol.name) for f in ordered}


# --- variables of the device


_SPACES: Mapping[str, Space] = {
    "global": "global", "managed": "global", "constant": "constant", "shared": "shared", "dynamic": "shared",
}  # fmt: skip


def _variables(
    program: Program, names: ModuleNames
) -> tuple[list[Symbol], dict[str, tuple[str, Space]], dict[str, nodes.Expr], list[Finding]]:
    """Return the variables of the module, where each lies by its key, and the constants that host code shares."""
    symbols: list[Symbol] = []
    homes: dict[str, tuple[str, Space]] = {}
    constants: dict[str, nodes.Expr] = {}
    findings: list[Finding] = []
    for one in _find_declared(program):
        symbol = one.symbol
        space = _SPACES.get(symbol.space)
        if space is None:
            if one.init is not None and _is_constant(symbol.type):
                constants[symbol.key] = one.init
            continue
        if symbol.key in homes:
            continue
        try:
            made = symbol_for(names.fresh(symbol.name), space, symbol.type, symbol.alignment, symbol.span)
        except NotModeled as problem:
            findings.append(Finding("INP006", "warning", f"{symbol.name} is not modeled: {problem.reason}", one.span))
            continue
        initial = () if one.init is None else initial_numbers(one.init, symbol.type, made)
        if initial is None:
            message = f"not modeled: what {symbol.name} begins with is no constant that is known here"
            help = (f"simulate takes zeros for it; give {symbol.name} a constant, or pass the values to the kernel",)
            findings.append(Finding("INP006", "warning", message, one.span, help))
        symbols.append(replace(made, initial=initial or ()))
        homes[symbol.key] = made.name, space
    return symbols, homes, constants, findings


def _find_declared(program: Program) -> Iterator[nodes.VarDecl]:
    """Yield the variables of files, and of functions where they outlive a call."""
    for unit in program.units:
        for item in unit.items:
            if isinstance(item, nodes.GlobalDecl):
                yield from item.declarations
        for function in unit.functions:
            if function.device is None:
                continue
            for node in walk(function.body):
                if (
                    isinstance(node, nodes.VarDecl)
                    and node.symbol.storage == "static local"
                    and (node.symbol.space not in ("shared", "dynamic"))
                ):
                    yield node


def _is_constant(type: tree.Type) -> bool:
    """Whether a host variable of this type may be read by device code: a constant number."""
    return isinstance(type, tree.Scalar) and type.const
