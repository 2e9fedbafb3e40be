"""File names in generated text: what `#include` can name and what a comment can hold, however odd the user's are."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from warpsmith.base.source import decode_text

__all__ = ["in_comment", "kernel_stem"]

# a quote ends the name of an `#include`; the others mean something to shells, make or the preprocessor
_NOT_IN_A_STEM: Final = frozenset("\"'\\<>|&;*?`$#:!()[]{}~^")


def kernel_stem(path: PurePath) -> str:
    """Return the stem of the files that are generated for `path`: letters of any script stay, the rest is `_`.

    >>> kernel_stem(PurePath("heat.2d.c")), kernel_stem(PurePath('-a "b"\\n$c.c'))
    ('heat.2d', '_a _b___c')
    """
    plain = "".join(c if c.isprintable() and c not in _NOT_IN_A_STEM else "_" for c in path.stem)
    return f"_{plain[1:]}" if plain.startswith("-") else plain


def in_comment(name: str) -> str:
    """Return a name as the text of a comment holds it, on one line, without what ends a comment.

    >>> in_comment("a*/b.c"), in_comment("two\\nlines.c")
    ('a*_b.c', 'two_lines.c')
    """
    plain = "".join(c if c.isprintable() or "\udc80" <= c <= "\udcff" else "_" for c in name)
    return decode_text(plain.replace("*/", "*_").rstrip("\\"))
