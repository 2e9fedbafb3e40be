"""Predicted times for people and machines: every line says that it is a prediction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from warpsmith.analysis.counts.predicted import BlockChoice, PredictedTime
from warpsmith.machine.time.predict import Prediction, Roofline
from warpsmith.report.json_parts import Json

__all__ = [
    "TERM_WORDS",
    "bytes_text",
    "forks_text",
    "limit_text",
    "predicted_json",
    "predicted_rows",
    "seconds_text",
    "what_if_lines",
]

TERM_WORDS: Final = {
    "issue": "issuing", "pipe": "the busiest pipe", "l1": "the first cache", "shared": "shared memory",
    "l2": "the second cache", "memory": "memory", "latency": "waiting", "launch": "the launch",
}  # fmt: skip
_SHOWN: Final = 8
"""Blocks of a what-if that are printed."""
_MOST_FORKS: Final = 2


def seconds_text(seconds: float) -> str:
    """Return a time with three digits and its unit.

    >>> seconds_text(0.0205678), seconds_text(4.4e-06)
    ('20.6 ms', '4.40 us')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:#.3g} {unit}".replace(". ", " ")
    return f"{seconds * 1e9:#.3g} ns".replace(". ", " ")


def bytes_text(count: float) -> str:
    """Return so many bytes with their unit."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def predicted_rows(found: PredictedTime) -> Iterator[tuple[str, str, str, str]]:
    """Yield rows of the metric table: name, value, limit, remark."""
    made = found.prediction
    if made is None:
        yield "predicted time", "none", "", f"it lacks {'; '.join(found.lacks)}"
        return
    yield "predicted time", limit_text(found, seconds_text(made.seconds)), "", f"decided by {made.why}; {_basis(found)}"
    for name, words in TERM_WORDS.items():
        seconds = getattr(made.terms, name)
        text = "?" if seconds is None else seconds_text(seconds)
        yield f"predicted, {words}", text, "", _remark(name, made)
    if made.roofline is not None:
        yield _roofline(made.roofline)
    if made.unconfirmed:
        yield "predicted from", ", ".join(made.unconfirmed), "", "not confirmed: see `warpsmith devices`"


def limit_text(found: PredictedTime, time: str) -> str:
    """Return a time as text, with "up to" where lanes are counted both ways."""
    return f"up to {time}" if found.forks else time


def forks_text(forks: Iterable[str]) -> str:
    """Return what "up to" says."""
    reasons = list(dict.fromkeys(forks))
    others = f"; {len(reasons) - _MOST_FORKS} more" if len(reasons) > _MOST_FORKS else ""
    return f"where threads part by what is not known, all go both ways: {'; '.join(reasons[:_MOST_FORKS])}{others}"


def _basis(found: PredictedTime) -> str:
    if found.forks:
        return forks_text(found.forks)
    if found.exact:
        return "counts are exact"
    return f"counts are of {found.looked_at:,} blocks that stand for all"


def _remark(term: str, made: Prediction) -> str:
    match term:
        case "l2":
            bytes = bytes_text(made.traffic.l2_bytes)
            return bytes if made.terms.l2 is not None else f"{bytes}; its bandwidth is not known"
        case "memory":
            return bytes_text(made.traffic.memory_bytes)
        case "pipe":
            return made.pipe
        case _:
            return ""


def _roofline(at: Roofline) -> tuple[str, str, str, str]:
    side = "memory" if at.intensity < at.ridge else "computing"
    reached = 100 * at.predicted / at.attainable
    return (
        "predicted roofline", f"{at.intensity:.3g} flop/B", f"ridge {at.ridge:.3g} flop/B",
        f"under the roof of {side}: {at.predicted / 1e9:,.3g} of {at.attainable / 1e9:,.3g} Gflop/s, {reached:.0f}%",
    )  # fmt: skip


def what_if_lines(name: str, found: BlockChoice, now: PredictedTime) -> Iterator[tuple[str, ...]]:
    """Yield a table of what other blocks are predicted to take."""
    yield (f"{name}: other blocks", "predicted", "occupancy", "decided by")
    for place, one in enumerate(found.choices[:_SHOWN]):
        tie = " (a tie)" if place < found.ties and found.ties > 1 else ""
        yield _choice(one, mark=f"{' (as launched)' if one.block == now.block else ''}{tie}")
    shown = [one.block for one in found.choices[:_SHOWN]]
    if now.prediction is not None and now.block not in shown:
        tie = " (a tie)" if now.block in [one.block for one in found.choices[: found.ties]] else ""
        yield _choice(now, mark=f" (as launched){tie}")


def _choice(one: PredictedTime, *, mark: str) -> tuple[str, ...]:
    assert one.prediction is not None
    held = one.occupancy
    share = "" if held is None else f"{100 * held.warps / max(1, held.limit):.0f}%"
    x, y, z = one.block
    sizes = f"{x}x{y}x{z}" if z > 1 else f"{x}x{y}" if y > 1 else f"{x}"
    time = limit_text(one, seconds_text(one.prediction.seconds))
    return f"  {sizes}{mark}", time, share, one.prediction.why


def predicted_json(found: PredictedTime, choice: BlockChoice | None) -> Json:
    """Return a prediction as JSON; times are in seconds."""
    entry: Json = _json_of(found)
    if choice is not None:
        tried: Json = {"ties": choice.ties, "blocks": [_json_of(one) for one in choice.choices]}
        entry["what_if"] = tried | ({"why": choice.why} if choice.why else {})
    return entry


def _json_of(found: PredictedTime) -> Json:
    made = found.prediction
    entry: Json = {"label": "predicted", "block": list(found.block), "exact": found.exact, "lacks": list(found.lacks)}
    if found.forks:
        entry["at_most"] = list(found.forks)
    if found.grid is not None:
        entry["grid"] = list(found.grid)
    if found.occupancy is not None:
        held = found.occupancy
        entry["occupancy"] = {"warps": held.warps, "limit": held.limit, "limited_by": held.limited_by}
    if made is None:
        return entry
    entry |= {
        "seconds": made.seconds,
        "binding": made.binding,
        "why": made.why,
        "terms_s": {name: getattr(made.terms, name) for name in TERM_WORDS},
        "l2_bytes": round(made.traffic.l2_bytes),
        "memory_bytes": round(made.traffic.memory_bytes),
        "unconfirmed": list(made.unconfirmed),
    }
    if made.roofline is not None:
        at = made.roofline
        entry["roofline"] = {
            "flop_per_byte": at.intensity, "ridge": at.ridge, "attainable_flops": at.attainable,
            "predicted_flops": at.predicted,
        }  # fmt: skip
    return entry
