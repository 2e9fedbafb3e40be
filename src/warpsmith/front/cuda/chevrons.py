"""`<<<…>>>` that a formatter has taken apart: `k << <grid, block>> >(a)`, which nvcc reads and clang does not.

Invariant: the text keeps its length, so that every offset in it means the same place. Only what opens with `<< <` or
`< <<` is changed, which is nothing else in C++, and the first `>> >` or `> >>` before a `(` behind it.
"""

from __future__ import annotations

import re
from typing import Final

from warpsmith.base.c_lexer import CUDA
from warpsmith.base.c_text import mask_code

__all__ = ["join_chevrons", "launches_something"]

_OPEN: Final = re.compile(r"<<\s+<(?!<)|(?<!<)<\s+<<(?!<)|(?<!<)<\s+<\s+<(?!<)")
_CLOSE: Final = re.compile(r"(?:>>\s+>|>\s+>>|>\s+>\s+>|>>>)(?=\s*\()")
_ANY: Final = re.compile(r"<\s*<\s*<")


def launches_something(text: str) -> bool:
    """Whether there may be a launch in a text."""
    return _ANY.search(text) is not None


def join_chevrons(text: str) -> str:
    """Return the text of a CUDA file with its launches as clang reads them.

    >>> join_chevrons("k << <g, b>> >(a);")
    'k <<< g, b>>> (a);'
    """
    if _OPEN.search(text) is None:
        return text
    code = mask_code(text, CUDA)
    pieces, position = list[str](), 0
    for opening in _OPEN.finditer(code):
        closing = _CLOSE.search(code, opening.end())
        if opening.start() < position or closing is None or ";" in code[opening.end() : closing.start()]:
            continue
        pieces += [text[position : opening.start()], _join(opening.group(), "<"), text[opening.end() : closing.start()]]
        pieces.append(_join(closing.group(), ">"))
        position = closing.end()
    return "".join([*pieces, text[position:]])


def _join(written: str, mark: str) -> str:
    """Return the three marks together, with the blanks and line ends that were between them behind."""
    return mark * 3 + "".join(letter for letter in written if letter != mark)
