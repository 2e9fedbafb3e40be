"""Bugs to seed: each changes one decision of poly or offload, as a slip of the writer would.

STATIC bugs give wrong verdicts (the oracle must see them), DYNAMIC ones wrong programs (the referee must), REGISTERS
ones wrong kernels where elements of arrays are kept in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec.structs
import pytest

from warpsmith.base.verdict import DependenceKind
from warpsmith.loops import versions
from warpsmith.loops.writing import replaced
from warpsmith.offload import port
from warpsmith.offload.data import buffers
from warpsmith.offload.expressions import shift_expression
from warpsmith.offload.fragments import Draft, HostUse
from warpsmith.offload.mapping import kernels, ranges
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.transfers import placement, transfers
from warpsmith.poly import analyze
from warpsmith.poly.dependences import dependences, judge
from warpsmith.poly.dependences.dependences import Conflict
from warpsmith.poly.dependences.scalars import ScalarRoles, classify_scalars
from warpsmith.poly.isl import space
from warpsmith.poly.isl.formula import Formula
from warpsmith.poly.regions import loops
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import Empty, Expr, For, Literal, Stmt, Unary
from warpsmith.tree.program import Assumption, KernelParameter
from warpsmith.tree.types import INT, Symbol

__all__ = ["DYNAMIC", "REGISTERS", "STATIC"]

Patch = pytest.MonkeyPatch
Seed = Callable[[Patch], None]


def _without(kind: DependenceKind) -> Seed:
    def seed(patch: Patch) -> None:
        real = dependences.conflicts

        def conflicts(*arguments: object) -> list[Conflict]:
            return [c for c in real(*arguments) if c.kind != kind]  # type: ignore[arg-type]

        patch.setattr(judge, "conflicts", conflicts)

    return seed


def _delinearized_without_condition(patch: Patch) -> None:
    patch.setattr(
        "warpsmith.poly.regions.subscripts.delinearize._fit", lambda state, domain, digits, position, size: digits
    )


def _descending_as_ascending(patch: Patch) -> None:
    patch.setattr(dependences, "order", lambda one, two, *, descending: space.order(one, two, descending=False))


def _guard_dropped(patch: Patch) -> None:
    real = State.assume

    def assume(state: State, assumption: Assumption, formula: Formula) -> None:
        before = list(state.assumptions)
        real(state, assumption, formula)
        state.assumptions[:] = before

    patch.setattr(State, "assume", assume)


def _guard_negated(patch: Patch) -> None:
    real = State.assume

    def assume(state: State, assumption: Assumption, formula: Formula) -> None:
        right = assumption.condition
        wrong = None if right is None else Unary(span=right.span, type=INT, op="!", operand=right)
        real(state, msgspec.structs.replace(assumption, condition=wrong), formula)

    patch.setattr(State, "assume", assume)


def _wrap_ignored(patch: Patch) -> None:
    patch.setattr(State, "require", lambda *_: True)


def _changed_loop(patch: Patch, change: Callable[[For], For]) -> None:
    """Let bounds and domains be read from another loop header."""
    bounds, domain = loops.loop_bounds, loops.loop_domain
    for module in ("model", "surroundings"):
        patch.setattr(f"warpsmith.poly.regions.{module}.loop_bounds", lambda state, loop: bounds(state, change(loop)))
        patch.setattr(
            f"warpsmith.poly.regions.{module}.loop_domain",
            lambda state, loop, counter, found: domain(state, change(loop), counter, found),
        )


def _step_ignored(patch: Patch) -> None:
    _changed_loop(patch, lambda loop: msgspec.structs.replace(loop, step=1 if loop.step > 0 else -1))


def _closed_as_open(patch: Patch) -> None:
    _changed_loop(patch, lambda loop: msgspec.structs.replace(loop, relation="<") if loop.relation == "<=" else loop)


def _changed_roles(patch: Patch, change: Callable[[ScalarRoles], ScalarRoles]) -> None:
    real = classify_scalars
    patch.setattr(analyze, "classify_scalars", lambda *a, **k: change(real(*a, **k)))


def _private_without_written_first(patch: Patch) -> None:
    def change(roles: ScalarRoles) -> ScalarRoles:
        private = (*roles.private, *(c.symbol for c in roles.carried))
        return msgspec.structs.replace(roles, private=private, carried=())

    _changed_roles(patch, change)


def _sums_forgotten(patch: Patch) -> None:
    def change(roles: ScalarRoles) -> ScalarRoles:
        return msgspec.structs.replace(
            roles, private=(*roles.private, *(r.variable for r in roles.reductions)), reductions=()
        )

    _changed_roles(patch, change)


def _alias_ignored(patch: Patch) -> None:
    patch.setattr("warpsmith.poly.aliasing.overlap.alias_pairs", lambda *_, **__: ())


def _live_out_dropped(patch: Patch) -> None:
    _changed_roles(patch, lambda roles: msgspec.structs.replace(roles, live_out=()))
    patch.setattr("warpsmith.offload.selection.nests._is_seen_elsewhere", lambda *_: False)


def _copies_without(direction: str) -> Seed:
    def seed(patch: Patch) -> None:
        def arrange(*arguments: object) -> frozenset[placement.Insertion]:
            return frozenset(c for c in placement.arrange(*arguments) if c[1] != direction)  # type: ignore[arg-type]

        patch.setattr(transfers, "arrange", arrange)
        patch.setattr(transfers, "check_transfers", lambda *_: ())

    return seed


def _partly_written_as_covered(patch: Patch) -> None:
    def covers(finder: buffers.BufferFinder, draft: Draft, use: HostUse, buffer: DeviceBuffer, given: object) -> bool:
        return use.written and not use.read

    patch.setattr(buffers.BufferFinder, "covers", covers)


def _offset_dropped(patch: Patch) -> None:
    real: Callable[[KernelParameter, Symbol, Expr], Expr] = vars(kernels)["_argument"]

    def argument(parameter: KernelParameter, buffer: Symbol, lower: Expr) -> Expr:
        return real(parameter, buffer, Literal(span=lower.span, type=INT, text="0", value=0))

    patch.setattr("warpsmith.offload.mapping.kernels._argument", argument)


def _launched_one_short(patch: Patch) -> None:
    def launch_ranges(heads: Sequence[For]) -> tuple[ranges.LaunchRange, ...] | None:
        found = ranges.launch_ranges(heads)
        return None if found is None else tuple((low, shift_expression(count, -1)) for low, count in found)

    patch.setattr(kernels, "launch_ranges", launch_ranges)


def _threads_unguarded(patch: Patch) -> None:
    def guard(loop: For, mapped: Sequence[Symbol]) -> Expr:
        return Literal(span=loop.span, type=INT, text="1", value=1)

    patch.setattr(kernels, "guard", guard)


def _version(choose: Callable[[tuple[Stmt, ...], tuple[Stmt, ...]], tuple[tuple[Stmt, ...], tuple[Stmt, ...]]]) -> Seed:
    def seed(patch: Patch) -> None:
        real = versions.version

        def version(
            original: tuple[Stmt, ...], ported: tuple[Stmt, ...], guards: Sequence[Assumption]
        ) -> tuple[Stmt, ...]:
            return real(*choose(original, ported), guards)

        patch.setattr(port, "version", version)

    return seed


STATIC: Mapping[str, Seed] = {
    "flow dependences dropped": _without("flow"),
    "anti dependences dropped": _without("anti"),
    "output dependences dropped": _without("output"),
    "delinearized without its condition": _delinearized_without_condition,
    "descending loops treated as ascending": _descending_as_ascending,
    "guards dropped": _guard_dropped,
    "guards negated": _guard_negated,
    "machine integers taken for integers": _wrap_ignored,
    "step ignored": _step_ignored,
    "<= read as <": _closed_as_open,
    "private though not written first": _private_without_written_first,
    "sums taken for private": _sums_forgotten,
    "overlap ignored": _alias_ignored,
}

DYNAMIC: Mapping[str, Seed] = {
    "value after the loop dropped": _live_out_dropped,
    "copies to the host dropped": _copies_without("to host"),
    "copies to the device dropped": _copies_without("to device"),
    "partly written buffer taken for covered": _partly_written_as_covered,
    "buffer offset dropped": _offset_dropped,
    "launch one thread short": _launched_one_short,
    "threads unguarded": _threads_unguarded,
    "guards not tested": _version(lambda original, ported: (ported, ported)),
    "versions exchanged": _version(lambda original, ported: (ported, original)),
}


def _patched(where: object, name: str, instead: Callable[..., object]) -> Seed:
    return lambda patch: patch.setattr(where, name, instead)


REGISTERS: Mapping[str, Seed] = {
    "stores forgotten": _patched(replaced._Kept, "store", lambda one: Empty(span=one.replacement.run[-1].span)),
}
