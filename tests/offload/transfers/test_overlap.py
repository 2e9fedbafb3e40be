"""Copies that go on beside other work: where they begin and are waited for, why others wait, what seeded bugs do."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.offload.transfers.abstract_programs import Program, StaleError
from tests.offload.transfers.overlapping import OverlappingMachine, begun, overlapped, two_objects
from tests.offload.transfers.test_transfer_check import Hand
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.plan import TransferScheme
from warpsmith.offload.transfers import overlap, transfers
from warpsmith.offload.transfers.accesses import HostCode
from warpsmith.offload.transfers.overlap_check import check_overlap
from warpsmith.offload.transfers.transfer_check import check_transfers
from warpsmith.offload.transfers.transfers import insert_copies
from warpsmith.tree.nodes import (
    Call,
    Copy,
    CopyWait,
    DeviceAlloc,
    DeviceFree,
    ExprStmt,
    Index,
    Launch,
    Name,
    Stmt,
    replace,
)
from warpsmith.tree.types import INT, FunctionType, Pointer, Symbol

_PROGRAMS, _RUNS = 120, 6


def two() -> Program:
    return Program(objects=("x", "y"))


def said(statements: tuple[Stmt, ...]) -> list[str]:
    """Return the device statements of a run in words, allocations and frees left out."""
    words: list[str] = []
    for stmt in statements:
        match stmt:
            case Copy():
                way = "in" if stmt.to_device else "out"
                words.append(f"{'begin' if stmt.overlaps else 'copy'} {stmt.variable.name} {way}")
            case CopyWait():
                words.append(f"{'host' if stmt.by_host else 'kernels'} wait {stmt.variable.name}")
            case Launch():
                words.append(stmt.kernel)
            case DeviceAlloc() | DeviceFree():
                pass
            case _:
                words.append("host")
    return words


def working(program: Program, use: str = "", write: str = "") -> ExprStmt:
    """A call of the host's: long enough to copy something beside it."""
    stmt = program.host(use, write)
    function = Name(span=stmt.span, type=INT, symbol=Symbol("work", "work", FunctionType(INT, ()), "function"))
    call = Call(span=stmt.span, type=INT, function=function, arguments=())
    made = ExprStmt(span=stmt.span, expr=call)
    program.note(made, use, write, "")
    return made


def test_a_copy_in_goes_on_beside_a_kernel_that_does_not_use_it() -> None:
    p = two()
    p.live = frozenset()
    made = overlapped(p, p.kernel("x"), p.kernel("y"))
    assert said(made) == ["copy x in", "begin y in", "k0", "kernels wait y", "k1", "host wait y"]


def test_a_copy_back_begins_behind_the_last_kernel_that_writes() -> None:
    p = two()
    made = overlapped(p, p.kernel(whole="x"), p.kernel("x", "", "y"))
    assert said(made) == ["k0", "begin x out", "k1", "host wait x", "copy y out"]


def test_host_code_goes_on_until_it_touches_what_moves() -> None:
    p = two()
    made = overlapped(p, p.kernel(whole="y"), working(p), working(p, "y"), p.kernel("x", "x"))
    assert said(made) == [
        "begin x in", "k0", "begin y out", "host", "host wait y", "host", "kernels wait x", "k1", "copy x out",
    ]  # fmt: skip


def test_the_host_waits_before_it_writes_what_a_kernel_has_waited_for() -> None:
    p = two()
    p.live = frozenset()
    made = overlapped(p, p.kernel("x"), p.kernel("y"), working(p, write="y"))
    assert said(made)[-4:] == ["kernels wait y", "k1", "host wait y", "host"]


def test_a_copy_back_lasts_as_long_as_nothing_meets_it_and_the_buffer_lives_on() -> None:
    p = Hand(objects=("x", "y"))
    run = (p.alloc(), p.run("", "x"), p.copy(to_device=False), p.free(), p.run("y"), p.host(), p.host("x"))
    made = overlap.overlap_copies(run, p.offload_region(run), p)
    assert said(made.statements) == ["k0", "begin x out", "k1", "host wait x", "host", "host"]
    wait = next(n for n, stmt in enumerate(made.statements) if isinstance(stmt, CopyWait))
    assert isinstance(made.statements[wait + 1], DeviceFree)
    (outcome,) = made.outcomes.values()
    assert outcome.beside == ("the kernel of line 1",)


def test_what_kernels_have_waited_for_is_known_when_it_is_copied_back() -> None:
    p = two()
    made = overlapped(p, p.kernel("x"), p.kernel("y", "y"), p.kernel("x"))
    assert said(made) == [
        "copy x in", "begin y in", "k0", "kernels wait y", "k1", "begin y out", "k2", "host wait y",
    ]  # fmt: skip


