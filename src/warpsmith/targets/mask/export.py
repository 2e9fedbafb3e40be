"""A kernel of our IR becomes text of the mask ISA.

    pointer argument k     t#k where it is read, u#k where it is written: one buffer, two views (--arg t0=u0)
    what the launch says   words of one more view: sizes of the launch, scalar arguments, in the order of `words`
    threads                thread_id counts them block by block: a group of threads is a block

The text assembles, or it is refused; nothing is left out. Accesses outside of their view are not what they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from warpsmith.simt.mask.ops import OPS
from warpsmith.ssa.nodes import Exit, Function, Memory, Value
from warpsmith.targets.mask.addresses import bases_of
from warpsmith.targets.mask.branches import without_switches
from warpsmith.targets.mask.code import CodeLine, LaneNumber, LaunchWord, MaskCode, Virtual, Word, float_text
from warpsmith.targets.mask.control import BlockWriters, write_control
from warpsmith.targets.mask.instructions import Instructions
from warpsmith.targets.mask.places import dimensions_of, find_thread_numbers, write_places
from warpsmith.targets.mask.refused import refuse
from warpsmith.targets.mask.registers import assign_registers, without_unused

__all__ = ["Exported", "export_kernel"]

_VIEWS: Final = 16
_REGISTERS: Final = 256
_COMPONENTS: Final = 4


class Exported(Struct, frozen=True):
    """`text` of the program; `views`: the number of each pointer argument, of which those `read` and `written` have a
    view; `words` of the launch, the number of their view; how many `dimensions` a launch has."""

    text: str
    views: Mapping[str, int]
    read: frozenset[str]
    written: frozenset[str]
    words: tuple[LaunchWord, ...]
    word_view: int
    dimensions: int


def export_kernel(function: Function) -> Exported:
    """Return a kernel as a program of the mask ISA; raises InputError with the line that cannot be one."""
    _check(function)
    function = without_switches(function)
    views, read, written = _views(function)
    code = MaskCode()
    dimensions = dimensions_of(function)
    threads = find_thread_numbers(function) if dimensions == 1 else frozenset()
    instructions = Instructions(function, code, views, write_places(code, dimensions), threads)
    write_control(function, code, BlockWriters(instructions.block, instructions.word, instructions.phi))
    lines = without_unused(code.lines)
    words = tuple(dict.fromkeys(line.word for line in lines if line.word is not None))
    numbers = assign_registers(lines)
    if max(numbers.values(), default=0) >= _REGISTERS * _COMPONENTS:
        raise refuse(f"{function.name} needs more than {_REGISTERS} registers", function.span, "make it shorter")
    if words and len(views) == _VIEWS:
        raise refuse(f"{function.name} has {_VIEWS} pointer arguments, and its launch needs a view", function.span)
    made = Exported("", views, read, written, words, len(views), dimensions)
    text = _head(function.name, made) + "".join(_text(line, numbers, made) for line in lines)
    return Exported(text, views, read, written, words, len(views), dimensions)


def _check(function: Function) -> None:
    if not function.blocks:
        raise refuse(f"{function.name} has no body", function.span)
    for symbol in function.symbols:
        raise refuse(f"the mask ISA has no {symbol.space} memory: {symbol.name}", symbol.span or function.span)
    for block in function.blocks:
        if isinstance(block.terminator, Exit) and block.terminator.fails:
            raise refuse("the mask ISA has no trap", block.terminator.span, "leave assert out")


def _views(function: Function) -> tuple[Mapping[str, int], frozenset[str], frozenset[str]]:
    """Return the number of each pointer argument, and those that are read and written."""
    bases = bases_of(function)
    used: dict[str, set[str]] = {"load": set(), "store": set()}
    for _, i in function.instructions():
        if isinstance(i.detail, Memory) and i.op in used:
            used[i.op].update(bases.get(one, "") for one in i.operands[:1] if isinstance(one, Value))
    named = [one.name for one in function.parameters if one.name in used["load"] | used["store"]]
    if len(named) > _VIEWS:
        raise refuse(f"{function.name} has more than {_VIEWS} pointer arguments", function.span)
    return {name: number for number, name in enumerate(named)}, frozenset(used["load"]), frozenset(used["store"])


def _head(name: str, made: Exported) -> str:
    lines = [f"{name}: a launch of {made.dimensions} dimension{'s' if made.dimensions > 1 else ''}"]
    for argument, number in made.views.items():
        kinds = [f"{kind}{number}" for kind, some in (("t", made.read), ("u", made.written)) if argument in some]
        lines.append(f"{', '.join(kinds)}: {argument}" + (", one buffer" if len(kinds) > 1 else ""))
    if made.words:
        names = ", ".join(f"{one.name}+{one.offset}" if one.offset else one.name for one in made.words)
        lines.append(f"t{made.word_view}: words of the launch: {names}")
    return "".join(f"; {line}\n" for line in lines)


def _text(line: CodeLine, numbers: Mapping[Virtual, int], made: Exported) -> str:
    if not line.op:
        return f"{line.labels[0]}:\n"
    operands = [] if line.dest is None else [_register(numbers[line.dest])]
    if line.op == "mov" and operands == [_word("mov", line.sources[0], numbers)]:
        return ""
    if line.word is not None:
        operands += [f"t{made.word_view}", f"u({4 * made.words.index(line.word)})"]
    else:
        operands += [line.view] * bool(line.view)
        operands += [_word(line.op, one, numbers) for one in line.sources]
    return f"    {line.op} {', '.join([*operands, *line.labels])}".rstrip() + "\n"


def _register(number: int) -> str:
    return f"r{number % _REGISTERS}.{'xyzw'[number // _REGISTERS]}"


def _word(op: str, word: Word, numbers: Mapping[Virtual, int]) -> str:
    match word:
        case Virtual():
            return _register(numbers[word])
        case LaneNumber():
            return word.name
        case int():
            return float_text(word) if OPS[op].form == "map" and op.endswith(".f32") else f"u({word})"
