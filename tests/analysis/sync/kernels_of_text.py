"""Judges of kernels that are written as text, with their accesses in order."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import lowered
from warpsmith.analysis.memory.accesses import AccessSite, places
from warpsmith.analysis.memory.presence import Presences
from warpsmith.analysis.memory.solved import solved_forms
from warpsmith.analysis.sync.races import Judge
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import uniformity
from warpsmith.simt.launch import Dim

__all__ = ["judge_of"]


def judge_of(body: str, folder: Path, block: Dim = (64, 1, 1), more: str = "") -> tuple[Judge, list[AccessSite]]:
    """Return the judge of `k(int *a, int *b, int n, int m)` with this body, and its accesses; `more`: parameters."""
    text = f"__global__ void k(int *a, int *b, int n, int m{more}) {{ __shared__ int s[4096]; {body} }}\n"
    module = lowered(text, folder, "k.cu").module
    answer = uniformity(module.functions[0], Threads("block", block))
    forms = solved_forms(module, answer, LaunchShape(block))
    return Judge.of(forms, Presences(forms)), places(forms)