def reasons(program: Program, *scope: Stmt) -> dict[str, str]:
    """Return why the copies of a scope wait, by object and direction."""
    found: dict[str, str] = {}

    def remember(run: tuple[Stmt, ...], region: OffloadRegion, host: HostCode) -> overlap.Overlapped:
        made = overlap.overlap_copies(run, region, host)
        for copy, outcome in made.outcomes.items():
            found[f"{copy.variable.name} {'in' if copy.to_device else 'out'}"] = outcome.waits
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transfers, "overlap_copies", remember)
        overlapped(program, *scope)
    return found


def test_a_copy_that_waits_says_why() -> None:
    p = two()
    assert reasons(p, p.kernel("x"), p.kernel("x", "x"))["x out"] == "the kernel of line 1 writes it"
    p = two()
    assert reasons(p, working(p, write="x"), p.kernel("x"))["x in"] == "host code of line 1 may write it"
    p = two()
    assert reasons(p, p.kernel("x"))["x in"] == "nothing runs before it in its block"


def test_what_may_leave_or_moves_the_data_is_not_passed() -> None:
    for spoil in ("leaving", "moving"):
        p = two()
        between = working(p)
        if spoil == "leaving":
            p.leaving = {between}
        else:
            p.moving = {between: "y"}
        why = {
            "leaving": "a call of line 1 need not come back",
            "moving": "line 1 changes where it lies, or how much of it moves",
        }
        assert reasons(p, p.kernel("x"), between, p.kernel("y"))["y in"] == why[spoil]


def test_a_kernel_that_may_end_the_program_is_not_passed() -> None:
    p = two()
    first = p.kernel("x")
    p.leaving = {first}
    assert reasons(p, first, p.kernel("y"))["y in"] == "the kernel of line 1 may end the program"


def test_a_copy_back_says_what_is_above_it_and_what_is_below() -> None:
    p = Hand(objects=("x", "y"))
    run = (p.alloc(), p.run("", "x"), p.copy(to_device=False), p.free(), p.host("x"), p.run("y"))
    made = overlap.overlap_copies(run, p.offload_region(run), p)
    (outcome,) = made.outcomes.values()
    assert outcome.waits == "the kernel of line 1 writes it; host code of line 1 reads it"


@pytest.mark.parametrize("jump", ["break", "continue", "return"])
def test_a_statement_that_leaves_its_block_is_not_passed(jump: str) -> None:
    for leaves in (True, False):
        p = Hand(objects=("x", "y"))
        jumps: dict[str, Callable[[], Stmt]] = {"break": p.leave, "continue": p.again, "return": p.finish}
        arm = jumps[jump]() if leaves else p.host()
        run = (p.alloc(), p.run("y"), p.when([arm]), p.copy(to_device=True), p.run("x"))
        made = overlap.overlap_copies(run, p.offload_region(run), p)
        assert ("begin x in" not in said(made.statements)) == leaves
        (outcome,) = made.outcomes.values()
        assert outcome.waits == ("line 1 may leave the block" if leaves else "")


def beside_x(p: Hand, to_device: bool, **changed: object) -> tuple[Stmt, Copy]:
    """Return the allocation of y and a copy of it, of `n` bytes."""
    y = p.offload_region(()).buffers[1]
    copy, made = p.copy(to_device=to_device), p.alloc()
    assert isinstance(copy, Copy) and isinstance(made, DeviceAlloc)
    given = replace(made, buffer=y.symbol, host=y.host)
    return given, replace(replace(copy, buffer=y.symbol, variable=y.host), **changed)


def test_an_allocation_moves_along() -> None:
    """Also above the end of another buffer's life: more is on the device at once."""
    p = Hand(objects=("x", "y"))
    given, copy = beside_x(p, True)
    run = (p.alloc(), p.run("x"), p.free(), p.host(), given, copy, p.run("y"))
    made = overlap.overlap_copies(run, p.offload_region(run), p)
    at = next(n for n, stmt in enumerate(made.statements) if isinstance(stmt, Copy))
    assert at == 2 and made.statements[at - 1] is given


@pytest.mark.parametrize("to_device", [True, False])
def test_what_is_read_from_memory_is_not_moved(to_device: bool) -> None:
    p = Hand(objects=("x", "y"))
    n = Name(span=p.span(), type=INT, symbol=Symbol("n", "n", INT, "local"))
    q = Name(span=p.span(), type=Pointer(INT), symbol=Symbol("q", "q", Pointer(INT), "local"))
    for size in (n, Index(span=p.span(), type=INT, base=q, index=n)):
        given, copy = beside_x(p, to_device, bytes=size)
        run = (given, p.run("x"), copy, p.run("x"))
        made = overlap.overlap_copies(run, p.offload_region(run), p)
        (outcome,) = made.outcomes.values()
        waits = "" if size is n else "where it lies, or how much it moves, is read from memory"
        assert outcome.waits == waits


