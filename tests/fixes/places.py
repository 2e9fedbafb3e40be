"""Kernels' text with what is known about it, and the fixes of a rule at a place of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import cast

from msgspec import Struct

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Span
from warpsmith.fixes.proposal import Rule
from warpsmith.fixes.site import Site, Trees
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit


def together(head: str, start: str, bodies: Iterable[str]) -> str:
    """Return a file with a kernel for each body, found by `case(body)`; `start` are parameters and first lines."""
    return head + "".join(f"__global__ void k{n}{start}{case(body)}\n}}\n" for n, body in enumerate(bodies))


def case(body: str) -> str:
    """Return a body as it stands in its file."""
    return f"    // a case\n    {body}"


@cache
def trees(text: str) -> Trees:
    """Read a file of kernels."""
    unit = read_unit(KernelFile("k.cu", text=text))
    assert isinstance(unit, KernelUnit), unit
    return Trees(unit.file, unit.language, unit.functions)


def site(known: Trees, place: str, within: str = "") -> Site:
    """Return the first place with this text; `within`: in the first text like that."""
    start = known.file.text.index(place, known.file.text.index(within))
    return next(known.sites(Span(known.file, start, start + len(place))))


def edited(text: str, fix: Fix) -> str:
    """Return the text with the edits of a fix."""
    for edit in sorted(fix.edits, key=lambda one: one.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


class Known(Struct, frozen=True):
    """What rules ask of a kernel besides its text: the block, and whether somebody said it."""

    block: tuple[int, int, int] = (32, 8, 1)
    block_assumed: tuple[str, ...] = ()


def offered(rule: Rule, text: str, place: str, within: str = "", known: Known | None = None) -> list[tuple[str, bool]]:
    """Return what the text's line becomes by each fix of a rule, and whether the fix is safe."""
    found = rule(site(trees(text), place, within), cast(KernelFacts, known or Known()), cast(KernelFinding, None))
    before = text.splitlines()
    made = ((edited(text, fix).splitlines(), fix.safe) for fix in found)
    return [
        (" ".join(new.strip() for old, new in zip(before, after, strict=True) if old != new), safe)
        for after, safe in made
    ]
