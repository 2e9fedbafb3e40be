"""Whole ports in numbers: what each kernel, the copies and the host take, and when one is better than another.

Invariant: one is better only if what is not the same in both takes clearly less, so that a long copy that both make
hides no kernel, and a kernel without a time is in both.
Limits: seconds of the host are an estimate (offload/gain); what a nest takes there in place of the device counts as
often as that may be wrong.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

from warpsmith.flows.optimizing.kept import CandidateOutcome, more_of
from warpsmith.flows.optimizing.nests import outcome_of
from warpsmith.flows.optimizing.setting import PlannedPort
from warpsmith.flows.optimizing.times import KernelTimes
from warpsmith.machine.time.coarse import ERROR, copy_seconds
from warpsmith.report.model import KernelPrediction

__all__ = ["COPIES", "HOST", "is_better", "predict_kernels", "score", "seconds_of"]

COPIES: Final = "copies"
HOST: Final = "host"
_LACKING: Final = "?"


def predict_kernels(planned: PlannedPort, times: KernelTimes) -> dict[str, tuple[KernelPrediction, str]]:
    """Return the prediction of every kernel of a port, by the region that it is of, and its text."""
    fragments = planned.port.plan.fragments
    texts = times.texts(planned.port.program, [fragment.kernel for fragment in fragments])
    launched = planned.estimate.kernels
    return {
        fragment.region: (times.predict(k, texts[k.name], launched.get(k.name)), texts[k.name])
        for fragment in fragments
        for k in (fragment.kernel,)
    }


def score(planned: PlannedPort, times: KernelTimes, host: float | None = None) -> CandidateOutcome:
    """Return what a port is predicted to take. `host`: what the processor does in the port that the search starts from,
    beyond which its seconds count as often as they may be wrong."""
    predicted = predict_kernels(planned, times)
    found = {region: outcome_of(prediction) for region, (prediction, _) in predicted.items()}
    known = [(region, one.seconds) for region, one in found.items() if one.seconds is not None]
    lacking = [(_label(*predicted[region]), 0.0) for region, one in found.items() if one.seconds is None]
    launches = sum(prediction.launches for prediction, _ in predicted.values() if prediction.seconds is not None)
    estimate = planned.estimate
    kernels = [fragment.kernel for fragment in planned.port.plan.fragments]
    keys = sorted(times.key(k, predicted[f.region][1], estimate.kernels.get(k.name))
                  for f, k in zip(planned.port.plan.fragments, kernels, strict=True))  # fmt: skip
    known.append((COPIES, copy_seconds(times.gpu, estimate.bytes, estimate.copies)))
    before = estimate.host if host is None else host
    known.append((HOST, min(estimate.host, before) + ERROR * max(0.0, estimate.host - before)))
    return CandidateOutcome(
        sum(seconds for _, seconds in known),
        sectors=sum(one.sectors for one in found.values()),
        instructions=sum(one.instructions for one in found.values()),
        parts=(*known, *lacking),
        least=sum(seconds for _, seconds in known[-2:]) + launches * times.launch_seconds,
        key=f"{keys} {known[-2:]}",
    )


def _label(found: KernelPrediction, text: str) -> str:
    label = hashlib.sha256(f"{text}{'; '.join((*found.lacks, *found.unknown))}".encode("latin-1", "replace"))
    return f"{_LACKING}{label.hexdigest()}"


def seconds_of(outcome: CandidateOutcome, part: str) -> float | None:
    """Return what a part of a port takes."""
    return next((seconds for name, seconds in outcome.parts if name == part), None)


def is_better(one: CandidateOutcome, other: CandidateOutcome, least: float) -> bool:
    """Whether what is not the same in two ports takes the first clearly less, even if it counts as often as there are
    more sectors or instructions."""
    if sorted(_lacking(one)) != sorted(_lacking(other)):
        return False
    mine, others = Counter(_known(one)), Counter(_known(other))
    return sum((mine - others).elements()) * more_of(one, other) * least < sum((others - mine).elements())


def _known(outcome: CandidateOutcome) -> Iterator[float]:
    return (seconds for name, seconds in outcome.parts if not name.startswith(_LACKING))


def _lacking(outcome: CandidateOutcome) -> Iterator[str]:
    return (name for name, _ in outcome.parts if name.startswith(_LACKING))
