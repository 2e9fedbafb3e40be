"""Comparing the objects that the candidate's run captured with the original's.

    pass 1   bit for bit, where the original's two runs agree with each other: most correct ports end here
    pass 2   only where pass 1 fails: the original's other builds are made, and what they leave open is allowed

Invariant: an element is left out only where the original's own runs differ in it, or where its newest value lies in
another object's device buffer and that object has been compared itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warpsmith.base.findings import Finding
from warpsmith.run.captures import Block, CaptureLog, Record, StreamKey, Summary
from warpsmith.run.compare import Comparison, Mask, Values, compare_arrays, epsilon, is_floating, show_value
from warpsmith.run.tolerance import (
    EXACT,
    Allowance,
    allowance_of,
    is_ill_conditioned,
    is_noise,
    largest,
    spread_of,
    undetermined,
    unsettled,
)
from warpsmith.run.verification import LiveOut

__all__ = ["Evidence", "ObjectVerdict", "compare_logs"]

_KEEP_ORDER = (
    "the port combines floating-point numbers in another order: if the result hangs on their last bits, --precise-fp "
    "keeps the order"
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the original leaves open: `again`, logs of runs that only uninitialized memory, time and addresses tell
    apart; `variants`, logs of its other builds; `given`: the user's own allowance in place of what they suggest;
    `reordered`: the candidate is known to sum in another order."""

    again: tuple[CaptureLog, ...]
    variants: tuple[CaptureLog, ...] = ()
    given: Allowance | None = None
    reordered: bool = False


@dataclass(frozen=True, slots=True)
class ObjectVerdict:
    """What came out for one stream of one run: its row in the report, why it fails, what is to be said besides."""

    live_out: LiveOut
    failures: tuple[Finding, ...]
    notes: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _Judged:
    comparison: Comparison
    where: str = ""
    open_elements: int = 0
    ill_conditioned: bool = False


def compare_logs(
    base: CaptureLog, actual: CaptureLog, first: Evidence, full: Callable[[], Evidence]
) -> Iterator[ObjectVerdict]:
    """Compare every stream of `base`, in the order in which they were captured."""
    for key in base.records:
        yield _compare_stream(base, actual, key, (first, full))
    for key in actual.records:
        if key not in base.records:
            yield _extra(key, next(iter(actual.records[key].values())))


def _compare_stream(
    base: CaptureLog, actual: CaptureLog, key: StreamKey, evidence: tuple[Evidence, Callable[[], Evidence]]
) -> ObjectVerdict:
    row = _row(next(iter(base.records[key].values())))
    failures: list[Finding] = []
    notes: list[Finding] = []
    if base.totals.get(key) != actual.totals.get(key):
        failures.append(_missing(base, actual, key, None))
    for instance, expected in base.records[key].items():
        found = actual.records.get(key, {}).get(instance)
        if found is None:
            failures += [] if failures else [_missing(base, actual, key, instance)]
            break
        judged = _judge(expected, found, evidence)
        if judged.comparison.first is not None and evidence[0].reordered:
            # What was added to a scalar may be as large as the scalar ever is.
            size = max(largest(_numbers(record)) for record in base.records[key].values())
            judged = _judge_with(expected, found, evidence[1](), None, size)
        row = _joined(row, expected, judged)
        if judged.comparison.first is not None:
            if _breaks_down(base, key, evidence[1]()):
                notes.insert(0, _says_little(expected))
            else:
                failures.append(_differs(expected, judged, base, reordered=evidence[0].reordered))
            break
        notes += _remarks(expected, judged)
    return ObjectVerdict(row, tuple(failures), tuple(notes[:1]))


def _breaks_down(base: CaptureLog, key: StreamKey, evidence: Evidence) -> bool:
    """Whether one build of the original divides by what is only rounding noise where another does not: some instance
    of the object holds infinities or NaNs in one, and more or fewer in the other. Then its numbers are nobody's."""
    return evidence.given is None and any(
        _not_finite(record) != _not_finite(other)
        for log in evidence.variants
        for instance, record in base.records[key].items()
        if (other := log.records.get(key, {}).get(instance)) is not None
    )


def _not_finite(record: Record) -> int:
    if record.summary is not None:
        return sum(block.not_finite for block in record.summary.blocks)
    values = record.values
    return 0 if values is None or not is_floating(values) else int((~np.isfinite(values)).sum())


def _judge(expected: Record, found: Record, evidence: tuple[Evidence, Callable[[], Evidence]]) -> _Judged:
    if expected.hash == found.hash and (expected.first, expected.count) == (found.first, found.count):
        return _Judged(Comparison(0.0, 0.0, 0, None, 0))
    judged = _judge_with(expected, found, evidence[0], EXACT)
    return judged if judged.comparison.first is None else _judge_with(expected, found, evidence[1](), None)


def _numbers(record: Record) -> Values | None:
    return record.values if record.summary is None else record.summary.samples


