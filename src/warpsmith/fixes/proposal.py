"""The type of a rule's function that proposes fixes: titles and edits. Alternatives are tried in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.fixes import Fix
from warpsmith.fixes.site import Site

__all__ = ["Rule"]

Rule = Callable[[Site, KernelFacts, KernelFinding], Iterator[Fix]]
"""Yields the ways to mend a finding at a place, the one to try first in front."""
