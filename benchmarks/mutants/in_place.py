"""A mutant put into a process that has loaded the module as it is: functions get the code that the mutant has.

All that holds a function, under whatever name it was imported, holds the mutant's then. This works where only bodies of
functions differ: what a module or a class does while it is loaded has been done. `replacements` finds the functions,
`put_in_place` changes them; a process that was forked before loses the change with its end.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from types import CodeType, FunctionType

__all__ = ["Replacement", "put_in_place", "replacements"]

Replacement = tuple[FunctionType, CodeType]


def replacements(original: str, mutant: str, path: str) -> list[Replacement] | None:
    """Return the loaded functions of the module at `path` that differ, each with its new code; None where that is
    not all that differs, or not all of them are found."""
    try:
        pairs = _different(*(compile(text, path, "exec", dont_inherit=True) for text in (original, mutant)))
    except SyntaxError:
        return None
    if pairs is None:
        return None
    loaded = [f for f in gc.get_objects() if isinstance(f, FunctionType) and f.__code__.co_filename == path]
    found = [(f, new) for old, new in pairs for f in loaded if f.__code__ == old]
    if len({id(new) for _, new in found}) != len(pairs):
        return None
    return found


def put_in_place(changes: Sequence[Replacement]) -> None:
    """Let functions do what their new code does."""
    for function, code in changes:
        function.__code__ = code


def _different(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """Return the functions that differ in the body of a module or a class; None where the body does."""
    if old.co_code != new.co_code or old.co_names != new.co_names or len(old.co_consts) != len(new.co_consts):
        return None
    pairs: list[tuple[CodeType, CodeType]] = []
    for one, other in zip(old.co_consts, new.co_consts, strict=True):
        if not (isinstance(one, CodeType) and isinstance(other, CodeType)):
            if one != other or type(one) is not type(other):
                return None
        elif not _is_function(one):
            inner = _different(one, other)
            if inner is None:
                return None
            pairs += inner
        elif not _does_the_same(one, other):
            if one.co_freevars != other.co_freevars:
                return None
            pairs.append((one, other))
    return pairs


def _is_function(code: CodeType) -> bool:
    """Whether it is a function's, not a class's."""
    return bool(code.co_flags & 0x2)  # CO_NEWLOCALS


def _does_the_same(one: CodeType, other: CodeType) -> bool:
    """Whether two codes differ by their lines at most."""
    if one.co_code != other.co_code or one.co_names != other.co_names or len(one.co_consts) != len(other.co_consts):
        return False
    if (one.co_varnames, one.co_freevars, one.co_cellvars) != (other.co_varnames, other.co_freevars, other.co_cellvars):
        return False
    return all(
        _does_the_same(a, b)
        if isinstance(a, CodeType) and isinstance(b, CodeType)
        else type(a) is type(b) and repr(a) == repr(b)
        for a, b in zip(one.co_consts, other.co_consts, strict=True)
    )
