"""The copies of a port, counted while it runs on the emulation; and the four ways to place them, side by side.

Invariant: a measured count is that of one run of the very files that the port would write. It is asked for by name:
nothing is run otherwise.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.emit.file_names import kernel_stem
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import outlined_program
from warpsmith.flows.porting.plan import Written, writable_port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions, Port, TransferScheme
from warpsmith.report.timeline.events import MovedBytes
from warpsmith.run.emulated.build import build_emulated, schedule_environment
from warpsmith.run.emulated.device import device_environment
from warpsmith.run.native.programs import RunSetting, run_program
from warpsmith.run.referee.reference import runtime_files
from warpsmith.run.verification import VerifyOptions
from warpsmith.tree.nodes import (
    Call,
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DataSuspension,
    DeviceAlloc,
    Function,
    Node,
    Stmt,
    Update,
)
from warpsmith.tree.program import Program
from warpsmith.tree.shared import restore_shared
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, root_symbol, walk

__all__ = ["Scheme", "compared_schemes", "measured_copies"]

SCHEMES: tuple[TransferScheme, ...] = ("fragment", "host", "mixed", "optimized")
_PLACE = re.compile(r"\bWS\d*_HERE\b")
_COUNTED = (Copy, CopyWait, DataEnter, DataExit, DataRegionBoundary, DataSuspension, DeviceAlloc, Update)


class Scheme(Struct, frozen=True):
    """One way to place copies: how many stand in the text, how many of those in loops or in functions that loops call,
    whole sections each time; `moved`: what a run counted to
    the device and to the host (None: it was not run)."""

    name: TransferScheme
    copies: int
    in_loops: int
    moved: tuple[MovedBytes, MovedBytes] | None


def measured_copies(port: Port, files: Sequence[OutputFile], options: VerifyOptions) -> dict[Node, MovedBytes] | None:
    """Run the port once on the emulation; return what each statement copied, or None where it cannot be run."""
    lines = _run(port, files, options)
    if lines is None:
        return None
    result: dict[Node, MovedBytes] = {}
    for path, node, line in _places(port, files):
        found = [(count, bytes) for _, name, at, count, bytes in lines if at == line and _is_file(name, path)]
        if found:
            result[node] = MovedBytes(sum(count for count, _ in found), sum(bytes for _, bytes in found))
    return result


_Line = tuple[str, str, int, int, int]


def _run(port: Port, files: Sequence[OutputFile], options: VerifyOptions) -> list[_Line] | None:
    """Return (direction, file, line, count, bytes) for each place of the generated text that copied."""
    if not any(f.symbol.name == "main" for _, f in port.program.functions()):
        return None
    with tempfile.TemporaryDirectory(prefix="warpsmith-") as folder:
        work = Path(folder)
        # with the allocation functions that tell the port of every block: else it knows none, and its guards fail
        sources = sources_of(port.program, tuple(files), captured=False)
        built = build_emulated(sources, work / "build", extra_files=runtime_files())
        if built.finding is not None:
            return None
        copies_file = work / "copies"
        (work / "run").mkdir()
        environment = {
            **schedule_environment(0, work / "reports", seed=options.seed),
            **device_environment(options.device),
            "WARPSMITH_EMULATION_COPIES": str(copies_file),
        }
        run_program(built.command, options, RunSetting(work / "run", environment, options.timeout_s))
        return list(_parse_lines(copies_file.read_text(errors="replace"))) if copies_file.exists() else None


def _parse_lines(text: str) -> Iterator[_Line]:
    for line in text.splitlines():
        count, bytes, direction, number, name = line.split(" ", 4)
        yield direction, name, int(number), int(count), int(bytes)


def _is_file(name: str, path: str) -> bool:
    return name == path or name.endswith(f"/{path}") or Path(name).name == Path(path).name


def _places(port: Port, files: Sequence[OutputFile]) -> Iterator[tuple[str, Node, int]]:
    """Yield the statements that tell their place, with the line where they stand in the file that was written: in the
    host text, or in a generated function that it calls."""
    outlined = outlined_program(port.written, restore_shared(port.written, port.program))
    for number, (unit, path) in enumerate(zip(outlined.program.units, _paths(port, files), strict=True)):
        stays = [node for function in unit.functions for node in _in_order(function)]
        yield from _lines_of(path, stays, files)
        moved = [
            node for one in outlined.functions.get(number, ()) for stmt in one.in_order() for node in _in_order(stmt)
        ]
        beside = str(PurePosixPath(path).with_name(f"{kernel_stem(PurePosixPath(path))}_kernels.cu"))
        yield from _lines_of(beside, moved, files)


def _lines_of(path: str, nodes: Sequence[Node], files: Sequence[OutputFile]) -> Iterator[tuple[str, Node, int]]:
    """Yield the statements that stand in a file, in its order, each with its line."""
    text = next((file.text for file in files if file.path == path), "")
    numbered = ((n, line) for n, line in enumerate(text.split("\n"), 1) if not line.startswith("#define"))
    lines = [n for n, line in numbered for _ in _PLACE.findall(line)]
    if len(lines) == len(nodes):
        yield from ((path, node, line) for node, line in zip(nodes, lines, strict=True))


def _paths(port: Port, files: Sequence[OutputFile]) -> list[str]:
    names = [Path(unit.file.path).name for unit in port.program.units]
    return [next((f.path for f in files if Path(f.path).name == name), name) for name in names]


def _in_order(root: Node) -> Iterator[Stmt]:
    """Yield the statements that print their place, in the order of the text."""
    for part in walk(root):
        if isinstance(part, _COUNTED):
            yield part


def compared_schemes(
    prepared: Prepared, options: OffloadOptions, run: VerifyOptions, *, measure: bool
) -> tuple[Scheme, ...]:
    """Plan the port once with each scheme, and run each where `measure` says so."""
    made = []
    for name in SCHEMES:
        written = writable_port(prepared, replace(options, transfers=name, data="resident"), compared=False)
        made.append(_scheme(name, written, run, measure=measure))
    return tuple(made)


def _scheme(name: TransferScheme, written: Written, run: VerifyOptions, *, measure: bool) -> Scheme:
    transfers = written.port.plan.transfers
    lines = _run(written.port, written.files, run) if measure else None
    moved = None
    if lines is not None:
        to_device, to_host = (
            MovedBytes(
                sum(line[3] for line in lines if line[0] == way), sum(line[4] for line in lines if line[0] == way)
            )
            for way in ("in", "out")
        )
        moved = (to_device, to_host)
    again = [function.span for function in _find_called_in_loops(written.port.program)]
    bulk = [t for t in transfers if not t.held and t.few is None]
    in_loops = sum(1 for t in bulk if t.in_loop is not None or any(span.contains(t.cause) for span in again))
    return Scheme(name, len(transfers), in_loops, moved)


def _find_called_in_loops(program: Program) -> list[Function]:
    """Return the functions that a loop of the program calls, directly or through others."""
    defined = {f.symbol: f for _, f in program.functions()}
    pending = [part for f in defined.values() for loop, _ in loops(f.body) for part in walk(loop)]
    found: dict[Symbol, Function] = {}
    while pending:
        part = pending.pop()
        callee = root_symbol(part.function) if isinstance(part, Call) else None
        if callee in defined and callee not in found:
            found[callee] = defined[callee]
            pending += walk(defined[callee].body)
    return list(found.values())
