"""Kernels of Brook+ as a module: one thread an element of the out streams' domain, width and height of which are
parameters behind the user's own."""

from __future__ import annotations

from collections.abc import Mapping

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.brook.nodes import BrookKernel
from warpsmith.front.brook.read import read_brook
from warpsmith.lower.program import lower
from warpsmith.ssa.nodes import Module

__all__ = ["read_brook_kernels", "rows_of"]


def read_brook_kernels(file: SourceFile) -> tuple[Module, tuple[Finding, ...], Mapping[str, BrookKernel]]:
    """Return the module of a file, what is to be said of it, and its kernels."""
    text = read_brook(file)
    whole = lower(text.program)
    return whole.module, (*text.findings, *whole.findings), text.kernels


def rows_of(kernel: BrookKernel) -> Mapping[str, str]:
    """Return the sizes that are 1 where nobody says them: those of streams with one axis."""
    return {size.name: "1" for size in (*kernel.domain[1:], *(one for few in kernel.sizes.values() for one in few[1:]))}
