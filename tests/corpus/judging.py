"""The findings of rules on the kernels of the corpus, held against a run of each."""

from __future__ import annotations

from tests.analysis.rules.judged import Judged, borne_out
from tests.analysis.runs import Launched, Recorder, Watch
from tests.analysis.runs import Run as Made
from tests.corpus.reading import Run
from tests.corpus.running import ran
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.ssa.nodes import Module

__all__ = ["held_against_a_run"]


def held_against_a_run(module: Module, run: Run, facts: KernelFacts, seed: int) -> Judged:
    """Run a kernel as its file says, and hold the findings against that; pointers point to where memory begins."""
    memory, watch = Recorder(), Watch()
    outcome, _ = ran(module, run, seed, watch, memory)
    assert outcome.complete, run.kernel
    did = Launched.of(module, outcome, (memory, watch), n=0, m=0, base=0, warp=facts.device.warp_width)
    # a barrier that is taken out needs memory that does not change, which this is not
    findings = [finding for finding in judge(facts) if finding.rule != "SYN006"]
    return borne_out(Made(facts, did), findings, seed)
