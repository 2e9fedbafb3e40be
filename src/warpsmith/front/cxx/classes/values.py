"""Classes whose objects are nothing but their members, and constructors that know nothing but what they are given.

    class Image { int width_ = 0; std::vector<T> data_; };        copied, moved, swapped and destroyed member by member
    Image(int w, T fill) : width_(w), data_(w, fill) {}           reads w and fill, makes the object, touches no other

Invariant: copying, moving or destroying a value runs no code of the program's; a constructor that makes only its object
neither reads nor writes what anything else can see, and keeps no address. Both may allocate, free, and throw.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from warpsmith.front.c.types_of import is_std_array
from warpsmith.front.clang import kinds
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Type

if TYPE_CHECKING:
    from warpsmith.front.c.context import Context

__all__ = ["is_numbers", "is_value", "is_vector", "makes_numbers", "makes_only_its_object", "starts_with_constants"]

_MOST_NESTED: Final = 4
_CONSTANT: Final = frozenset({
    kinds.INTEGER, kinds.FLOATING, kinds.CHARACTER, kinds.CXX_BOOL, kinds.UNARY, kinds.PAREN, kinds.UNEXPOSED_EXPR,
    kinds.INIT_LIST,
})  # fmt: skip
_RANGE_FOR: Final = ("__range", "__begin", "__end")  # what such a loop declares
_RUNS_MORE: Final = frozenset({kinds.LAMBDA, kinds.NEW, kinds.DELETE, kinds.ASM, kinds.STATEMENT_EXPR})


def is_value(context: Context, type: Type) -> bool:
    """Whether the objects of a type are copied, moved, swapped and destroyed member by member, and the members are
    numbers, pointers, vectors of numbers, and such objects again."""
    match type:
        case Scalar(volatile=volatile):
            return not volatile and type.kind != "void"
        case Pointer(reference=reference):
            return not reference
        case Array() if is_std_array(type):
            return False
        case Record(tag=tag, fields=fields, union=False) if fields:
            if tag.startswith("std::"):
                return is_vector(type)
            return not _has_its_own(context, type) and all(is_value(context, f.type) for f in fields)
        case _:
            return False


def is_numbers(context: Context, type: Type) -> bool:
    """Whether the objects of a class of the program's are numbers, copied member by member; friends of it change
    nothing about that."""
    if not isinstance(type, Record):
        return False
    key = type.tag, None if type.definition is None else type.definition.start
    if key not in context.numbers:
        context.numbers[key] = _is_of_numbers(context, type)
    return context.numbers[key]


def _is_of_numbers(context: Context, type: Record) -> bool:
    if type.union or type.tag.startswith("std::") or not type.fields:
        return False
    plain = all(isinstance(f.type, Scalar) and not f.type.volatile and f.type.kind != "void" for f in type.fields)
    return plain and not context.types.has_bit_fields(type.tag) and not _has_its_own(context, type, friends=True)


def starts_with_constants(context: Context, type: Type) -> bool:
    """Whether what the members of a class say of their first values are constants as written, so that they run
    nothing."""
    if not isinstance(type, Record) or type.tag.startswith("std::"):
        return True
    place, table = type.definition, context.table
    if place is None:
        return False
    # Rows of other files may have the same place: then they must be constants as well.
    mine = [r for r in context.field_rows if place.start <= table.start[r] < place.end]
    below = (r for f in mine for row in table.expressions(f) for r in range(row, table.after[row]))
    return all(table.kind[r] in _CONSTANT for r in below) and all(
        starts_with_constants(context, field.type) for field in type.fields
    )


def makes_numbers(context: Context, type: Record) -> bool:
    """Whether making an object of a class of numbers, by any constructor of it, touches nothing but that object, and
    calls no function of the library."""
    if not is_numbers(context, type) or not starts_with_constants(context, type):
        return False
    declared, users = context.dump.declared, range(len(context.dump.declared))
    making = [n for n in users if declared[n][0] == kinds.CONSTRUCTOR and _owner(context, n) == type.tag]
    known = [n for n in making if n in context.bodies]
    return bool(known) and all(makes_only_its_object(context, n) and not _calls_library(context, n) for n in known)


def _calls_library(context: Context, callee: int, depth: int = 0) -> bool:
    """Whether a constructor, or a function that it calls, calls one of the library's."""
    first, table, declared = context.bodies[callee][0], context.table, context.dump.declared
    called = {table.aux[r] for r in range(first, table.after[first]) if table.kind[r] == kinds.CALL}
    known = [n for n in called if n in context.bodies]
    outside = any(n >= 0 and declared[n][9] for n in called)
    return outside or depth > _MOST_NESTED or any(_calls_library(context, n, depth + 1) for n in known)


