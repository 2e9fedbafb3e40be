"""Comparing the objects that the candidate's run captured with the original's.

    pass 1   bit for bit with the run of the original in which memory that nobody wrote had the same content, where that
             differs with time and addresses left out: most correct ports end here
    pass 2   only where pass 1 fails: the original's other builds are made, and what they leave open is allowed

Invariant: an element is left out only where the original's own runs differ in it, or where its newest value lies in
another object's device buffer and that object has been compared itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.run.compare.captures import CaptureLog, CaptureRecord, StreamKey
from warpsmith.run.compare.compare import Comparison, Mask, Values, compare_arrays, is_floating, show_value
from warpsmith.run.compare.judge_summary import judge_summaries
from warpsmith.run.compare.judgment import Judgment, section_elements
from warpsmith.run.compare.tolerance import (
    EXACT,
    Allowance,
    addresses,
    allowance_of,
    is_ill_conditioned,
    is_noise,
    largest,
    mask_filled,
    mask_undetermined,
    mask_unsettled,
    mask_unwritten,
    moved_addresses,
    spread_of,
)
from warpsmith.run.verification import NO_ROUNDING, LiveOut

__all__ = ["KEEP_ORDER", "Evidence", "ObjectVerdict", "compare_logs", "compare_records"]

# a difference that is a larger part of the object's largest number is no rounding
_LARGEST_ROUNDING = 1e-2
_KEEP_ORDER_OF_INTEGERS = (
    "only if this is made from a sum that the port combines in another order can that be the cause: --precise-fp keeps "
    "the order, and shows it"
)
_KEEP_ORDER_OF_TESTS = (
    f"{NO_ROUNDING}; only if a test or an integer is made from a sum that the port combines in another order can that "
    "be its cause: --precise-fp keeps the order, and shows it"
)
KEEP_ORDER = (
    "the port combines floating-point numbers in another order: if the result hangs on their last bits, --precise-fp "
    "keeps the order"
)


class Evidence(Struct, frozen=True):
    """What the original leaves open: `again`, logs of runs that should be equal, of which an element that differs is
    left out, the base run first; `variants`, logs of its other builds; `unwritten`: groups of runs with the bytes that
    memory was filled with in each; `given`: the user's own allowance in place of what the builds suggest;
    `reordered_bits`: of the floating-point numbers that the candidate combines in another order
    (compare/tolerance.py)."""

    again: tuple[CaptureLog, ...]
    variants: tuple[CaptureLog, ...] = ()
    unwritten: tuple[tuple[tuple[CaptureLog, bytes], ...], ...] = ()
    given: Allowance | None = None
    reordered_bits: int = 0


class ObjectVerdict(Struct, frozen=True):
    """What came out for one stream of one run: its row in the report, why it fails, what is to be said besides;
    `broken`: its numbers are nobody's, since rounding noise decides whether they are finite; `lost`: it differs, and
    infinities or NaNs stand where the original has numbers."""

    live_out: LiveOut
    failures: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    broken: bool = False
    lost: bool = False

    def leave_out(self) -> ObjectVerdict:
        """Return the verdict on an object that is what others made of numbers that are nobody's."""
        row = self.live_out
        text = f"{row.name} after {row.region} has no numbers where another object has lost its own: it is left out"
        note = Finding("VER023", "warning", text)
        return replace(self, live_out=row.cover(0, max(1, row.compared + row.masked)), failures=(), notes=(note,))


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
    broken = lost = False
    # sums do not tell what nobody has written: what is covered is counted where elements are known
    whole = any(record.values is not None for record in base.records[key].values())
    if base.totals.get(key) != actual.totals.get(key):
        failures.append(_missing(base, actual, key, None))
    for instance, expected in base.records[key].items():
        found = actual.records.get(key, {}).get(instance)
        if found is None:
            failures += [] if failures else [_missing(base, actual, key, instance)]
            break
        judged = compare_records(expected, found, evidence)
        if judged.comparison.first is not None and evidence[0].reordered_bits:
            # What was added to a scalar may be as large as the scalar ever is.
            known = [record for record in base.records[key].values() if record.values is not None or not whole]
            size = max(_largest_written(record, evidence[1]()) for record in known)
            judged = _judge_with(expected, found, evidence[1](), None, size)
        row = _join_row(row, expected, judged)
        if expected.values is not None or not whole:
            section = expected.upper - expected.lower
            left_out = judged.masked + judged.absent
            row = row.cover(section - left_out - judged.unwritten - judged.addresses, left_out)
        if judged.comparison.first is not None:
            lost = _not_finite(found) > _not_finite(expected)
            # what is noise in one sum may be zero in another, and be divided by
            broken = _breaks_down(base, key, evidence[1]()) or (lost and judged.ill_conditioned)
            if broken:
                notes.insert(0, _says_little(expected))
                row = row.cover(0, expected.upper - expected.lower)
            else:
                failures.append(_differs(expected, judged, base, reordered=bool(evidence[0].reordered_bits)))
            break
        notes += _remarks(expected, judged)
    return ObjectVerdict(row, tuple(failures), tuple(notes[:1]), broken, lost)


