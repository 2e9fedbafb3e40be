"""The effects of calls of functions whose text is not given: the table of effects, asked about one call.

    qsort(v, n, 8, by_key)      reads and writes v; and what by_key does, with pointers into v
    printf("%d%n", x, &k)       writes output, and k
    exit(1)                     in a program that calls atexit: any code of the program

Invariant: an entry is used only for a call that it describes: its name is not the program's own, the arguments are as
many, and a function of the built-in table that a user's file declares has a name that only the library would give it.
"""

from __future__ import annotations

import functools

from msgspec.structs import replace

from warpsmith.base.c_text import words_anywhere
from warpsmith.poly.pointers.accesses import direct_call, is_pointer
from warpsmith.tree.effects.effects import EffectsTable, FunctionEffects
from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.nodes import Call, Expr, Function, Literal, Name, Node, Unary, Verbatim, VerbatimExpr
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import FunctionType, Pointer, Symbol, Type
from warpsmith.tree.walk import peel, walk

__all__ = [
    "describe_as",
    "describe_call",
    "find_called_back",
    "is_plain",
    "is_pure",
    "make_granted",
    "mentions",
    "sets_what_is_read",
]

_WORDS = ("value", "fresh", "unknown")
_HOLDERS = {"errno": ("__errno_location",), "signgam": ("signgam",)}


def describe_call(table: EffectsTable, call: Call) -> FunctionEffects | None:
    """Return what a direct call of a function that the program does not define does, None if that is not known."""
    name = direct_call(call)
    known = table.of(name.name) if name is not None else None
    if name is None or known is None or not known.fits(len(call.arguments)):
        return None
    if not (known.granted or (known.reserved and name.key == name.name)) and _is_other(name):
        return None
    if known.format is not None and known.variadic and not _is_harmless(call.arguments[known.format]):
        return replace(known, writes=known.writes | {known.count})
    return known


def _is_other(name: Symbol) -> bool:
    """Whether a function that the user's files declare is not the library's with this name: a C++ function, or one with
    a plain name, which anybody may have taken."""
    return name.span is not None and (name.key != name.name or (name.name.islower() and "_" not in name.name))


def _is_harmless(format: Expr) -> bool:
    """Whether a printf format certainly has no %n."""
    inner = peel(format)
    if not isinstance(inner, Literal) or inner.value is not None:
        return False
    conversions = inner.text.replace("%%", "").split("%")[1:]
    return not any("n" in _conversion(part) for part in conversions)


def _conversion(part: str) -> str:
    """Return what of the text after a % may be its conversion: up to the first letter that is no length."""
    for number, letter in enumerate(part):
        if letter.isalpha() and letter not in "hlLqjzt":
            return part[: number + 1]
    return part


def is_plain(call: Call) -> bool:
    """Whether a call, seen alone, touches nothing but what its arguments point to: a function of the built-in table
    that a system header declares."""
    name = direct_call(call)
    if name is None or name.span is not None:
        return False
    known = describe_call(house_effects(), call)
    return known is not None and not (known.program or known.program_with or known.calls or known.exposed_writes)


def is_pure(call: Call) -> bool:
    """Whether a call, seen alone, only reads what its arguments point to, and returns a value."""
    known = describe_call(house_effects(), call)
    return is_plain(call) and known is not None and known.pure


def find_called_back(known: FunctionEffects, call: Call) -> tuple[Symbol | None, ...]:
    """Return the functions that a call is given to call, None for each that is not named there."""
    return tuple(_named_function(call.arguments[number]) for number in sorted(known.calls))


def _named_function(argument: Expr) -> Symbol | None:
    inner = peel(argument)
    if isinstance(inner, Unary) and inner.op == "&":
        inner = peel(inner.operand)
    return inner.symbol if isinstance(inner, Name) and inner.symbol.storage == "function" else None


def describe_as(call: Call, name: Symbol) -> str:
    """Return the table for an effects file to start from: what a call of an unknown function says of it."""
    words = [_word(argument, number) for number, argument in enumerate(call.arguments)]
    names = [word if words.count(word) == 1 else f"{word}{number}" for number, word in enumerate(words, 1)]
    type = name.type
    kept = type.parameters if isinstance(type, FunctionType) else ()
    pointers = [n for n, argument in enumerate(call.arguments) if is_pointer(argument)]
    const = [n for n in pointers if n < len(kept) and _points_to_const(kept[n])]
    lines = ["[[functions]]", f'names = "{name.name}"', f'arguments = "{" ".join(names)}"']
    lines += [f'reads = "{" ".join(names[n] for n in pointers)}"'] if pointers else []
    lines += [f'writes = "{" ".join(names[n] for n in pointers if n not in const)}"'] if const != pointers else []
    return "\n".join(lines)


def _word(argument: Expr, number: int) -> str:
    named = [n.symbol.name for n in walk(argument) if isinstance(n, Name)]
    return named[0] if named and named[0] not in _WORDS else f"argument{number + 1}"


def _points_to_const(type: Type) -> bool:
    return isinstance(type, Pointer) and bool(getattr(type.to, "const", False))


# nodes never change, and rewritten programs share most of theirs
@functools.lru_cache(maxsize=8192)
def mentions(node: Node) -> frozenset[str]:
    """Return the names of functions and variables in `node`, and the words of text that is not modelled."""
    found: set[str] = set()
    for part in walk(node):
        if isinstance(part, Name):
            found.add(part.symbol.name)
        elif isinstance(part, Verbatim | VerbatimExpr):
            found.update(words_anywhere(part.text))
    return frozenset(found)


def sets_what_is_read(known: FunctionEffects, function: Function) -> str:
    """Return the hidden variable that a library function may set and that `function` names, "" if there is none."""
    named = mentions(function) if known.sets else frozenset()
    return next((v for v in sorted(known.sets) if any(holder in named for holder in _HOLDERS.get(v, (v,)))), "")


def make_granted(known: FunctionEffects) -> Assumption:
    """Return what the user asserts with a function of an effects file."""
    return Assumption(f"{known.name} {_words(known)} ({known.granted})", "granted")


def _words(known: FunctionEffects) -> str:
    """Return an entry as a part of a sentence."""
    numbers = {"reads": known.reads, "writes": known.writes, "keeps": known.keeps}
    said = [f"{verb} {_arguments(known, chosen)}" for verb, chosen in numbers.items() if chosen]
    if not known.writes and not known.exposed_writes:
        said.append("writes no memory")
    return ", ".join([*said, *([known.reason] if known.reason else [])])


def _arguments(known: FunctionEffects, chosen: frozenset[int]) -> str:
    if known.count and chosen >= frozenset(range(known.count)):
        return "its arguments"
    return "argument " + " and ".join("..." if n == known.count else str(n + 1) for n in sorted(chosen))
