"""A thread ended while others waited for it: had it returned before, which CUDA allows, or gone around the barrier?

    if (i >= n) return;            if (i < n) {
    ...                                ...
    __syncthreads();                   __syncthreads();      undefined: the condition differs in the block
                                   }

The machine cannot tell the two apart, the text can: where no `return` lies before the barrier, nor in a loop around it,
every absent thread has gone around; so has one whose last access stands after the barrier.
Source: CUDA C++ Programming Guide, "Synchronization Functions" (conditional code), "Warp Shuffle Functions" and
"Independent Thread Scheduling" (non-exited threads).
Limit: a barrier in a function that is called, not inlined, is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpsmith.base.c_text import mask_code
from warpsmith.base.source import Span

__all__ = ["went_around"]

_CALL = re.compile(r"__sync\w+|__\w+_sync\b|\bsync\b|\bshfl\w*|\breduce\b")
_LEAVES = re.compile(r"\b(?:return|goto|asm|__asm__|exit|__trap|throw)\b")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([\w$]+)((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_SCOPE = re.compile(r"\bnamespace\b|\bextern\s*(?:\"\s*\")?|\b(?:struct|class|union)\b[^()]*$")


def went_around(barrier: tuple[Span, ...], last: tuple[Span, ...]) -> bool:
    """Whether an absent thread left the path to the barrier by a condition that is not the block's.

    `barrier` and `last` are the places of the barrier and of the thread's last access (empty: none that counts), the
    innermost call first, the kernel itself last.
    """
    if not barrier:
        return False
    where = barrier[-1]
    text = mask_code(where.file.text)
    call = _CALL.search(text, where.start, where.end)
    here = call.start() if call else where.start
    braces = _open_braces(text, here)
    function = next((i for i, (_, head) in enumerate(braces) if not _SCOPE.search(head)), None)
    if function is None or "__global__" not in braces[function][1]:
        return False
    start = braces[function][0]
    if last and last[-1].file is where.file and where.end <= last[-1].start < _close(text, start):
        return True
    loops = [opened for opened, head in braces[function + 1 :] if _LOOP.search(head)]
    end = _close(text, loops[0]) if loops else here
    places = [(text, start, end), *((mask_code(b.file.text), *_function_around(b)) for b in barrier[:-1])]
    return not any(_may_leave(*place) for place in places)


def _open_braces(text: str, at: int) -> list[tuple[int, str]]:
    """Return the braces that are open at an offset, each with the text between the statement before and it."""
    stack: list[tuple[int, str]] = []
    for place in (m.start() for m in re.finditer(r"[{}]", text[:at])):
        if text[place] == "{":
            stack.append((place, _head(text, place)))
        elif stack:
            stack.pop()
    return stack


def _head(text: str, brace: int) -> str:
    """Return what stands before a brace: `for (int i = 0; i < n; i++)`, or a function's head."""
    depth = 0
    for place in range(brace - 1, -1, -1):
        character = text[place]
        depth += {")": 1, "(": -1}.get(character, 0)
        if character in "{}" or (character == ";" and depth <= 0):
            return text[place + 1 : brace]
    return text[:brace]


def _close(text: str, brace: int) -> int:
    """Return the offset of the brace that closes the one at `brace`, or the end."""
    depth = 0
    for found in re.finditer(r"[{}]", text[brace:]):
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return brace + found.start()
    return len(text)


def _function_around(span: Span) -> tuple[int, int]:
    text = mask_code(span.file.text)
    braces = [opened for opened, head in _open_braces(text, span.start) if not _SCOPE.search(head)]
    return (braces[0], span.end) if braces else (0, len(text))


def _may_leave(text: str, start: int, end: int) -> bool:
    """Whether a statement between two offsets, or a macro that is used there, may end the function."""
    return any(_LEAVES.search(part) for part in (text[start:end], *_macros(text, text[start:end])))


def _macros(text: str, part: str) -> Iterator[str]:
    used = set(re.findall(r"[\w$]+", part))
    return (found[2] for found in _MACRO.finditer(text) if found[1] in used)
