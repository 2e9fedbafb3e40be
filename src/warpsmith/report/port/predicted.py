"""How long a port is predicted to take, for people and machines.

predicted for the H100 SXM with N = 1000, not measured
  kernel    launches  together  registers  bound by
  ws_lu_k2  1,000     5.89 ms   ~8         DRAM bytes: 12.1 MB (k = 166)
  copies    3         1.17 ms              8 MB between host and device

Sizes that all kernels share stand in the first line; a tilde marks registers that are an estimate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from warpsmith.analysis.counts.predicted import PredictedTime
from warpsmith.base.source import readable
from warpsmith.report.analysis.predicted import bytes_text, forks_text, limit_text, predicted_json, seconds_text
from warpsmith.report.json_parts import Json
from warpsmith.report.model import (
    CopyPrediction,
    KernelMappings,
    KernelPrediction,
    MappingPrediction,
    PortPrediction,
)
from warpsmith.report.table import table_text

__all__ = ["bound_text", "idle_text", "lacking_text", "prediction_json", "prediction_text"]

_BOUND: Final = {
    "issue": "instructions issued",
    "l1": "requests to the first cache",
    "shared": "passes of the banks of shared memory",
    "launch": "the launch",
}
_MOST_SIZES: Final = 4
_SCHEDULERS: Final = 4
"""Of a multiprocessor."""
_LONG_S: Final = 1e-3
_MOST_CHOICES: Final = 8
"""Mappings of a kernel that are printed."""
_HEADER: Final = ("kernel", "launches", "together", "registers", "bound by")


def prediction_text(found: PortPrediction) -> str:
    """Return the table of predicted times; one line where no kernel has one for want of the same sizes."""
    unknown = tuple(dict.fromkeys(name for kernel in found.kernels for name in kernel.unknown))
    if unknown and all(kernel.seconds is None and kernel.unknown for kernel in found.kernels):
        return f"predicted  no times: {_unknown_text(unknown)}; {_given_text(unknown)}"
    shared = _shared_sizes(found.kernels)
    rows = [_row(kernel, shared) for kernel in found.kernels]
    if found.copies is not None:
        rows.append(_copies_row(found.copies))
    given = f" with {_sizes_text(tuple(shared.items()))}" if shared else ""
    head = f"predicted for the {found.device.title}{given}, not measured"
    asked = [f"        {_given_text(unknown)}"] if unknown else []
    tables = [_mappings_text(one) for one in found.mappings]
    return "\n".join([head, table_text(rows, _HEADER), *asked, *_notes(found), *tables])


def idle_text(found: PortPrediction) -> str:
    """Say which kernels run long on a GPU that is nearly empty, and what looks for faster ones; "" where none does."""
    # a warp for each scheduler of a multiprocessor at most: most of the time nothing can be issued
    few = found.device.units * _SCHEDULERS
    names = [k.name for k in found.kernels if (k.seconds or 0.0) >= _LONG_S and 0 < _warps(k) <= few]
    if not names:
        return ""
    shown = _join([*names[:_MOST_SIZES], *(["others"] if len(names) > _MOST_SIZES else [])])
    have = "has" if len(names) == 1 else "have"
    return f"        {shown} {have} too few threads for this GPU: `--optimize` looks for a faster port"


def _warps(kernel: KernelPrediction) -> int:
    """Return the warps of the longest launch."""
    work = None if kernel.time is None else kernel.time.work
    return 0 if work is None else work.blocks * work.block_warps


def _mappings_text(found: KernelMappings) -> str:
    """Return the table of other axes and blocks of one kernel: the fastest ones, and the port's own."""
    if not found.choices:
        return f"{found.name}: no other mapping is predicted: it lacks {readable(found.lacks)}"
    shown = [one for at, one in enumerate(found.choices) if at < _MOST_CHOICES or _is_own(one, found)]
    rows = [_choice_row(one, found, tie=at < found.ties > 1) for at, one in enumerate(shown)]
    some = "" if found.complete else " (not all were tried: no time was left)"
    head = f"{found.name} on other axes, in other blocks{some}"
    return f"{head}\n" + table_text(rows, ("axes", "block", "together", "occupancy", "bound by"))


def _is_own(one: MappingPrediction, found: KernelMappings) -> bool:
    return (one.axes, one.block) == (found.axes, found.block)


def _choice_row(one: MappingPrediction, found: KernelMappings, *, tie: bool) -> tuple[str, ...]:
    time, held = one.prediction.time, None if one.prediction.time is None else one.prediction.time.occupancy
    assert time is not None and held is not None and one.prediction.seconds is not None
    axes = ", ".join(f"{readable(counter)} on {axis}" for counter, axis in one.axes)
    marks = [mark for mark, is_so in (("as ported", _is_own(one, found)), ("a tie", tie)) if is_so]
    block = ",".join(map(str, one.block[: len(one.axes)]))
    mark = f" ({', '.join(marks)})" if marks else ""
    why = f"{bound_text(time)}{mark}"
    return axes, block, seconds_text(one.prediction.seconds), f"{100 * held.warps // max(1, held.limit)}%", why


def _shared_sizes(kernels: Sequence[KernelPrediction]) -> dict[str, int]:
    """Return the sizes that are the same in all kernels that have them."""
    values: dict[str, set[int]] = {}
    for name, value in (size for kernel in kernels if kernel.seconds is not None for size in kernel.sizes):
        values.setdefault(name, set()).add(value)
    return {name: min(found) for name, found in values.items() if len(found) == 1}