def _breaks_down(base: CaptureLog, key: StreamKey, evidence: Evidence) -> bool:
    """Whether one build of the original divides by what is only rounding noise where another does not: some instance
    of the object holds infinities or NaNs in one, and more or fewer in the other. Then its numbers are nobody's."""
    base = evidence.again[0] if evidence.again else base
    return evidence.given is None and any(
        _not_finite(record) != _not_finite(other)
        for log in evidence.variants
        for instance, record in base.records.get(key, {}).items()
        if (other := log.records.get(key, {}).get(instance)) is not None
    )


def _not_finite(record: CaptureRecord) -> int:
    if record.summary is not None:
        return sum(block.not_finite for block in record.summary.blocks)
    values = record.values
    return 0 if values is None or not is_floating(values) else int((~np.isfinite(values)).sum())


def compare_records(
    expected: CaptureRecord, found: CaptureRecord, evidence: tuple[Evidence, Callable[[], Evidence]]
) -> Judgment:
    """Compare one instance of an object, with the first evidence and, where that does not excuse it, with all."""
    if expected.hash == found.hash and (expected.first, expected.count) == (found.first, found.count):
        return Judgment(Comparison(0.0, 0.0, 0, None, 0), identical=True)
    judged = _judge_with(expected, found, evidence[0], EXACT)
    return judged if judged.comparison.first is None else _judge_with(expected, found, evidence[1](), None)


def _numbers(record: CaptureRecord) -> Values | None:
    return record.values if record.summary is None else record.summary.samples


def _judge_with(
    expected: CaptureRecord, found: CaptureRecord, evidence: Evidence, fixed: Allowance | None, size: float = 0.0
) -> Judgment:
    again = _same_place(evidence.again, expected)
    variants = _same_place(evidence.variants, expected)
    allowance = fixed or evidence.given
    if expected.values is None or found.values is None:
        # Sums do not tell which elements nobody has written: all that differ are left out.
        again += _same_place([log for group in evidence.unwritten for log, _ in group], expected)
        return judge_summaries(expected, found, (again, variants), (allowance, evidence.reordered_bits, size))
    low, high = max(expected.first, found.first), min(expected.first + expected.count, found.first + found.count)
    cut = [_cut(r, low, high) for r in (expected, found)]
    runs = [_cut(r, low, high) for r in again]
    bare = _mask_unwritten(evidence, expected, low, high)
    # where an address differs from run to run, another address is as good, and nothing else
    moved = moved_addresses(runs, cut[0].shape)
    skip = mask_undetermined(runs, cut[0].shape) & ~(moved & ~addresses(cut[1])) | _stale(found, low, high) | bare
    base, builds = runs[0] if runs else cut[0], [_cut(r, low, high) for r in variants]
    spread, unlike = spread_of(base, builds, skip), mask_unsettled(base, builds)
    # what memory was filled with may be a huge number: it allows nothing
    written = cut[0][~(bare | mask_filled(cut[0]))]
    allowed = (allowance or allowance_of(spread, written, size, reordered_bits=evidence.reordered_bits)).of(cut[0])
    comparison = compare_arrays(cut[0], cut[1], allowed, skip | unlike, noise=is_noise(written, spread))
    # Elements outside of the section that nobody ever wrote are no news, nor those that the original has yet to write.
    new = np.zeros_like(bare) if bare.all() else bare
    apart = (new, moved & ~new, (skip | unlike) & ~moved & ~new)
    unwritten, pointers, masked = (section_elements(expected, mask, low) for mask in apart)
    ill = is_ill_conditioned(written, spread) or bool(unlike.any())
    absent = expected.upper - expected.lower - max(0, min(high, expected.upper) - max(low, expected.lower))
    where = "" if comparison.first is None else _place_text(expected, cut[0], cut[1], comparison.first, low)
    return Judgment(comparison, where, masked, unwritten, addresses=pointers, absent=absent, ill_conditioned=ill)


def _largest_written(record: CaptureRecord, evidence: Evidence) -> float:
    """Return the largest magnitude of what somebody has written to an object."""
    if record.values is None:
        return largest(_numbers(record))
    bare = _mask_unwritten(evidence, record, record.first, record.first + record.count)
    return largest(record.values[~(bare | mask_filled(record.values))])


def _same_place(logs: Sequence[CaptureLog], record: CaptureRecord) -> list[CaptureRecord]:
    found = (log.records.get((record.region, record.name), {}).get(record.instance) for log in logs)
    return [r for r in found if r is not None and (r.first, r.count) == (record.first, record.count)]


def _cut(record: CaptureRecord, low: int, high: int) -> Values:
    assert record.values is not None
    return record.values[
        (low - record.first) * record.stride : max(low, high) * record.stride - record.first * record.stride
    ]


def _mask_unwritten(evidence: Evidence, record: CaptureRecord, low: int, high: int) -> Mask:
    mask = np.zeros(max(0, high - low) * record.stride, np.bool_)
    for group in evidence.unwritten:
        found = [(r, fills) for log, fills in group for r in _same_place((log,), record) if r.values is not None]
        if len(found) == len(group):
            mask |= mask_unwritten([(_cut(r, low, high), fills) for r, fills in found], mask.shape)
    return mask


