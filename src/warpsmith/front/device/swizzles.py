"""Components of OpenCL's vectors: which lanes a name means.

x y z w  (r g b a)      lanes 0 1 2 3           s0 … sf, S0 … SF      by number
lo hi even odd          halves of the lanes; of three lanes there is a fourth that is not defined
"""

from __future__ import annotations

import re
from typing import Final

from warpsmith.base.c_text import words_anywhere
from warpsmith.front.c.context import Context

__all__ = ["components_in", "find_named_lanes"]

_LETTERS: Final = ("xyzw", "rgba")
_HALVES: Final = ("lo", "hi", "even", "odd")
_NAMED: Final = re.compile(r"(?:\.|->)\s*([A-Za-z]\w*)")
_DEEPEST: Final = 20


def find_named_lanes(name: str, lanes: int) -> tuple[int, ...]:
    """Return the lanes that a component of a vector with `lanes` lanes names; nothing where it is no such name."""
    if name in _HALVES:
        whole = lanes + (lanes == 3)
        half = tuple(range(whole // 2))
        starts = {"lo": half, "hi": tuple(n + whole // 2 for n in half)}
        found = starts.get(name) or tuple(2 * n + (name == "odd") for n in half)
    elif re.fullmatch(r"[sS][0-9a-fA-F]{1,16}", name):
        found = tuple(int(digit, 16) for digit in name[1:])
    else:
        letters = next((row for row in _LETTERS if all(letter in row for letter in name)), "")
        found = tuple(letters.index(letter) for letter in name) if letters else ()
    bound = lanes + (lanes == 3 and name in _HALVES)
    return found if found and all(lane < bound for lane in found) else ()


def components_in(context: Context, use: str, count: int, lanes: int) -> str:
    """Return the only component with `count` lanes that a macro use can mean; "" where there are several, or none."""
    bodies: dict[str, list[str]] = {}
    for name, number, start, end in context.dump.macro_definitions:
        bodies.setdefault(name, []).append(context.text(number).file.text[start:end])
    pending, seen, found = [use], set[str](), set[tuple[int, ...]]()
    first: dict[tuple[int, ...], str] = {}
    while pending and len(seen) < _DEEPEST:
        text = pending.pop()
        for name in _NAMED.findall(text):
            named = find_named_lanes(name, lanes)
            if len(named) == count:
                found.add(named)
                first.setdefault(named, name)
        for word in words_anywhere(text):
            if word in bodies and word not in seen:
                seen.add(word)
                pending += bodies[word]
    return first[found.pop()] if len(found) == 1 else ""
