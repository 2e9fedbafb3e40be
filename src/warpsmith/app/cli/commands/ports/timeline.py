"""`port --timeline FILE` and `--compare-transfers`: the copies of a port as a picture, and the schemes side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from warpsmith.app.cli.output import check_free, write_files
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import decode_text
from warpsmith.emit.files import OutputFile
from warpsmith.flows.port import PortOptions, PortResult
from warpsmith.report.port.text import table_text

if TYPE_CHECKING:
    from warpsmith.report.timeline.events import MovedBytes, TimelineEvent

__all__ = ["check_timeline", "timeline_options", "transfer_texts"]

_FORMS = (".svg", ".txt")
C = TypeVar("C", bound=Callable[..., object])


def timeline_options(command: C) -> C:
    """Add the options to a command."""
    command = click.option(
        "--compare-transfers", is_flag=True, help="Place the copies in each of the four ways, and count them."
    )(command)
    return click.option(
        "--timeline",
        metavar="FILE",
        help="Show every copy that remains, in order: FILE.svg is a picture, FILE.txt text, - prints it.",
    )(command)


def check_timeline(out: str | None, *, force: bool) -> None:
    """Raise UsageError where --timeline names what cannot be written: reported before anything is worked out."""
    if out is None or out == "-":
        return
    if Path(out).suffix not in _FORMS:
        message = f"{out}: a timeline is a picture (.svg) or text (.txt, or - for the terminal)"
        raise UsageError(Finding("INP000", "error", message, help=("for example --timeline copies.svg",)))
    check_free(str(Path(out).parent), [Path(out).name], force=force)


def transfer_texts(
    result: PortResult, options: PortOptions, *, out: str | None, compare: bool, force: bool
) -> tuple[str, ...]:
    """Return what is printed for the options; the picture is written."""
    texts = []
    if out is not None and result.ported is not None:
        texts.append(_show_timeline(result, options, out, force=force))
    if compare and result.ported is not None:
        texts.append(_compare_schemes(result, options))
    return tuple(texts)


def _show_timeline(result: PortResult, options: PortOptions, out: str, *, force: bool) -> str:
    # loaded where it is wanted, as are pictures: what builds and runs programs takes long to load
    from warpsmith.flows.porting.transfers import measured_copies
    from warpsmith.report.timeline.events import timeline

    assert result.ported is not None
    measured = measured_copies(result.ported, result.files, options.run) if options.verify else None
    events = timeline(result.ported.program, measured)
    text = _draw_timeline(events, result, out)
    if out == "-":
        return text
    (written,) = write_files(str(Path(out).parent), [OutputFile(Path(out).name, text)], force=force)
    return f"wrote   {written}"


def _draw_timeline(events: Sequence[TimelineEvent], result: PortResult, out: str) -> str:
    from warpsmith.report.timeline.svg import timeline_svg
    from warpsmith.report.timeline.text import timeline_text

    names = " ".join(Path(unit.file.path).name for unit in result.program.units)
    if Path(out).suffix == ".svg":
        return decode_text(timeline_svg(events, f"copies of {names}"))
    return timeline_text(events) if out == "-" else decode_text(timeline_text(events)) + "\n"


def _compare_schemes(result: PortResult, options: PortOptions) -> str:
    from warpsmith.flows.porting.transfers import compared_schemes

    schemes = compared_schemes(result.prepared, options.offload, options.run, measure=options.verify)
    rows = [_row(s.name, s.copies, s.in_loops, s.moved) for s in schemes]
    header = ("scheme", "copies", "bulk in loops", "measured to the device", "measured to the host")
    return "transfers compared\n" + table_text(rows, header)


def _row(name: str, copies: int, in_loops: int, moved: tuple[MovedBytes, MovedBytes] | None) -> tuple[str, ...]:
    counted = ("not run", "not run") if moved is None else tuple(f"{m.count} x, {m.bytes} bytes" for m in moved)
    return (name, str(copies), str(in_loops), *counted)
