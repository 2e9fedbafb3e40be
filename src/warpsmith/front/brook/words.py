"""A word of Brook+ text, and the error that something else should stand at its place."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span

__all__ = ["BrookTextError", "BrookWord", "WordKind"]

_LONGEST: Final = 60

WordKind = Literal["word", "number", "sign", "text", "end"]


class BrookTextError(Exception):
    """A text is not what stands at its place."""

    def __init__(self, span: Span, message: str, *helps: str) -> None:
        super().__init__(message)
        self.finding = Finding("BRK001", "error", message, span, helps)


class BrookWord(Struct, frozen=True):
    """One word; `glued`: it begins where the word before it ends."""

    kind: WordKind
    text: str
    span: Span
    glued: bool = False

    @property
    def shown(self) -> str:
        """The word as a message has it."""
        if self.kind == "end":
            return "the end of the text"
        return f"'{self.text if len(self.text) <= _LONGEST else self.text[:_LONGEST] + '…'}'"
