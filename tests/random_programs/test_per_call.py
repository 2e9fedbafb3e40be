"""`--data per-call`: random programs of several files do what they did, and seeded slips are seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec.structs
import pytest

from tests.random_programs.acceptance import is_accepted
from tests.random_programs.resident_programs import resident_program
from tests.random_programs.test_resident import _FILES
from warpsmith.base.source import Span
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.plan import DeviceBuffer, OffloadOptions
from warpsmith.offload.transfers import transfers
from warpsmith.offload.transfers.accesses import point_accesses
from warpsmith.offload.transfers.flow import Flow
from warpsmith.offload.transfers.placement import Direction, Insertion, PointAccess, arrange
from warpsmith.tree.nodes import Binary, Expr, Literal
from warpsmith.tree.types import LONG_LONG

Patch = pytest.MonkeyPatch


def _ported(files: dict[str, str], directory: Path) -> PortResult:
    for name, text in files.items():
        (directory / name).write_text(text)
    options = PortOptions(offload=OffloadOptions(data="per-call"))
    return port([str(directory / name) for name in files if name.endswith(".c")], options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_random_programs_do_what_they_did(seed: int, tmp_path: Path) -> None:
    result = _ported(resident_program(seed).files, tmp_path)
    assert is_accepted(result.verification), result.verification
    assert not any("ws_data_begin" in file.text for file in result.files), "nothing is held"
    assert result.plan is not None and not any(transfer.held for transfer in result.plan.transfers)


def _without(direction: Direction) -> Callable[[Patch], None]:
    """Leave out the copies in one direction; the check of the result, which would see it, is off."""

    def seed(patch: Patch) -> None:
        def missing(flow: Flow, accesses: tuple[PointAccess, ...], scheme: object) -> frozenset[Insertion]:
            return frozenset(one for one in arrange(flow, accesses, "fragment") if one[1] != direction)

        patch.setattr(transfers, "arrange", missing)
        patch.setattr(transfers, "check_transfers", lambda *_: ())

    return seed


def _half(patch: Patch) -> None:
    real = transfers.section_bytes

    def section_bytes(buffer: DeviceBuffer) -> Expr:
        whole = real(buffer)
        two = Literal(span=whole.span, type=LONG_LONG, value=2, text="2")
        return Binary(span=whole.span, type=LONG_LONG, op="/", left=whole, right=two)

    patch.setattr(transfers, "section_bytes", section_bytes)


def _what_is_left_is_overwritten(patch: Patch) -> None:
    """Take every kernel that writes for one that writes all of a section."""
    real = point_accesses

    def unread(flow: Flow, region: OffloadRegion, *others: object) -> tuple[PointAccess, ...]:
        return tuple(
            msgspec.structs.replace(one, device_use=False) if one.device_write else one
            for one in real(flow, region, *others)  # type: ignore[arg-type]
        )

    patch.setattr(transfers, "point_accesses", unread)
    patch.setattr(transfers, "check_transfers", lambda *_: ())


def _one_element_late(patch: Patch) -> None:
    real = transfers.host_address

    def host_address(buffer: DeviceBuffer, span: Span) -> Expr:
        start = real(buffer, span)
        one = Literal(span=span, type=LONG_LONG, value=1, text="1")
        return start if buffer.cell else Binary(span=span, type=start.type, op="+", left=start, right=one)

    patch.setattr(transfers, "host_address", host_address)


_BUGS: dict[str, Callable[[Patch], None]] = {
    "nothing comes to the device": _without("to device"),
    "nothing comes back": _without("to host"),
    "half of a section": _half,
    "what a kernel leaves is overwritten": _what_is_left_is_overwritten,
    "one element late": _one_element_late,
}


@pytest.mark.slow
def test_the_program_without_a_bug(tmp_path: Path) -> None:
    assert is_accepted(_ported(_FILES, tmp_path).verification)


@pytest.mark.slow
@pytest.mark.parametrize("name", _BUGS)
def test_bugs_are_seen(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    _BUGS[name](monkeypatch)
    verification = _ported(_FILES, tmp_path).verification
    assert verification is not None and verification.status == "fail", verification
