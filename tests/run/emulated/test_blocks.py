"""Arrays that lie in one block of memory: what a kernel wrote of one is stale on the host when another is looked at."""

from __future__ import annotations

from pathlib import Path

import msgspec.structs
import pytest

from warpsmith.flows.porting.plan import Written, writable_port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import Verification, VerifyOptions

_PROGRAM = Path(__file__).with_name("blocks_program.c")


def _written() -> Written:
    facts = analyze(load_program([str(_PROGRAM)], FrontOptions()).program, PolyOptions())
    return writable_port(Prepared(facts, facts), OffloadOptions(transfers="fragment"))


def _judged(written: Written, *changes: tuple[str, str]) -> Verification:
    files = written.candidate
    for old, new in changes:
        assert sum(file.text.count(old) for file in files) == 1
        files = tuple(msgspec.structs.replace(file, text=file.text.replace(old, new)) for file in files)
    reference = sources_of(written.port.reference, written.reference, captured=True)
    return verify(reference, sources_of(written.port.candidate, files, captured=True), VerifyOptions())


@pytest.mark.slow
def test_what_lies_beside_an_object_is_judged_where_it_is_newest() -> None:
    written = _written()
    assert [f.region for f in written.port.plan.fragments] == ["both/i", "one/i", "main/i"]
    right = _judged(written)
    assert right.status == "pass", right.reasons
    # the other array of the block is judged through its own name all the same
    for wrong in (
        ("high_gpu[i] = 2 * i", "high_gpu[i] = 2 * i + (i == 38)"),
        ("to_gpu[i] = from_gpu[i] + 1", "to_gpu[i] = 9"),
    ):
        assert _judged(written, wrong).status == "fail"