def _judge_with(
    expected: Record, found: Record, evidence: Evidence, fixed: Allowance | None, size: float = 0.0
) -> _Judged:
    again = _same_place(evidence.again, expected)
    variants = _same_place(evidence.variants, expected)
    allowance = fixed or evidence.given
    if expected.values is None or found.values is None:
        return _judge_summaries(expected, found, (again, variants), (allowance, evidence.reordered, size))
    low, high = max(expected.first, found.first), min(expected.first + expected.count, found.first + found.count)
    cut = [_cut(r, low, high) for r in (expected, found)]
    runs = [_cut(r, low, high) for r in again]
    skip = undetermined([cut[0], *runs]) | _stale(found, low, high)
    builds = [_cut(r, low, high) for r in variants]
    spread, unlike = spread_of(cut[0], builds, skip), unsettled(cut[0], builds)
    allowed = (allowance or allowance_of(spread, cut[0] if evidence.reordered else None, size)).of(cut[0])
    comparison = compare_arrays(cut[0], cut[1], allowed, skip | unlike, noise=is_noise(cut[0], spread))
    if comparison.first is not None:
        return _Judged(comparison, _place_text(expected, cut[0], cut[1], comparison.first, low))
    # Elements outside of the section that nobody ever wrote are no news.
    inside = skip[max(0, expected.lower - low) * expected.stride : max(0, expected.upper - low) * expected.stride]
    return _Judged(comparison, "", int(inside.sum()), is_ill_conditioned(cut[0], spread) or bool(unlike.any()))


def _same_place(logs: Sequence[CaptureLog], record: Record) -> list[Record]:
    found = (log.records.get((record.region, record.name), {}).get(record.instance) for log in logs)
    return [r for r in found if r is not None and (r.first, r.count) == (record.first, record.count)]


def _cut(record: Record, low: int, high: int) -> Values:
    assert record.values is not None
    return record.values[
        (low - record.first) * record.stride : max(low, high) * record.stride - record.first * record.stride
    ]


def _stale(record: Record, low: int, high: int) -> Mask:
    mask = np.zeros(max(0, high - low) * record.stride, np.bool_)
    for begin, end in record.stale:
        mask[max(0, begin - low) * record.stride : max(0, end - low) * record.stride] = True
    return mask


def _place_text(expected: Record, wanted: Values, got: Values, position: int, low: int) -> str:
    index = low + position // expected.stride
    element = f"{expected.name}[{index}]" if expected.count != 1 or expected.extent_from != "type" else expected.name
    inner = f" (byte {position % expected.stride})" if expected.stride > 1 else ""
    text = f"{element}{inner} is {show_value(got, position)}, the original has {show_value(wanted, position)}"
    if not expected.lower <= index < expected.upper:
        text += f"; it lies outside the section [{expected.lower}, {expected.upper}) that the region may touch"
    return text


# --- summaries: block sums and samples


