"""Lambda captures by copy: whether the copy and the variable are the same wherever the lambda is called.

    const float amount = …;
    auto mix = [amount](float a) { return a + amount; };      in place of mix(x): x + amount

Invariant: a variable that is never written after it is made has one value; a copy of it is as good as itself.
"""

from __future__ import annotations

from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.tree.types import Pointer, Scalar, Type

__all__ = ["captures_stay"]


def captures_stay(context: Context, row: int, escaped: frozenset[str], *, called_at_once: bool = False) -> bool:
    """Whether the lambda in `row` names, of the variables outside of it, only numbers and pointers that keep their
    value; `escaped` are the keys of the variables whose address is taken. One that is `called_at_once`, and never
    later, cannot see what is assigned elsewhere."""
    table, declared = context.table, context.dump.declared
    text = context.text(0).file.text[table.start[row] :]
    head = text[: text.find("]")]
    if not text.startswith("[") or (any(letter in head for letter in "=&*{(") and head.strip("[ ") not in ("=", "&")):
        return False
    below = range(row, table.after[row])
    if any(word in text[: table.end[row] - table.start[row]] for word in ("mutable",)):
        return False
    made = {table.aux[r] for r in below if table.kind[r] in (kinds.VAR_DECL, kinds.PARM_DECL)}
    named = {table.aux[r] for r in below if table.kind[r] == kinds.DECL_REF and table.aux[r] >= 0} - made
    outside = [n for n in named if declared[n][0] in (kinds.VAR_DECL, kinds.PARM_DECL)]
    kept = [context.symbol(n) for n in outside]
    plain = all(_is_copied(s.type) for s in kept)
    local = all(s.storage in ("local", "parameter") and s.key not in escaped for s in kept)
    return plain and local and (called_at_once or not _are_assigned(context, frozenset(outside)))


def _is_copied(type: Type) -> bool:
    """Whether a variable is a number or a pointer, so that a copy of it is all that there is to know."""
    return (isinstance(type, Scalar) and not type.volatile) or (isinstance(type, Pointer) and not type.reference)


def _are_assigned(context: Context, numbers: frozenset[int]) -> bool:
    """Whether one of the variables is assigned anywhere."""
    table = context.table
    for row, kind in enumerate(table.kind):
        if kind in (kinds.BINARY, kinds.COMPOUND_ASSIGN):
            changes = kinds.FIRST_ASSIGNMENT <= table.aux[row] <= kinds.LAST_ASSIGNMENT
        else:
            changes = kind == kinds.UNARY and kinds.UNARY_OPERATORS[table.aux[row]] in ("x++", "x--", "++x", "--x")
        if changes and _target(context, row) & numbers:
            return True
    return False


def _target(context: Context, row: int) -> frozenset[int]:
    """Return every variable in the left operand of an assignment."""
    table = context.table
    parts = table.expressions(row)
    below = range(parts[0], table.after[parts[0]]) if parts else ()
    return frozenset(table.aux[r] for r in below if table.kind[r] == kinds.DECL_REF)
