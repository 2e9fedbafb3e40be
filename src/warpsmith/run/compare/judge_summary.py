"""Comparing two objects of which sums of runs of elements and samples were recorded, not every element.

A run of elements passes where its hash is the same, or its sum and the sum of its magnitudes differ by no more than the
builds of the original do. A run whose hash differs between two runs of the original is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from warpsmith.run.compare.captures import CaptureRecord, ElementSummary, ElementSums
from warpsmith.run.compare.compare import Comparison, Mask, compare_arrays, epsilon, is_floating, show_value
from warpsmith.run.compare.judgment import Judgment
from warpsmith.run.compare.tolerance import (
    EXACT,
    Allowance,
    allowance_of,
    is_ill_conditioned,
    is_noise,
    mask_undetermined,
    mask_unsettled,
    spread_of,
)

__all__ = ["judge_summaries"]


def judge_summaries(
    expected: CaptureRecord,
    found: CaptureRecord,
    others: tuple[list[CaptureRecord], list[CaptureRecord]],
    rule: tuple[Allowance | None, bool, float],
) -> Judgment:
    """Compare two records of which at least one is a summary; `others`: the same object in other runs of the original,
    and in its other builds; `rule`: an allowance, whether the port sums in another order, the largest number seen."""
    same = Comparison(0.0, 0.0, 0, None, 0)
    wanted, got = expected.summary, found.summary
    if wanted is None or got is None or (expected.first, expected.count) != (found.first, found.count):
        return Judgment(replace(same, first=0, failing=1), "its extent differs from the original's")
    again, variants = ([r.summary for r in records if r.summary] for records in others)
    masked = _masked_elements(expected, again, variants)
    builds = [s.samples for s in variants]
    skip = mask_undetermined([s.samples for s in again], wanted.samples.shape) | _sampled_stale(found)
    base = again[0].samples if again else wanted.samples
    spread, unlike = spread_of(base, builds, skip), mask_unsettled(base, builds)
    allowance, reordered, size = rule
    allowed = (allowance or allowance_of(spread, wanted.samples if reordered else None, size)).of(wanted.samples)
    noise = is_noise(wanted.samples, spread)
    comparison = compare_arrays(wanted.samples, got.samples, allowed, skip | unlike, noise=noise)
    ill = is_ill_conditioned(wanted.samples, spread) or bool(unlike.any())
    if comparison.first is not None:
        index = int(wanted.positions[comparison.first // expected.stride])
        values = [show_value(s.samples, comparison.first) for s in (wanted, got)]
        text = f"{expected.name}[{expected.first + index}] is {values[1]}, the original has {values[0]}"
        return Judgment(comparison, text, masked, ill_conditioned=ill)
    # Stale elements lie outside of the section: in the first run of elements, or the last.
    runs = range(1, len(wanted.blocks) - 1) if found.stale else range(len(wanted.blocks))
    rule_of_sums = allowance, size if reordered else None
    bad = next((n for n in _unlike_blocks((wanted, got), (again, variants), rule_of_sums) if n in runs), None)
    if bad is None:
        return Judgment(comparison, masked=masked, ill_conditioned=ill)
    text = f"{_run_text(expected, bad, len(wanted.blocks))} differ in their sum or hash"
    return Judgment(replace(comparison, first=0, failing=1), text, masked, ill_conditioned=ill)


def _masked_elements(record: CaptureRecord, again: Sequence[ElementSummary], variants: Sequence[ElementSummary]) -> int:
    """Return how many elements of the section lie in runs of elements that are left out."""
    assert record.summary is not None
    blocks = record.summary.blocks
    out = [
        number
        for number, block in enumerate(blocks)
        if _is_open(again, number) or any(s.blocks[number].not_finite != block.not_finite for s in variants)
    ]
    bounds = _bounds(record, len(blocks))
    return sum(bounds[number + 1] - bounds[number] for number in out if 0 < number < len(blocks) - 1)


def _sampled_stale(record: CaptureRecord) -> Mask:
    assert record.summary is not None
    places = record.summary.positions + record.first
    mask = np.zeros(places.shape, np.bool_)
    for begin, end in record.stale:
        mask |= (places >= begin) & (places < end)
    return np.repeat(mask, record.stride)


def _unlike_blocks(
    pair: tuple[ElementSummary, ElementSummary],
    others: tuple[list[ElementSummary], list[ElementSummary]],
    rule: tuple[Allowance | None, float | None],
) -> Iterator[int]:
    """Yield the runs of elements in which the two summaries differ by more than is allowed; `rule`: the allowance, and
    the largest number that the object ever holds, where a port may have summed in another order."""
    wanted, got = pair
    again, variants = others
    allowance, reordered = rule
    hashed = not is_floating(wanted.samples) or allowance is EXACT
    spread = _sum_spread(wanted, variants, reordered) if allowance is None and not hashed else 0.0
    for number, block in enumerate(wanted.blocks):
        margin = 4 * spread + 16 * epsilon(wanted.samples) * block.magnitude if not hashed else -1.0
        if allowance is not None and not hashed:
            margin = max(allowance.absolute, allowance.relative * block.magnitude)
        if _is_open(again, number) or any(s.blocks[number].not_finite != block.not_finite for s in variants):
            continue
        if not _same_block(block, got.blocks[number], margin):
            yield number


def _sum_spread(wanted: ElementSummary, variants: Sequence[ElementSummary], reordered: float | None) -> float:
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


def _is_open(again: Sequence[ElementSummary], number: int) -> bool:
    """Whether a run of elements differs between runs of the original."""
    return len({summary.blocks[number].hash for summary in again}) > 1


def _same_block(wanted: ElementSums, got: ElementSums, allowed: float) -> bool:
    if wanted.hash == got.hash:
        return True
    gap = max(abs(got.sum - wanted.sum), abs(got.magnitude - wanted.magnitude))
    return wanted.not_finite == got.not_finite and gap <= allowed


def _run_text(record: CaptureRecord, number: int, count: int) -> str:
    bounds = _bounds(record, count)
    return f"the elements {record.name}[{bounds[number]}..{bounds[number + 1] - 1}]"


def _bounds(record: CaptureRecord, count: int) -> list[int]:
    """Return where the runs of elements begin, and where the last of them ends: one before the section, those of the
    section, one after it."""
    section, runs = record.upper - record.lower, count - 2
    if runs <= 0:
        return [record.first, record.lower, record.first + record.count]
    inner = (record.lower + b * section // runs for b in range(runs + 1))
    return [record.first, *inner, record.first + record.count]