def _judge_summaries(
    expected: Record,
    found: Record,
    others: tuple[list[Record], list[Record]],
    rule: tuple[Allowance | None, bool, float],
) -> _Judged:
    same = Comparison(0.0, 0.0, 0, None, 0)
    wanted, got = expected.summary, found.summary
    if wanted is None or got is None or (expected.first, expected.count) != (found.first, found.count):
        return _Judged(replace(same, first=0, failing=1), "its extent differs from the original's")
    again, variants = ([r.summary for r in records if r.summary] for records in others)
    builds = [s.samples for s in variants]
    skip = undetermined([wanted.samples, *(s.samples for s in again)]) | _sampled_stale(found)
    spread, unlike = spread_of(wanted.samples, builds, skip), unsettled(wanted.samples, builds)
    allowance, reordered, size = rule
    allowed = (allowance or allowance_of(spread, wanted.samples if reordered else None, size)).of(wanted.samples)
    noise = is_noise(wanted.samples, spread)
    comparison = compare_arrays(wanted.samples, got.samples, allowed, skip | unlike, noise=noise)
    if comparison.first is not None:
        index = int(wanted.positions[comparison.first // expected.stride])
        values = [show_value(s.samples, comparison.first) for s in (wanted, got)]
        text = f"{expected.name}[{expected.first + index}] is {values[1]}, the original has {values[0]}"
        return _Judged(comparison, text)
    ill = is_ill_conditioned(wanted.samples, spread) or bool(unlike.any())
    if found.stale:
        return _Judged(comparison, ill_conditioned=ill)
    bad = _unlike_block((wanted, got), (again, variants), allowance, size if reordered else None)
    if bad is None:
        return _Judged(comparison, ill_conditioned=ill)
    text = f"{_run_text(expected, bad, len(wanted.blocks))} differ in their sum or hash"
    return _Judged(replace(comparison, first=0, failing=1), text)


def _sampled_stale(record: Record) -> Mask:
    assert record.summary is not None
    places = record.summary.positions + record.first
    mask = np.zeros(places.shape, np.bool_)
    for begin, end in record.stale:
        mask |= (places >= begin) & (places < end)
    return np.repeat(mask, record.stride)


def _unlike_block(
    pair: tuple[Summary, Summary],
    others: tuple[list[Summary], list[Summary]],
    allowance: Allowance | None,
    reordered: float | None,
) -> int | None:
    """Return the first run of elements in which the two summaries differ by more than is allowed; `reordered`: the
    largest number that the object ever holds, where a port may have summed in another order."""
    wanted, got = pair
    again, variants = others
    hashed = not is_floating(wanted.samples) or allowance is EXACT
    spread = _sum_spread(wanted, variants, reordered) if allowance is None and not hashed else 0.0
    for number, block in enumerate(wanted.blocks):
        margin = 4 * spread + 16 * epsilon(wanted.samples) * block.magnitude if not hashed else -1.0
        if allowance is not None and not hashed:
            margin = max(allowance.absolute, allowance.relative * block.magnitude)
        if any(s.blocks[number].not_finite != block.not_finite for s in variants):
            continue
        if not _same_block((block, got.blocks[number]), [s.blocks[number] for s in again], margin):
            return number
    return None


def _sum_spread(wanted: Summary, variants: Sequence[Summary], reordered: float | None) -> float:
    """Return how far the sums of a run lie apart in the original's builds: of the object, as for elements."""
    gaps = [
        max(abs(ours.sum - theirs.sum), abs(ours.magnitude - theirs.magnitude))
        for other in variants
        for ours, theirs in zip(wanted.blocks, other.blocks, strict=True)
    ]
    if reordered is None:
        return max(gaps, default=0.0)
    size = max(reordered, *(block.magnitude for block in wanted.blocks))
    return max(gaps, default=0.0) + 64 * epsilon(wanted.samples) * size


def _same_block(pair: tuple[Block, Block], again: Sequence[Block], allowed: float) -> bool:
    wanted, got = pair
    if wanted.hash == got.hash or any(other.hash != wanted.hash for other in again):
        return True
    gap = max(abs(got.sum - wanted.sum), abs(got.magnitude - wanted.magnitude))
    return wanted.not_finite == got.not_finite and gap <= allowed


def _run_text(record: Record, number: int, count: int) -> str:
    section, runs = record.upper - record.lower, count - 2
    bounds = [
        record.first,
        *(record.lower + b * section // max(1, runs) for b in range(runs + 1)),
        record.first + record.count,
    ]
    if runs == 0:
        bounds = [record.first, record.lower, record.first + record.count]
    return f"the elements {record.name}[{bounds[number]}..{bounds[number + 1] - 1}]"


# --- words


def _after(record: Record, base: CaptureLog) -> str:
    if (record.region, record.name) not in base.totals:
        return f"after {record.region}"
    return f"after region {record.region} (instance {record.instance + 1})"


def _differs(record: Record, judged: _Judged, base: CaptureLog, *, reordered: bool) -> Finding:
    more = judged.comparison.failing - 1
    tail = f" ({more} more element{'s' if more > 1 else ''})" if more > 0 else ""
    message = f"{record.name} differs {_after(record, base)}: {judged.where}{tail}"
    return Finding("VER007", "error", message, help=(_KEEP_ORDER,) if reordered and _is_floating(record) else ())


def _is_floating(record: Record) -> bool:
    values = _numbers(record)
    return values is not None and is_floating(values)


def _missing(base: CaptureLog, actual: CaptureLog, key: StreamKey, instance: int | None) -> Finding:
    if key not in base.totals:
        return Finding(
            "VER008", "error", f"{key[0]} was not carried out by the candidate, so {key[1]} cannot be compared"
        )
    times, wanted = actual.totals.get(key, 0), base.totals[key]
    said = f"region {key[0]} was carried out {times} times, by the original {wanted} times"
    if times == wanted:
        said = f"{key[1]} was not recorded after region {key[0]} (instance {(instance or 0) + 1})"
    return Finding("VER008", "error", said)


def _extra(key: StreamKey, record: Record) -> ObjectVerdict:
    message = f"{key[1]} was recorded after region {key[0]}, which the original does not carry out"
    return ObjectVerdict(_row(record), (Finding("VER008", "error", message),), ())


def _remarks(record: Record, judged: _Judged) -> Iterator[Finding]:
    if judged.open_elements:
        what = f"{judged.open_elements} of {record.count * record.stride} elements of {record.name}"
        reason = "differ between two runs of the original (uninitialized memory, time or addresses)"
        yield Finding("VER022", "warning", f"{what} after {record.region} {reason}: they are not compared")
    if judged.ill_conditioned:
        yield _says_little(record)


def _says_little(record: Record) -> Finding:
    message = f"builds of the original differ by more than 0.1 % in {record.name} after {record.region}"
    return Finding("VER023", "warning", message + ": the comparison says little")


def _row(record: Record) -> LiveOut:
    return LiveOut(record.region, record.instance + 1, record.name, record.count, record.extent_from, 0.0, 0.0, 0, None)


def _joined(row: LiveOut, record: Record, judged: _Judged) -> LiveOut:
    comparison = judged.comparison
    return replace(
        row,
        instance=record.instance + 1,
        elements=record.count,
        max_abs=max(row.max_abs, comparison.max_abs),
        max_rel=max(row.max_rel, comparison.max_rel),
        max_ulp=max(row.max_ulp, comparison.max_ulp),
        first_difference=judged.where or None,
    )
