"""The copies of a port as text: each one where they are few, else a row for arrays that are copied alike.

copies  14 to the device, 6 back to the host
  array                   to the device  to the host  bytes
  A, B                    1              1            n * m * sizeof(double)
  sum                     1 per main/t   1 per main/t sizeof(float)          in a loop: made each time that it runs
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.offload.plan import Transfer
from warpsmith.report.legible import plain_expression, short_expression
from warpsmith.report.table import table_text

__all__ = ["copies_text", "transfers_text"]

FEW: Final = 8
_ROWS: Final = 12
_NAMES: Final = 6
_WAITING: Final = 6
# what is copied where a loop that needs it runs at all
_UNLESS_EMPTY: Final = re.compile(r"\(([^?:]*) \? ([^?:]*) : 0\)((?: \* sizeof\([^()]*\))?)")
_EMPTY: Final = re.compile(r"[\w ]+(?: [<>]=? [\w -]+)(?: && [\w ]+(?: [<>]=? [\w -]+))*")


def copies_text(transfers: Sequence[Transfer]) -> str:
    """Return the copies under their heading: in full, or as a summary by array; those that only happen where the host
    does not share the memory are named by array."""
    possible = [transfer for transfer in transfers if transfer.unless_shared]
    if possible:
        certain = [transfer for transfer in transfers if not transfer.unless_shared]
        names = ", ".join(dict.fromkeys(transfer.variable for transfer in possible))
        shared = f"shared  {names}: nothing is copied of what the program's own malloc, calloc or the like gave"
        return "\n".join((shared, *([copies_text(certain)] if certain else [])))
    if len(transfers) <= FEW:
        return "copies\n" + transfers_text(transfers)
    inward = sum(t.to_device for t in transfers)
    outward = len(transfers) - inward
    beside = sum(bool(t.beside) for t in transfers)
    words = [
        f"{inward} to the device, {outward} back to the host",
        *([f"{beside} beside other work"] if beside else []),
    ]
    head = f"copies  {'; '.join(words)}; --timeline - shows each"
    rows = list(_rows(transfers))
    lines = [head, table_text([row.cells() for row in rows[:_ROWS]], ("array", "to device", "to host", "bytes each"))]
    if len(rows) > _ROWS:
        left = sum(len(row.names) for row in rows[_ROWS:])
        lines.append(f"  … and {left} more that are copied otherwise")
    lines += [f"  beside nothing: {', '.join(names[:_NAMES])}: {why}" for why, names in _waiting(transfers).items()][
        :_WAITING
    ]
    return "\n".join(lines)


def _waiting(transfers: Sequence[Transfer]) -> dict[str, list[str]]:
    """Return the copies that go on beside nothing, by the reason."""
    found: dict[str, list[str]] = {}
    for transfer in transfers:
        if transfer.waits:
            way = "to the device" if transfer.to_device else "back"
            found.setdefault(transfer.waits, []).append(f"{_name_copied(transfer)} {way}")
    return found


class _Row(Struct, frozen=True):
    """Arrays whose copies are alike: how often each way, where in a loop, how much."""

    names: tuple[str, ...]
    inward: str
    outward: str
    bytes: str

    def cells(self) -> tuple[str, ...]:
        more = f" and {len(self.names) - _NAMES} more" if len(self.names) > _NAMES else ""
        return ", ".join(self.names[:_NAMES]) + more, self.inward, self.outward, self.bytes


def _rows(transfers: Sequence[Transfer]) -> Iterator[_Row]:
    """Yield the rows: what is copied in loops first."""
    arrays: dict[str, list[Transfer]] = {}
    for transfer in transfers:
        arrays.setdefault(_name_copied(transfer), []).append(transfer)
    alike: dict[tuple[str, str, str], list[str]] = {}
    for name, mine in sorted(arrays.items(), key=lambda item: not any(_is_in_loop(t) for t in item[1])):
        inward, outward = (_times([t for t in mine if t.to_device is way]) for way in (True, False))
        sizes = "; ".join(dict.fromkeys(short_expression(_size(t)) for t in mine))
        alike.setdefault((inward, outward, sizes), []).append(name)
    for (inward, outward, sizes), names in alike.items():
        yield _Row(tuple(names), inward, outward, sizes)


def _times(mine: Sequence[Transfer]) -> str:
    """Return how often an array is copied one way: once for each copy, and for each iteration of a loop around it."""
    outside = sum(not _is_in_loop(t) for t in mine)
    around = [t.in_loop for t in mine if t.in_loop is not None and not t.held]
    parts = [str(outside)] if outside else []
    parts += [f"{around.count(loop)} per {loop}" for loop in dict.fromkeys(around)]
    return ", ".join(parts) or "-"


def _is_in_loop(transfer: Transfer) -> bool:
    return transfer.in_loop is not None and not transfer.held


def _size(transfer: Transfer) -> str:
    """Return how many bytes a copy has, without what only keeps an empty loop from copying."""
    if transfer.few is not None:
        return str(transfer.few)
    text = plain_expression(transfer.bytes)
    found = _UNLESS_EMPTY.fullmatch(text)
    if found is None or not _EMPTY.fullmatch(found[1]):
        return text
    inner, size = found[2], found[3]
    return f"({inner}){size}" if size and re.search(r" [-+] ", inner) else f"{inner}{size}"


def transfers_text(transfers: Sequence[Transfer]) -> str:
    """Return a row a copy; its line is named with its file where there are several."""
    several = len({t.cause.file.path for t in transfers}) > 1
    ways = {True: "to the device", False: "back to the host"}
    return table_text(
        [
            (f"{_name_copied(t)} {ways[t.to_device]}", f"{_moved_bytes(t)}, {_describe_cause(t, several)}{_beside(t)}")
            for t in transfers
        ]
    )


def _name_copied(transfer: Transfer) -> str:
    """Return what is copied: the array, or the one element."""
    return transfer.variable if transfer.few is None else short_expression(plain_expression(transfer.section))


def _moved_bytes(transfer: Transfer) -> str:
    return f"{transfer.few if transfer.few is not None else plain_expression(transfer.bytes)} bytes"


def _beside(transfer: Transfer) -> str:
    """Return what a copy goes on beside, or why it does not, where that was asked for."""
    if transfer.beside:
        return f", beside {', '.join(transfer.beside)}"
    return f", beside nothing: {transfer.waits}" if transfer.waits else ""


def _describe_cause(transfer: Transfer, several: bool) -> str:
    """Return the line that forces a copy, and how often it is made."""
    line = str(transfer.cause.line)
    line = f"{transfer.cause.file.path.rsplit('/', 1)[-1]}:{line}" if several else f"line {line}"
    if transfer.held:
        when = "unless it is there already" if transfer.to_device else "when nobody needs it there any more"
    elif transfer.in_loop is not None:
        when = f"each time that it runs in {transfer.in_loop}"
    else:
        return f"for {line}"
    return f"for {line}, {when}"
