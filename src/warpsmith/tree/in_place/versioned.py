"""The content of a port in the user's own file: statements that replace his, statements between them, and the words of
the target for both. edits.py writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol

from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.tree.nodes import DataEnter, DeviceAlloc, Expr, Function, Stmt
from warpsmith.tree.printing.printer import DeviceWords

__all__ = [
    "SWITCHED",
    "InPlaceWords",
    "InsertedText",
    "InsertionError",
    "Run",
    "Versioned",
    "WithCalls",
    "refuse_alone",
]

Run = tuple[Stmt, ...]

SWITCHED: Final = "the port is switched on"
"""The first of an `If`'s reasons where nothing is for the device while WARPSMITH_OFF is set: its condition says nothing
of that, since only the target has words for it."""


class Versioned(Struct, frozen=True, eq=False):
    """`ported` runs in place of the user's statements `written` of `function` where the device is in use and
    `condition` (None: nothing to test) holds. Nothing that `written` declares is used after it. `before`: declarations
    of the port's own that the condition and `ported` read; they may be made wherever `written` is reached. `instance`:
    what must hold in the text of a template for `ported` to be meant (shared.conditions). `fallback`: what must then
    run before and after `written` where `ported` does not run. `reasons`: what each part of the condition makes sure
    of, in words. `call`: of a generated function that does all this, and says whether it did."""

    function: Function
    written: Run
    ported: Run
    condition: Expr | None
    before: Run = ()
    instance: tuple[str, ...] = ()
    fallback: tuple[Run, Run] = ((), ())
    reasons: tuple[str, ...] = ()
    call: Expr | None = None


class WithCalls(Struct, frozen=True, eq=False):
    """`text` is what `function` becomes where generated functions stand for all that is the device's: its statements,
    calls between them, and calls that choose whether they run (`If` with `reasons`)."""

    function: Function
    text: Function


class InsertedText(Struct, frozen=True, eq=False):
    """`statements` stand `where` `node` of `function`, outside of what is versioned; they are for the device, and do
    nothing where it is not in use."""

    function: Function
    where: Literal["before", "after", "within", "else"]
    node: Stmt
    statements: Run


class InsertionError(RefusedError):
    """What shall stand between the statements of `function` cannot be added there."""

    def __init__(self, function: Function, *findings: Finding) -> None:
        super().__init__(*findings)
        self.function = function


def refuse_alone(region: Span) -> RefusedError:
    """Return the error for a parallel region that the text in place cannot give to one thread."""
    text = "one thread would run this region where the port is on, which cannot be said in its place"
    return RefusedError(Finding("POR008", "error", text, region))


class InPlaceWords(DeviceWords, Protocol):
    """A target's words, with those that only text in the user's file needs."""

    @property
    def on(self) -> str:
        """An expression: whether the device is in use."""
        ...

    @property
    def flag(self) -> str:
        """The name of a variable that remembers that."""
        ...

    def declare(self, node: DeviceAlloc | DataEnter, expr: Callable[[Expr], str]) -> tuple[str, str]:
        """Return the buffer's declaration without a buffer, and the statement that gets it one."""
        ...
