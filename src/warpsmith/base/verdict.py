"""Three-valued verdicts. A question about a program is answered Proved, Refuted or Unknown; never by a bool.

Proved   holds under every listed assumption (none: it holds as written)
Refuted  fails, and each reason carries a concrete witness
Unknown  not decided; the reasons name the blockers and what would settle it
"""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from warpsmith.base.source import Span

__all__ = ["Assumed", "Dependence", "DependenceKind", "Direction", "Proved", "Reason", "Refuted", "Unknown", "Verdict"]

DependenceKind = Literal["flow", "anti", "output"]
Direction = Literal["<", "=", ">", "*"]


class Assumed(Protocol):
    """What a verdict may rest on; the tree's `Assumption` is one."""

    @property
    def text(self) -> str:
        """The assumption in the user's names."""
        ...

    @property
    def kind(self) -> str:
        """`guarded` or `granted`."""
        ...


class Dependence(Struct, frozen=True):
    """Two accesses that may not change their order.

    `distance` and `direction` have one entry a common loop, outermost first; a distance that varies is None.
    `witness` is one concrete pair of iterations, in the user's names: `n = 3: S(1,1) writes a[1][1], S(2,0) reads it`;
    `…, if both run` where data decide whether they do (`if S1 runs`, `if S2 runs`: whether that one does).
    """

    kind: DependenceKind
    variable: str
    source: Span
    sink: Span
    distance: tuple[int | None, ...]
    direction: tuple[Direction, ...]
    carried_by: str | None
    witness: str


class Reason(Struct, frozen=True):
    """Why a verdict is not Proved: a rule of the catalogue, a sentence, and the evidence.

    `settled_by`: facts that would decide it, as `--assume` takes them; nothing is known of their truth.
    """

    rule: str
    text: str
    span: Span | None = None
    dependence: Dependence | None = None
    assumptions: tuple[str, ...] = ()
    legal_if: tuple[str, ...] = ()
    settled_by: tuple[str, ...] = ()


class Proved(Struct, frozen=True):
    """It holds under `assumptions`."""

    assumptions: tuple[Assumed, ...] = ()


class Refuted(Struct, frozen=True):
    """It fails; every reason has a witness."""

    reasons: tuple[Reason, ...]


class Unknown(Struct, frozen=True):
    """It could not be decided."""

    reasons: tuple[Reason, ...]
    assumptions: tuple[Assumed, ...] = ()


Verdict = Proved | Refuted | Unknown
