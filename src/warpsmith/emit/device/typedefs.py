"""Typedefs of a tag's own name, which C++ has anyway.

    typedef struct p { double x; } p           struct p { double x; }
    typedef struct p { double x; } p, *q       struct p { double x; }; typedef struct p *q
    typedef struct p p                         struct p

Inside of a block g++ takes the typedef's name for another type than the tag, and `struct p x;` for an error.
"""

from __future__ import annotations

import re

from warpsmith.base.c_lexer import NAME

__all__ = ["drop_own_names"]

_TAGGED = re.compile(rf"typedef\s+((struct|union|enum)\s+({NAME}))\b\s*(\{{.*\}})?([^{{}}]*)", re.DOTALL)


def drop_own_names(types: str) -> str:
    """Return the text of a type's declaration without the typedef that gives a tag its own name."""
    found = _TAGGED.fullmatch(types.strip())
    if found is None:
        return types
    tagged, _, tag, body, declarators = found.groups()
    names = [part.strip() for part in declarators.split(",")]
    if tag not in names:
        return types
    names.remove(tag)
    definition = f"{tagged} {body}" if body else tagged
    return f"{definition}; typedef {tagged} {', '.join(names)}" if names else definition
