"""The program of Brook+ on the data of the others: it computes the same, from a definition of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from warpsmith.base.source import SourceFile
from warpsmith.flows.journey.compared import compare
from warpsmith.flows.journey.followed import FollowedVersions
from warpsmith.flows.journey.origin import Begun
from warpsmith.flows.journey.ran import Expected, judge
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.journey.subjects import program_text
from warpsmith.flows.streams.run import StreamOptions, run_host
from warpsmith.kernels.arguments import Array
from warpsmith.report.journey.model import StreamRow, StreamStage

__all__ = ["run_streams"]


def run_streams(begun: Begun, followed: FollowedVersions, reference: Expected) -> StreamStage:
    """Return the program of Brook+ against the original, and against each version; raises UnableError and
    WarpsmithError where it cannot be run."""
    if reference.why:
        raise UnableError(reference.why)
    passes, left = _run(begun)
    others = {reference.name: reference.arrays}
    others |= {f"the kernels {name}": calls[-1].after for name, calls in followed.calls.items()}
    return StreamStage(rows=tuple(_rows(passes, left, others)))


def _rows(passes: int, left: Mapping[str, Array], others: Mapping[str, Mapping[str, Array]]) -> Iterator[StreamRow]:
    for name, arrays in others.items():
        # its numbers are floats, which hold these whole numbers exactly
        found = compare(left, {key: arrays[key].astype(left[key].dtype) for key in left})
        verdict, why = judge(found)
        yield StreamRow(name, passes, verdict, found.elements, found.differ, why)


def _run(begun: Begun) -> tuple[int, Mapping[str, Array]]:
    """Return how many passes the program makes, and what it leaves in its arrays."""
    subject, inputs = begun.subject, begun.inputs
    file = SourceFile(subject.streams, program_text(subject.streams))
    with TemporaryDirectory() as folder:
        texts = [f"{name}={value}" for name, value in inputs.numbers.items()]
        for name, array in inputs.arrays.items():
            np.save(Path(folder, f"{name}.npy"), array.astype(np.float32))
            texts.append(f"{name}=@{Path(folder, f'{name}.npy')}")
        out = {name: str(Path(folder, f"{name}-out.npy")) for name in inputs.arrays}
        report = run_host(file, subject.name, StreamOptions(tuple(texts), out))
        return len(report.passes), {name: np.load(place) for name, place in out.items()}
