"""Kernels of examples/ and of the corpus of races: those that are written as AMD IL, and why others are not."""

from __future__ import annotations

from tests.targets.llvm.examples import OWN, all_kernels, kernel_module, own_kernels
from warpsmith.base.errors import InputError
from warpsmith.targets.il.writing.export import write_il

__all__ = ["corpus", "why_refused"]


def corpus() -> list[tuple[str, str]]:
    """Return the files and names of all kernels."""
    return [*all_kernels(), *((OWN, name) for name in own_kernels())]


def why_refused(path: str, name: str) -> str:
    """Return why a kernel is not written, "" where it is; raises AssertionError where the reason has no line."""
    module = kernel_module(path).module
    function = module.function(name)
    assert function is not None
    try:
        write_il(module, function)
    except InputError as error:
        (finding,) = error.findings
        assert finding.rule == "TGT001" and finding.span is not None
        return finding.message
    return ""