def _stale(record: CaptureRecord, low: int, high: int) -> Mask:
    mask = np.zeros(max(0, high - low) * record.stride, np.bool_)
    for begin, end in record.stale:
        mask[max(0, begin - low) * record.stride : max(0, end - low) * record.stride] = True
    return mask


def _place_text(expected: CaptureRecord, wanted: Values, got: Values, position: int, low: int) -> str:
    index = low + position // expected.stride
    element = f"{expected.name}[{index}]" if expected.count != 1 or expected.extent_from != "type" else expected.name
    inner = f" (byte {position % expected.stride})" if expected.stride > 1 else ""
    text = f"{element}{inner} is {show_value(got, position)}, the original has {show_value(wanted, position)}"
    if not expected.lower <= index < expected.upper:
        text += f"; it lies outside the section [{expected.lower}, {expected.upper}) that the region may touch"
    return text


# --- words


def _after(record: CaptureRecord, base: CaptureLog) -> str:
    if (record.region, record.name) not in base.totals:
        return f"after {record.region}"
    return f"after region {record.region} (instance {record.instance + 1})"


def _differs(record: CaptureRecord, judged: Judgment, base: CaptureLog, *, reordered: bool) -> Finding:
    more = judged.comparison.failing - 1
    tail = f" ({more} more element{'s' if more > 1 else ''})" if more > 0 else ""
    message = f"{record.name} differs {_after(record, base)}: {judged.where}{tail}"
    return Finding("VER007", "error", message, help=_causes(record, judged) if reordered else ())


def _causes(record: CaptureRecord, judged: Judgment) -> tuple[str, ...]:
    """Return what another order of a sum has to do with a difference: rounding is small, but a test or a conversion to
    an integer makes it large."""
    values = _numbers(record)
    if values is not None and not is_floating(values):
        return (_KEEP_ORDER_OF_INTEGERS,)
    gap, size = judged.comparison.max_abs, largest(values)
    return (KEEP_ORDER,) if gap <= _LARGEST_ROUNDING * size else (_KEEP_ORDER_OF_TESTS,)


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


def _extra(key: StreamKey, record: CaptureRecord) -> ObjectVerdict:
    message = f"{key[1]} was recorded after region {key[0]}, which the original does not carry out"
    return ObjectVerdict(_row(record), (Finding("VER008", "error", message),), ())


def _remarks(record: CaptureRecord, judged: Judgment) -> Iterator[Finding]:
    if judged.masked:
        what = f"{judged.masked:,} of {record.upper - record.lower:,} elements of {record.name}"
        reason = "differ between two runs of the original (time or addresses), or were never written"
        if judged.ill_conditioned:
            reason = "differ between runs, or are finite in one build and not in another, of the original"
        left_out = "they are not compared"
        if record.summary is not None:
            left_out = "they are not compared where the region's results are recorded as sums, in its later runs"
            reason = f"lie in a sum with elements that {reason}"
        yield Finding("VER022", "warning", f"{what} after {record.region} {reason}: {left_out}")
    if judged.absent:
        what = f"{judged.absent:,} of {record.upper - record.lower:,} elements of {record.name}"
        text = f"{what} after {record.region} lie outside of the candidate's object: they are not compared"
        yield Finding("VER022", "warning", text)
    if judged.addresses:
        what = f"{judged.addresses:,} of {record.upper - record.lower:,} elements of {record.name}"
        yield Finding(
            "VER022", "note", f"{what} after {record.region} hold addresses: that they are addresses is compared"
        )
    if judged.ill_conditioned:
        yield _says_little(record)


def _says_little(record: CaptureRecord) -> Finding:
    message = f"builds of the original differ by more than 0.1 % in {record.name} after {record.region}"
    return Finding("VER023", "warning", message + ": the comparison says little")


def _row(record: CaptureRecord) -> LiveOut:
    return LiveOut(record.region, record.instance + 1, record.name, record.count, record.extent_from, 0.0, 0.0, 0, None)


def _rounding(record: CaptureRecord, judged: Judgment) -> float:
    """Return the largest difference that was allowed, as a part of the object's largest number."""
    size = largest(_numbers(record)) if judged.comparison.first is None else 0.0
    gap = judged.comparison.max_abs
    return gap / size if size > 0 and np.isfinite(gap) else 0.0


def _join_row(row: LiveOut, record: CaptureRecord, judged: Judgment) -> LiveOut:
    comparison = judged.comparison
    return replace(
        row,
        instance=record.instance + 1,
        elements=record.count,
        max_abs=max(row.max_abs, comparison.max_abs),
        max_rel=max(row.max_rel, comparison.max_rel),
        max_ulp=max(row.max_ulp, comparison.max_ulp),
        first_difference=judged.where or None,
        identical=row.identical and judged.identical,
        rounding=max(row.rounding, _rounding(record, judged)),
    )
