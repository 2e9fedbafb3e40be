"""What leaves the user's text: functions of the generated file, and what they hand on to each other.

    struct ws_lu_data { int on;   double *A_gpu; };                DeviceState
    struct ws_lu_data ws_lu_begin(int N, double *A)                 HostFunction, begins
    int ws_lu_1(struct ws_lu_data ws_gpu, int N, int k)            HostFunction, takes

Invariant: a function's statements are those of the ported program, in its order; `local` says under which names and
types they know what the user's text has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from warpsmith.base.errors import RefusedError
from warpsmith.base.source import Span
from warpsmith.tree.nodes import DeclStmt, Expr, Function, Launch, Stmt
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = [
    "ApartError",
    "DeviceState",
    "GuardTest",
    "HostFunction",
    "NotOutlinedError",
    "Outlined",
    "OutlinedFunction",
    "PassedArgument",
]


class NotOutlinedError(RefusedError):
    """A statement that says something which only the user's text can say: its function stays as it was planned."""


class ApartError(Exception):
    """The two branches of a guarded region cannot stand as one."""


class GuardTest(Struct, frozen=True):
    """A condition in the function's own names, None where it is that the device is in use, and what it makes sure of,
    in words; `before`: declarations that it needs."""

    condition: Expr | None
    reason: str
    before: tuple[DeclStmt, ...] = ()


class PassedArgument(Struct, frozen=True):
    """A parameter of a function, and what the user's text passes for it."""

    parameter: Symbol
    given: Expr


class DeviceState(Struct, frozen=True, eq=False):
    """What one function leaves to those after it: `variable` in the user's text, a structure with the `fields`, and
    whether its guards hold where it is `guarded`."""

    tag: str
    variable: Symbol
    fields: tuple[Symbol, ...]
    guarded: bool


class HostFunction(Struct, frozen=True, eq=False):
    """One function, whose work stands at a `place` of the user's text: where the `guards` hold, and in the states that
    it `takes` they did, the `statements` run, written as `written` in the function's own names. `begins`: the state
    that it returns; `answers`: it returns whether it ran; `unpacked`: fields of the states that it takes; `lead`: so
    many of its statements stand before the guards; `otherwise`: what runs where one of those does not hold;
    `withdraws`: nothing is left on the device then."""

    name: str
    place: Span
    arguments: tuple[PassedArgument, ...]
    guards: tuple[GuardTest, ...]
    statements: tuple[Stmt, ...]
    written: tuple[Stmt, ...]
    takes: tuple[DeviceState, ...] = ()
    begins: DeviceState | None = None
    answers: bool = False
    unpacked: tuple[tuple[DeviceState, Symbol], ...] = ()
    lead: int = 0
    otherwise: tuple[Stmt, ...] = ()
    withdraws: bool = False

    def in_order(self) -> Iterator[Stmt]:
        """Yield the statements as they stand in the function's text: below each guard stands `otherwise`."""
        yield from self.statements[: self.lead]
        otherwise = self.otherwise[:1] if self.withdraws else self.otherwise
        for guard in self.guards:
            yield from otherwise if guard.condition is not None else ()
        yield from self.statements[self.lead :]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that it launches."""
        found = (part.kernel for stmt in self.statements for part in walk(stmt) if isinstance(part, Launch))
        return tuple(dict.fromkeys(found))

    @property
    def regions(self) -> tuple[str, ...]:
        """The user's loops that it runs on the device."""
        found = (part.region for stmt in self.statements for part in walk(stmt) if isinstance(part, Launch))
        return tuple(dict.fromkeys(found))


class OutlinedFunction(Struct, frozen=True, eq=False):
    """A function of the user's with calls as its text, and the functions that it calls."""

    text: Function
    made: tuple[HostFunction, ...]


class Outlined(Struct, frozen=True):
    """A program whose text calls functions of generated files: `functions` are those of each unit, by its place."""

    program: Program
    functions: Mapping[int, tuple[HostFunction, ...]] = field(default_factory=dict)
