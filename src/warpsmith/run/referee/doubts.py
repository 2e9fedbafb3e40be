"""Why a comparison in which nothing differs is no proof: what keeps a verdict from `pass`.

    no launch       no kernel ran, or none of one region: the run says nothing of it
    left out        of an object that a region writes, no more than half was compared
    nothing written the kernels of a region ran and wrote nothing: there is nothing to compare
    insensitive     other values in what the kernels wrote would not have been noticed
    unasked         time was up before the last kernel was asked about
    unlike          what came back from the device is not what the original leaves in memory, and nothing that is
                    compared shows whether that matters

A doubt names the region and what would remove it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from warpsmith.base.findings import Finding
from warpsmith.run.compare.left import Unlike
from warpsmith.run.verification import LiveOut, PortedRegion, is_made_for

__all__ = ["Shown", "find_doubts", "no_launch", "report_stayed", "report_unasked", "unlike"]

_RUN_MORE = "say how to run it, so that it comes to what was ported: --run-args, --run-stdin, --run-dir"
_INITIALIZE = "initialize what the program reads, and print no times or addresses from it"
_PRINT = "let the program print its results, or a sum of them"
_FUNCTIONS = "or give files without a main: their functions are called, and what they write is compared"
_MOST_NAMED = 5


class Shown(Struct, frozen=True):
    """What runs have shown besides equality. `launches`: how often each kernel was launched, `writes`: in how many
    launches it wrote memory; `sensitive`: the regions of which other values would have been noticed; `unnoticed`:
    kernels of which they were not, in a program without captures; `reached`: how often the original came to each
    region."""

    launches: Mapping[str, int]
    writes: Mapping[str, int]
    sensitive: frozenset[str] = frozenset()
    unnoticed: tuple[str, ...] = ()
    reached: Mapping[str, int] = field(default_factory=dict)


def no_launch(exit_code: int) -> Finding:
    """Return that no kernel was launched at all."""
    how = f", which ends with exit code {exit_code}" if exit_code else ""
    message = f"no kernel was launched in the runs of the program{how}: they test nothing of the port"
    return Finding("VER028", "warning", message, help=(_RUN_MORE,))


def unlike(block: Unlike) -> Finding:
    """Return that a block came back from the device with other values than the original leaves in any of its size."""
    message = (
        f"{block.size:,} bytes of host memory that came back from the device differ at the end from what the original "
        f"leaves in memory, from byte {block.first:,} on, and nothing of that is printed"
    )
    return Finding("VER036", "warning", message, help=(_PRINT, _FUNCTIONS))


def report_stayed(size: int) -> Finding:
    """Return that the original leaves something in memory that the candidate leaves on the device: no doubt, since the
    run read nothing of it."""
    message = (
        f"{size:,} bytes that kernels wrote are never copied from the device; the original leaves them in host memory. "
        "The run does not read them there: nothing that is compared depends on them"
    )
    help = "if the array is a result of the program, copy it back"
    return Finding("VER037", "warning", message, help=(help,))


def report_unasked(kernels: Sequence[str], timeout_s: float) -> Finding:
    """Return that nobody knows whether other values in what these kernels write would be noticed."""
    message = (
        f"whether other values in what {_name_kernels(kernels)} wrote would be noticed was not asked: runs for the "
        f"other kernels took all of {timeout_s:g} s"
    )
    help = "give more time (--timeout), or give the program less work: --run-args, --run-stdin, --run-dir"
    return Finding("VER038", "warning", message, help=(help,))


def find_doubts(rows: Iterable[LiveOut], regions: tuple[PortedRegion, ...], shown: Shown) -> Iterator[Finding]:
    """Yield what keeps the verdict open: `rows` are the objects that were compared, `regions` those of the port."""
    open_rows = [row for row in rows if row.mostly_masked]
    for region in regions:
        if not _count(region, shown.launches):
            yield _report_not_launched(region, shown.reached.get(region.name, 0), alone=bool(shown.launches))
        elif region.name not in shown.sensitive and all(row.region != region.name for row in open_rows):
            yield _insensitive(region) if _count(region, shown.writes) else _idle(region)
    for row in open_rows:
        yield _report_left_out(row)
    yield from _report_unnoticed(shown)


def _count(region: PortedRegion, counts: Mapping[str, int]) -> int:
    return sum(count for name, count in counts.items() if is_made_for(region.kernel, name))


def _report_not_launched(region: PortedRegion, reached: int, *, alone: bool) -> Finding:
    test = f"its test failed ({' and '.join(region.guards)})" if region.guards else ""
    if reached:
        times = "once" if reached == 1 else f"{reached:,} times"
        why = f"the run came there {times}, and {f'{test}, or ' if test else ''}it had no iterations"
    else:
        why = "the run never came to the end of the region"
    message = f"no kernel of region {region.name} was launched: {why}"
    return Finding("VER034", "warning", message, region.span, help=(_RUN_MORE,) if alone else ())


def _report_left_out(row: LiveOut) -> Finding:
    total = row.compared + row.masked
    message = (
        f"{row.masked:,} of {total:,} elements of {row.name} after region {row.region} differ between runs or builds "
        "of the original: too few are left to compare"
    )
    return Finding("VER033", "warning", message, help=(_INITIALIZE,))


def _insensitive(region: PortedRegion) -> Finding:
    message = (
        f"other values in what the kernels of region {region.name} write would not have been noticed: nothing of it is "
        "compared, or any value is allowed there"
    )
    help = "run the program on data of which its results depend: --run-args, --run-stdin, --run-dir"
    return Finding("VER029", "warning", message, region.span, help=(help,))


def _idle(region: PortedRegion) -> Finding:
    message = f"the kernels of region {region.name} were launched, and wrote nothing: there is nothing of it to compare"
    return Finding("VER035", "warning", message, region.span, help=(_RUN_MORE,))


def _report_unnoticed(shown: Shown) -> Iterator[Finding]:
    """Yield what is said of kernels in a program without captures: of those that write, and of those that do not."""
    seen = [kernel for kernel in shown.unnoticed if shown.writes.get(kernel)]
    idle = [kernel for kernel in shown.unnoticed if not shown.writes.get(kernel)]
    if seen:
        what = "the kernels" if len(seen) == len(shown.launches) else _name_kernels(seen)
        message = f"other values in what {what} wrote changed nothing that is compared: output, files, exit code"
        yield Finding("VER029", "warning", message, help=(_PRINT, _FUNCTIONS))
    if idle:
        message = f"{_name_kernels(idle)} wrote nothing in the runs of the program: there is nothing of it to compare"
        yield Finding("VER035", "warning", message, help=(_RUN_MORE,))


def _name_kernels(kernels: Sequence[str]) -> str:
    return ", ".join(kernels[:_MOST_NAMED]) + (" ..." if len(kernels) > _MOST_NAMED else "")
