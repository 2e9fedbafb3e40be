"""Whether a comparison of an object notices that kernels wrote other values there.

The capture runtime records an object once more as it would be then (emulation/disturb.cpp). The larger ones of these
records hold sums and sampled elements only: where the original's holds every element, those are compared.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from warpsmith.run.compare.captures import CaptureLog, CaptureRecord
from warpsmith.run.compare.judge import Evidence, compare_records

__all__ = ["tells_apart"]


def tells_apart(wanted: Mapping[int, CaptureRecord], changed: Mapping[int, CaptureRecord], evidence: Evidence) -> bool:
    """Whether the comparison of an object notices that it was changed, in some instance."""
    pairs = ((wanted[instance], found) for instance, found in changed.items() if instance in wanted)
    return any(_differ_visibly(one, other, evidence) for one, other in pairs)


def _differ_visibly(expected: CaptureRecord, changed: CaptureRecord, evidence: Evidence) -> bool:
    if expected.values is not None and changed.summary is not None:
        # sums have no counterpart where every element is known: the sampled elements have
        positions = changed.summary.positions
        expected, changed = (_sample_record(record, positions) for record in (expected, changed))
        evidence = _sampled_evidence(evidence, changed, positions)
    return compare_records(expected, changed, (evidence, lambda: evidence)).comparison.first is not None


def _sample_record(record: CaptureRecord, positions: npt.NDArray[np.int64]) -> CaptureRecord:
    """Return the record of an object that consists of some elements of this one."""
    if record.values is None:
        values = record.summary.samples if record.summary is not None else None
    else:
        values = record.values.reshape(-1, record.stride)[positions].reshape(-1)
    number = len(positions)
    return replace(record, first=0, count=number, lower=0, upper=number, stale=(), values=values, summary=None)


def _sampled_evidence(evidence: Evidence, record: CaptureRecord, positions: npt.NDArray[np.int64]) -> Evidence:
    def part(log: CaptureLog) -> CaptureLog:
        found = log.records.get((record.region, record.name), {}).get(record.instance)
        if found is None or found.values is None:
            return CaptureLog()
        return CaptureLog({(record.region, record.name): {record.instance: _sample_record(found, positions)}})

    unwritten = tuple(tuple((part(log), fills) for log, fills in group) for group in evidence.unwritten)
    again, variants = (tuple(map(part, logs)) for logs in (evidence.again, evidence.variants))
    return replace(evidence, again=again, variants=variants, unwritten=unwritten)
