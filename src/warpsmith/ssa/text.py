"""The kernel IR as text, and back. `parse(print_module(m))` is m, but for spans.

    shared @tile f32 x 256 align 4
    kernel @scale(n 4 align 4 i32, a 8 align 8 i64) [most 256]
    entry:
      %i:i32 = query [tid.x]
      %n:i32 = param [n+0]
      %p:i1 = slt %i %n
      branch %p body done
    body:
      %x:f32 = load [global +0 align 4] %address
      …
    done:
      return
    end

An operand is `%name`, a number with its type (`7:i32`, `0x3f800000:f32`: the bits), or `undef:i32`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    BasicBlock,
    Branch,
    Callee,
    Constant,
    Convert,
    Detail,
    Exchange,
    Exit,
    Fence,
    Float,
    Function,
    Instruction,
    Jump,
    Memory,
    Module,
    NoWrap,
    Operand,
    Param,
    Phi,
    Query,
    Return,
    Switch,
    Symbol,
    Terminator,
    Text,
    Undefined,
    Unreachable,
    Value,
)

__all__ = ["print_function", "print_module"]


def print_module(module: Module) -> str:
    """Return the text of a module."""
    parts = [*map(_symbol, module.symbols), *map(print_function, module.functions)]
    return "\n".join(parts) + "\n"


def print_function(function: Function) -> str:
    """Return the text of a function; values with one name get numbers."""
    names = _names(function)
    parameters = ", ".join(
        f"{p.name} {p.bytes} align {p.align}{f' {p.type}' if p.type else ''}" for p in function.parameters
    )
    word = "kernel" if function.kernel else "function"
    results = f" -> {' '.join(map(str, function.results))}" if function.results else ""
    lines = [f"{word} @{function.name}({parameters}){results}{_limits(function)}"]
    lines += [f"  {_symbol(symbol)}" for symbol in function.symbols]
    for block in function.blocks:
        lines += _block(block, names)
    return "\n".join([*lines, "end"])


def _limits(function: Function) -> str:
    limits = function.limits
    parts = [f"most {limits.most_threads}"] if limits.most_threads is not None else []
    parts += ["exact " + " ".join(map(str, limits.exact_block))] if limits.exact_block is not None else []
    parts += [f"least {limits.least_blocks}"] if limits.least_blocks is not None else []
    return f" [{', '.join(parts)}]" if parts else ""


def _symbol(symbol: Symbol) -> str:
    initial = f" = {' '.join(map(hex, symbol.initial))}" if symbol.initial else ""
    return f"{symbol.space} @{symbol.name} {symbol.type} x {symbol.count} align {symbol.align}{initial}"


def _names(function: Function) -> dict[Value, str]:
    """Return a name for each value: its own where it is the only one that has it."""
    names: dict[Value, str] = {}
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for value in _values(function):
        name = stem = value.name or "v"
        if not value.name or stem in taken:
            number = numbers.get(stem, 1)
            while (name := f"{stem}.{number}") in taken:
                number += 1
            numbers[stem] = number + 1
        taken.add(name)
        names[value] = name
    return names


def _values(function: Function) -> Iterator[Value]:
    for block in function.blocks:
        yield from (phi.result for phi in block.phis)
        for instruction in block.instructions:
            yield from instruction.results


def _block(block: BasicBlock, names: dict[Value, str]) -> Iterable[str]:
    yield f"{block.name}:"
    for phi in block.phis:
        yield f"  {_phi(phi, names)}"
    for instruction in block.instructions:
        yield f"  {_instruction(instruction, names)}"
    yield f"  {_terminator(block.terminator, names)}"


def _phi(phi: Phi, names: dict[Value, str]) -> str:
    incoming = " ".join(f"{block} {_operand(operand, names)}" for block, operand in phi.incoming)
    return f"%{names[phi.result]}:{phi.result.type} = phi {incoming}"


def _instruction(instruction: Instruction, names: dict[Value, str]) -> str:
    results = " ".join(f"%{names[value]}:{value.type}" for value in instruction.results)
    detail = [] if instruction.detail is None else [f"[{_detail(instruction.detail)}]"]
    words = [instruction.op, *detail, *(_operand(operand, names) for operand in instruction.operands)]
    return f"{results} = {' '.join(words)}" if results else " ".join(words)


def _operand(operand: Operand, names: dict[Value, str]) -> str:
    match operand:
        case Value():
            return f"%{names.get(operand, '?')}"
        case Constant():
            number = hex(operand.bits) if operand.type.kind == "float" else str(operand.bits)
            return f"{number}:{operand.type}"
        case Undefined():
            return f"undef:{operand.type}"


def _detail(detail: Detail) -> str:
    match detail:
        case Memory() | Convert() | Float() | Barrier() | Exchange():
            return _flags(detail)
        case Address():
            return f"@{detail.symbol}"
        case Param():
            return f"{detail.parameter}+{detail.offset}{detail.member}"
        case Query():
            return detail.register
        case NoWrap():
            return " ".join(word for word, on in (("nsw", detail.signed), ("nuw", detail.unsigned)) if on)
        case Fence():
            return detail.scope
        case Callee():
            return f"@{detail.name}"
        case Text():
            return repr(detail.text)


def _flags(detail: Memory | Convert | Float | Barrier | Exchange) -> str:
    """Return a detail that is a list of words, those left out that say nothing."""
    match detail:
        case Memory(space, offset, align, order, cached, scope):
            words = [
                f"{space} {offset:+} align {align}",
                order,
                cached and f"cached {cached}",
                scope and f"scope {scope}",
            ]
        case Barrier(waits, reduces, orders):
            words = ["waits" if waits else "arrives", reduces, "" if orders == "all" else f"orders {orders}"]
        case Exchange(how, masked):
            words = [how, "" if masked else "unmasked"]
        case Convert() | Float():
            names = ("saturate", "flush", "approximate")
            words = [detail.rounding, *(name for name in names if getattr(detail, name, False))]
    return " ".join(filter(None, words))


def _terminator(terminator: Terminator, names: dict[Value, str]) -> str:
    match terminator:
        case Jump():
            return f"jump {terminator.target}"
        case Branch():
            flags = [w for w, on in (("uniform", terminator.uniform), ("predicated", terminator.predicated)) if on]
            flags += [terminator.construct] if terminator.construct else []
            return " ".join(
                ["branch", *flags, _operand(terminator.condition, names), terminator.then, terminator.other]
            )
        case Switch():
            cases = [f"{number} {block}" for number, block in terminator.cases]
            word = "switch uniform" if terminator.uniform else "switch"
            return " ".join([word, _operand(terminator.value, names), *cases, terminator.other])
        case Return():
            return " ".join(["return", *(_operand(operand, names) for operand in terminator.operands)])
        case Exit():
            return "trap" if terminator.fails else "exit"
        case Unreachable():
            return "unreachable"