def test_what_the_check_does_not_prove_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever moves copies may be wrong: what it made is left, and the copies say why."""
    monkeypatch.setattr(_MOVER, "_met_launch", lambda *_, **__: "")
    p = two()
    launches = {
        d: (Launch(span=d.statements[0].span, kernel=d.region, arguments=(), region=d.region),)
        for scope in [(p.kernel(whole="x"), p.kernel("", "x"), p.kernel("", "", "y"))]
        for d in p.drafts
    }
    scope = tuple(d.statements[0] for d in p.drafts)
    plain = insert_copies(p.function(scope), p.offload_region(scope), launches, p, "optimized")
    made = insert_copies(p.function(scope), p.offload_region(scope), launches, p, "optimized", overlap=p)
    assert said(made.statements) == said(plain.statements)
    assert {one.waits.startswith(transfers.UNPROVED) for one in made.transfers} == {True}
    assert any("x: a kernel writes what a copy may still read" in one.waits for one in made.transfers)


def test_a_jump_inside_of_a_loop_is_passed() -> None:
    p = two()
    p.live = frozenset()
    made = overlapped(p, p.loop(working(p), p.leave()), p.kernel("x"))
    assert said(made)[:1] == ["begin x in"]


def wrong(program: Program, scope: tuple[Stmt, ...], statements: tuple[Stmt, ...], run: int) -> bool:
    machine = OverlappingMachine(
        program,
        program.offload_region(scope),
        random.Random(run),
        eagerness=(0.9, 0.3)[run % 2],
        lazy=("", "in", "out")[run % 3],
    )
    try:
        machine.execute(statements)
    except StaleError:
        return True
    return False


def test_random_programs_never_use_old_data() -> None:
    beside = 0
    for seed in range(_PROGRAMS):
        program, scope = two_objects(seed)
        scheme: TransferScheme = "optimized" if seed % 2 else ("fragment", "host", "mixed")[seed // 2 % 3]
        statements = overlapped(program, *scope, scheme=scheme)
        beside += bool(begun(statements))
        assert not any(wrong(program, scope, statements, run) for run in range(_RUNS)), seed
    assert beside > _PROGRAMS // 2


# --- seeded bugs

Seed = Callable[[pytest.MonkeyPatch], None]
_MOVER = vars(overlap)["_Mover"]


def _without(wait: Callable[[CopyWait], bool]) -> Seed:
    """Leave out waits."""

    def seed(patch: pytest.MonkeyPatch) -> None:
        real = _MOVER.moved

        def moved(self: object, run: tuple[Stmt, ...], copy: Copy) -> tuple[Stmt, ...]:
            made: tuple[Stmt, ...] = real(self, run, copy)
            return tuple(s for s in made if not (isinstance(s, CopyWait) and s not in run and wait(s)))

        patch.setattr(_MOVER, "moved", moved)

    return seed


def _waits_late(patch: pytest.MonkeyPatch) -> None:
    """Put each wait behind the statement that it belongs before."""
    real = _MOVER.moved

    def moved(self: object, run: tuple[Stmt, ...], copy: Copy) -> tuple[Stmt, ...]:
        made: list[Stmt] = list(real(self, run, copy))
        for wait in [s for s in made if isinstance(s, CopyWait) and s not in run]:
            at = made.index(wait)
            made[at : at + 2] = reversed(made[at : at + 2])
        return tuple(made)

    patch.setattr(_MOVER, "moved", moved)


def _not_met(method: str, when: Callable[[Copy], bool]) -> Seed:
    """Let copies pass what meets them."""

    def seed(patch: pytest.MonkeyPatch) -> None:
        real = getattr(_MOVER, method)

        def met(self: object, copy: Copy, *others: object, **named: object) -> str:
            return "" if when(copy) else str(real(self, copy, *others, **named))

        patch.setattr(_MOVER, method, met)

    return seed


_BUGS: dict[str, Seed] = {
    "kernels do not wait": _without(lambda wait: not wait.by_host),
    "the host does not wait": _without(lambda wait: wait.by_host),
    "one statement late": _waits_late,
    "host code in front of a copy in is passed": _not_met("_met_host", lambda copy: copy.to_device),
    "kernels in front of a copy back are passed": _not_met("_met_launch", lambda copy: not copy.to_device),
    "ways out are passed": lambda patch: patch.setattr(overlap, "_jumps_out", lambda _: False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _BUGS)
def test_seeded_bugs_are_seen_by_the_checks_and_by_running(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _BUGS[name](monkeypatch)
    monkeypatch.setattr(transfers, "check_transfers", lambda *_: ())
    monkeypatch.setattr(transfers, "check_overlap", lambda *_: ())
    found, stale = 0, 0
    for seed in range(_PROGRAMS // 2):
        program, scope = two_objects(seed)
        statements = overlapped(program, *scope)
        region = program.offload_region(scope)
        complaints = (*check_transfers(statements, region, program), *check_overlap(statements, region, program))
        goes_wrong = any(wrong(program, scope, statements, run) for run in range(_RUNS))
        found += bool(complaints)
        stale += goes_wrong
        assert complaints or not goes_wrong, f"seed {seed}: not seen by the checks"
    assert found >= 2 and stale >= 1, (found, stale)