def _notes(found: PortPrediction) -> Iterator[str]:
    """Say what times up to a limit are, and which numbers of the device nobody has confirmed."""
    forks = [why for kernel in found.kernels if kernel.seconds is not None for why in _forks(kernel)]
    if forks:
        yield f"        up to: {forks_text(forks)}"
    made = (kernel.time.prediction for kernel in found.kernels if kernel.time is not None)
    names = dict.fromkeys(name for one in made if one is not None for name in one.unconfirmed)
    if names:
        yield f"        it rests on what nobody has confirmed: {', '.join(names)} (`warpsmith devices`)"


def _row(kernel: KernelPrediction, shared: Mapping[str, int]) -> tuple[str, ...]:
    launches = "?" if kernel.guessed else f"{kernel.launches:,.0f}" if kernel.launches else ""
    registers = f"{'~' if kernel.source == 'estimate' else ''}{kernel.registers}" if kernel.registers else ""
    if kernel.seconds is None or kernel.time is None:
        return kernel.name, launches, "-", registers, lacking_text(kernel)
    each = f"{seconds_text(kernel.seconds / kernel.launches)} each" if kernel.guessed else ""
    together = limit_text(kernel.time, each or seconds_text(kernel.seconds))
    own = tuple(size for size in kernel.sizes if size[0] not in shared)
    why = f"{bound_text(kernel.time)}{_basis_text(kernel.time)}{f' ({_sizes_text(own)})' if own else ''}"
    return kernel.name, launches, together, registers, why


def _forks(kernel: KernelPrediction) -> tuple[str, ...]:
    """Return what decides the branches of a kernel that all threads are counted both ways of."""
    return () if kernel.time is None else kernel.time.forks


def lacking_text(kernel: KernelPrediction) -> str:
    """Return why there is no time for a kernel."""
    return readable(_unknown_text(kernel.unknown) if kernel.unknown else f"it lacks {'; '.join(kernel.lacks)}")


def bound_text(time: PredictedTime) -> str:
    """Return what a launch is bound by: the part of the GPU, with its figure."""
    made, held, work = time.prediction, time.occupancy, time.work
    assert made is not None and held is not None and work is not None
    match made.binding:
        case "memory":
            return f"DRAM bytes: {bytes_text(made.traffic.memory_bytes)}"
        case "l2":
            return f"L2 bytes: {bytes_text(made.traffic.l2_bytes)}"
        case "pipe":
            return f"the pipe for {made.pipe}"
        case "latency":
            warps = min(held.warps, work.warps)
            return f"latency: {warps} of {held.limit} warps resident"
        case other:
            return _BOUND[other]


def _basis_text(time: PredictedTime) -> str:
    """Say where blocks that were looked at stand for others, which may differ."""
    if time.exact or time.work is None or time.looked_at == time.work.blocks:
        return ""
    return f", by {time.looked_at:,} of {time.work.blocks:,} blocks"


def _sizes_text(sizes: Sequence[tuple[str, int]]) -> str:
    shown = ", ".join(f"{readable(name)} = {value}" for name, value in sizes[:_MOST_SIZES])
    return f"{shown}, …" if len(sizes) > _MOST_SIZES else shown


def _unknown_text(names: tuple[str, ...]) -> str:
    return readable(f"{_join(names)} {'is' if len(names) == 1 else 'are'} not known")


def _given_text(names: tuple[str, ...]) -> str:
    return readable(f"sizes are given by {' '.join(f'--arg {name}=NUMBER' for name in names)}")


def _join(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def _copies_row(copies: CopyPrediction) -> tuple[str, ...]:
    count = f"{copies.copies:,.0f}"
    if copies.seconds is None or copies.bytes is None:
        return "copies", count, "-", "", "their sizes are not known"
    moved = bytes_text(copies.bytes)
    said = {
        "pageable": f"{moved} between host and device",
        "page-locked": f"{moved} between page-locked memory and the device",
        "shared": f"{moved} as pages that move, at best",
    }[copies.memory]
    beside = f"; {seconds_text(copies.hidden)} of it beside kernels" if copies.hidden else ""
    return "copies", count, seconds_text(copies.seconds), "", said + beside


def prediction_json(found: PortPrediction) -> Json:
    """Return the same as JSON; times are in seconds."""
    copies = found.copies
    entry: Json = {
        "label": "predicted",
        "device": found.device.name,
        "kernels": [_kernel_json(kernel) for kernel in found.kernels],
    }
    if found.mappings:
        entry["mappings"] = [_mappings_json(one) for one in found.mappings]
    if copies is not None:
        entry["copies"] = {
            "count": copies.copies,
            "bytes": copies.bytes,
            "seconds": copies.seconds,
            "memory": copies.memory,
            "hidden_seconds": copies.hidden,
        }
    return entry


def _mappings_json(found: KernelMappings) -> Json:
    choices: list[Json] = [
        {
            "axes": {readable(counter): axis for counter, axis in one.axes},
            "block": list(one.block),
            "seconds": one.prediction.seconds,
            "as_ported": _is_own(one, found),
        }
        for one in found.choices
    ]
    return {"name": found.name, "ties": found.ties, "complete": found.complete, "lacks": found.lacks,
            "choices": choices}  # fmt: skip


def _kernel_json(kernel: KernelPrediction) -> Json:
    entry = dict(_kernel_rows(kernel))
    if kernel.time is not None:
        entry["longest"] = predicted_json(kernel.time, None)
    return entry


def _kernel_rows(kernel: KernelPrediction) -> Iterator[tuple[str, object]]:
    yield "name", kernel.name
    yield "launches", kernel.launches
    yield "launches_guessed", kernel.guessed
    yield "seconds", kernel.seconds
    yield "registers", {"count": kernel.registers, "source": kernel.source} if kernel.registers else None
    yield "sizes", {readable(name): value for name, value in kernel.sizes}
    yield "unknown", [readable(name) for name in kernel.unknown]
    yield "lacks", [readable(text) for text in kernel.lacks]