def _owner(context: Context, callee: int) -> str:
    """Return the class whose constructor or method a function is."""
    row = context.detail(callee)[2]
    owner = context.types.of(row) if row >= 0 else None
    return owner.tag if isinstance(owner, Record) else ""


def is_vector(type: Record) -> bool:
    """Whether a type is a std::vector, with the library's allocator, of what is copied as bytes."""
    data = type.fields[0].type
    element = data.to if isinstance(data, Pointer) else data
    return type.tag.startswith("std::vector<") and "," not in type.tag and isinstance(element, Scalar | Pointer)


def _has_its_own(context: Context, record: Record, *, friends: bool = False) -> bool:
    """Whether a class may say itself how its objects are copied, moved or destroyed; with `friends` it may have some,
    which may swap them in another way."""
    place = record.definition
    if place is None:
        return True
    name = re.split(r"[<(]", record.tag)[0].rpartition("::")[2]
    text = _without_plain_copies(place.text, name, [field.name for field in record.fields])
    head, brace, _ = text.partition("{")
    own = rf"~\s*{name}\b|\boperator\s*=(?!=)|\b{name}\s*\(\s*(?:const\s+)?(?:\w+::)*{name}\b|\bvirtual\b"
    own = own if friends else rf"{own}|\bfriend\b"
    if not brace or not name.isidentifier() or ":" in head.replace("::", "") or re.search(own, text):
        return True
    users = (n for n, user in enumerate(context.dump.user) if user)
    uses = next((context.text(n).uses for n in users if context.text(n).file is place.file), None)
    return uses is None or bool(uses.within(place.start, place.end))


def _without_plain_copies(text: str, name: str, members: list[str]) -> str:
    """Return the text of a class without what says in so many words what a compiler would do by itself: functions that
    copy all members, one after the other, and destructors that do nothing."""
    other = rf"\(\s*(?:const\s+{name}|{name}\s+const)\s*&\s*(?P<other>\w+)\s*\)\s*(?:noexcept\s*)?"
    default = r"\s*=\s*default\s*;"
    made = r"\s*,\s*".join(rf"{member}\s*[({{]\s*(?P=other)\s*\.\s*{member}\s*[)}}]" for member in members)
    set_ = r"\s*".join(rf"{member}\s*=\s*(?P=other)\s*\.\s*{member}\s*;" for member in members)
    this = r"return\s*(?:\*\s*this|\(\s*\*\s*this\s*\))\s*;"
    from_any = rf"\(\s*(?:const\s+{name}\s*&|{name}\s+const\s*&|{name}\s*&&)\s*\w*\s*\)\s*(?:noexcept\s*)?"
    forms = (
        rf"~\s*{name}\s*\(\s*\)\s*(?:noexcept\s*)?(?:\{{\s*\}}|{default})",
        rf"\b{name}\s*{from_any}{default}",
        rf"\b{name}\s*&\s*operator\s*=\s*{from_any}{default}",
        rf"\b{name}\s*{other}:\s*{made}\s*\{{\s*\}}",
        rf"\b{name}\s*&\s*operator\s*=\s*{other}\{{\s*{set_}\s*{this}\s*\}}",
    )
    for form in forms if members and name.isidentifier() else ():
        text = re.sub(form, "", text)
    return text


def makes_only_its_object(context: Context, callee: int, depth: int = 0) -> bool:
    """Whether a constructor, or a function that it calls, names nothing but its parameters, its own variables and
    members, and functions of the library."""
    found = context.bodies.get(callee)
    if found is None or depth > _MOST_NESTED:
        return False
    table, declared = context.table, context.dump.declared
    rows = range(found[0], table.after[found[0]])
    own = {table.aux[r] for r in rows if table.kind[r] in (kinds.PARM_DECL, kinds.VAR_DECL)}
    if any(table.kind[r] == kinds.VAR_DECL and context.symbol(table.aux[r]).storage != "local" for r in rows):
        return False
    for row in rows:
        kind, number = table.kind[row], table.aux[row]
        if kind in _RUNS_MORE:
            return False
        if kind in (kinds.DECL_REF, kinds.MEMBER_REF_EXPR, kinds.CALL) and number >= 0:
            other = declared[number]
            if number in own or other[0] in (kinds.FIELD_DECL, kinds.ENUM_CONSTANT) or other[1].startswith(_RANGE_FOR):
                continue
            called = other[0] in kinds.FUNCTIONS or other[0] in (kinds.CONSTRUCTOR, kinds.DESTRUCTOR)
            if not called or not (other[9] or makes_only_its_object(context, number, depth + 1)):
                return False
        elif kind == kinds.CALL:
            return False
    return True
