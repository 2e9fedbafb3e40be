"""What is gained by rewriting: the port by a search for a faster one, a kernel by the fixes of what `analyze` finds.

before, after    all launches counted on the SIMT machine        the output of what was rewritten is compared, too
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.fix_files import Mended, fix_files
from warpsmith.flows.journey.compared import compare
from warpsmith.flows.journey.followed import FollowedCall, FollowedVersions, count_calls, follow
from warpsmith.flows.journey.found import explain_options
from warpsmith.flows.journey.origin import PORT, Begun, kernel_text, port_options
from warpsmith.flows.journey.ran import Expected, judge
from warpsmith.flows.journey.reasons import StoppedError, UnableError, reason_of
from warpsmith.flows.journey.versions import Version, hand_version, port_version
from warpsmith.flows.optimizing.optimize import OptimizeOptions
from warpsmith.flows.optimizing.ported import port_optimized
from warpsmith.report.journey.model import RewriteRow, RewriteStage
from warpsmith.report.search.text import summary_lines
from warpsmith.settings.model import Settings

__all__ = ["rewrite"]

_BUDGET_S: Final = 2.0
_BY_SEARCH: Final = "port --optimize"
_BY_FIXES: Final = "analyze --fix"


def rewrite(begun: Begun, followed: FollowedVersions, reference: Expected, settings: Settings) -> RewriteStage:
    """Return what every version is rewritten to."""
    rows = (_row(begun, version, followed.of(version), reference, settings) for version in begun.versions)
    return RewriteStage(rows=tuple(rows))


def _row(
    begun: Begun, version: Version, followed: tuple[FollowedCall, ...], reference: Expected, settings: Settings
) -> RewriteRow:
    how = _BY_SEARCH if version.name == PORT else _BY_FIXES
    row = RewriteRow(version.name, how, before=count_calls(followed) if followed else None)
    try:
        made, row = _search(begun, row) if version.name == PORT else _mend(begun, version, row, settings)
        return row if made is None else _judged(begun, made, row, reference)
    except StoppedError as error:
        return replace(row, verdict="stopped", why=reason_of(error))
    except (UnableError, WarpsmithError) as error:
        return replace(row, why=reason_of(error))


def _search(begun: Begun, row: RewriteRow) -> tuple[Version | None, RewriteRow]:
    """Return the port that is predicted to be the fastest, None where none is faster than the default."""
    subject = begun.subject
    wanted = OptimizeOptions(budget=_BUDGET_S, keep=False)
    result = port_optimized([subject.loops_source], port_options(subject.searched), wanted)
    search = result.search
    if search is None:
        return None, replace(row, why="nothing to gain: no loop becomes a kernel")
    sizes, counted = _named(subject.searched), _named(subject.sizes)
    told = "; ".join(summary_lines(search))
    row = replace(row, steps=search.steps, detail=f"searched for {sizes}, counted for {counted}: {told}")
    fragments = result.plan.fragments if result.plan is not None else ()
    if not any(one.function.symbol.name == subject.name for one in fragments):
        return None, replace(row, steps=(), why=f"for {sizes} no loop is worth a kernel")
    if not search.steps:
        return None, replace(row, why=f"nothing to gain for {sizes}")
    made = port_version(row.version, result, begun.inputs, (subject.name, subject.rounds))
    return made, replace(row, text="\n\n".join(kernel_text(made, name) for name in made.names.values()))


def _named(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value:,}" for name, value in sizes.items())


def _mend(begun: Begun, version: Version, row: RewriteRow, settings: Settings) -> tuple[Version | None, RewriteRow]:
    """Return a kernel with every fix that holds and changes no result, None where there is none."""
    mended = fix_files([version.file], explain_options(version, settings), unsafe=False)
    if not mended.edited:
        return None, replace(row, why="nothing to gain: no finding has a fix that holds")
    (edited,) = mended.edited
    hand = begun.subject.hand
    assert hand is not None
    made, _ = hand_version(version.name, replace(hand, file=replace(hand.file, text=edited.text)), begun.subject.values)
    return made, replace(row, steps=tuple(_mends(mended)), text=edited.text)


def _mends(mended: Mended) -> Iterator[str]:
    for rule, count in mended.applied.items():
        yield f"{rule} ({count})" if count > 1 else rule


def _judged(begun: Begun, made: Version, row: RewriteRow, reference: Expected) -> RewriteRow:
    """Return the row with what was rewritten, counted and compared."""
    followed = follow(made, begun.inputs.arrays)
    row = replace(row, after=count_calls(followed))
    if reference.why:
        return replace(row, verdict="not run", why=reference.why)
    found = compare(followed[-1].after, reference.arrays)
    verdict, why = judge(found, made)
    return replace(row, verdict=verdict, why=why)
