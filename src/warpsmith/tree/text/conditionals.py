"""The conditionals of the preprocessor that are open somewhere in a text.

#ifdef A                outer
#if B > 2
#else                   inner: its first line `#if B > 2`, its branch `#else`
    here
#endif
#endif
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.c_lexer import join_splices
from warpsmith.tree.text.lexical import directives, identifiers

__all__ = ["OpenConditional", "open_conditionals"]

_IF = ("if", "ifdef", "ifndef")
_BRANCH = ("elif", "elifdef", "elifndef", "else")


class OpenConditional(Struct, frozen=True):
    """A conditional with its lines so far; `start` is its offset."""

    start: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The branch in words."""
        first, last = self.lines[0], self.lines[-1]
        return f"'{first}'" if first == last else f"'{last}' of '{first}'"

    @property
    def names(self) -> frozenset[str]:
        """The words of its conditions."""
        return frozenset[str]().union(*map(identifiers, self.lines)) - {*_IF, *_BRANCH, "defined"}


def open_conditionals(text: str, offset: int) -> list[OpenConditional]:
    """Return the conditionals that are open at `offset`, outer ones first."""
    found: list[OpenConditional] = []
    for directive in directives(text):
        if directive.start >= offset:
            break
        line = " ".join(join_splices(text[directive.start : directive.end]).split())
        if directive.word in _IF:
            found.append(OpenConditional(directive.start, (line,)))
        elif directive.word in _BRANCH and found:
            found[-1] = replace(found[-1], lines=(*found[-1].lines, line))
        elif directive.word == "endif" and found:
            found.pop()
    return found
