"""The report of the emulation, in the user's words: races and errors with the lines of the user's files.

The emulation writes one JSON line a report, with places as offsets in the program (emulation/report.cpp); binutils'
addr2line turns those into lines. Without it the kernel is named and the spans are missing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from warpsmith.base.findings import Finding, Note, Severity
from warpsmith.base.source import SourceFile, Span
from warpsmith.run.emulated.absent_threads import went_around
from warpsmith.run.emulated.declared import find_declared
from warpsmith.run.native.tools import find_addr2line
from warpsmith.run.verification import Race, Sources

__all__ = ["Seen", "read_reports"]

_LOCATION = re.compile(r"^(?P<file>.+):(?P<line>\d+)(?: \(discriminator \d+\))?$")
_ADDR2LINE_TIMEOUT_S = 60.0
_QUIET = {"more_races", "api_error", "bad_launch"}
_RULES = {
    "race": "VER040",
    "out_of_bounds": "VER041",
    "use_after_free": "VER041",
    "misaligned": "VER041",
    "wild_pointer": "VER041",
    "writes_constant": "VER041",
    "host_memory": "VER042",
    "host_dereference": "VER042",
    "host_touches_device_variable": "VER042",
    "deadlock": "VER043",
    "different_barriers": "VER043",
    "divergent_barrier": "VER043",
    "absent_barrier": "VER043",
    "absent_lanes": "VER047",
    "warp_mask": "VER047",
    "too_large": "VER048",
    "unordered": "VER046",
    "host_memory_gone": "VER046",
    "host_overrun": "VER041",
    "api_error": "VER044",
    "bad_launch": "VER044",
}
_WAIT = "wait first: cudaStreamSynchronize, cudaEventSynchronize or cudaDeviceSynchronize"
_ORDER = "use one stream, or cudaEventRecord in the one and cudaStreamWaitEvent in the other"


class Seen(Struct, frozen=True):
    """What one run showed.

    `races`: unordered conflicts; `silent_races`: those in which all writers wrote what was there already (two writes of
    one value); `failures`: errors of the kernels or of the host about device memory; `notes`: CUDA calls and launches
    that returned an error, which the program may have expected.
    """

    races: tuple[Race, ...] = ()
    silent_races: tuple[Race, ...] = ()
    failures: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()


class _Access(Struct, frozen=True):
    """One side of a report: what it did, which thread (empty on the host), where.

    Of operations: `actor` is kernel, call, host_function or host, `name` the kernel or call, `issued` where the host
    asked for it.
    """

    op: str
    block: tuple[int, ...]
    thread: tuple[int, ...]
    pc: int
    actor: str
    name: str
    issued: int


class _Report(Struct, frozen=True):
    """One line of the file, typed."""

    kind: str
    kernel: str
    array: str
    space: str
    index: int
    offset: int
    size: int
    extent: int
    acquired: int
    message: str
    same_value: bool
    count: int
    accesses: tuple[_Access, ...]


def read_reports(path: Path, program: Path, sources: Sources, directory: Path) -> Seen:
    """Read the report file of one run of `program`, which was built from `sources` in `directory`."""
    if not path.is_file():
        return Seen()
    reports = _parse(path.read_text("latin-1"))
    offsets = {pc for r in reports for access in r.accesses for pc in (access.pc, access.issued)}
    offsets |= {r.acquired for r in reports}
    frames = _frames(program, sorted(offsets - {0}), sources, directory)
    lines = {offset: spans[0] for offset, spans in frames.items()}
    races = [(r, _race(r, lines)) for r in reports if r.kind == "race"]
    others = [r for r in reports if r.kind not in ("race", "more_races") and not _harmless(r, frames)]
    said = [(r, _finding(r, lines, sources)) for r in others]
    return Seen(
        tuple(race for r, race in races if not r.same_value),
        tuple(race for r, race in races if r.same_value),
        _distinct(finding for r, finding in said if r.kind not in _QUIET),
        _distinct(finding for r, finding in said if r.kind in _QUIET),
    )


def _distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that read differently: threads by the dozen may come to one barrier."""
    return tuple({(finding.message, str(finding.span)): finding for finding in findings}.values())


def _parse(text: str) -> list[_Report]:
    """Return the reports; the last line of an id counts, and a line cut short by a kill is left out."""
    latest: dict[int, _Report] = {}
    for line in text.splitlines():
        try:
            raw: object = json.loads(line)
        except ValueError:
            continue
        if isinstance(raw, dict):
            latest[_number(raw, "id")] = _report(raw)
    return list(latest.values())


def _report(raw: Mapping[str, object]) -> _Report:
    accesses = raw.get("accesses")
    return _Report(
        _word(raw, "kind"), _word(raw, "kernel"), _word(raw, "array"), _word(raw, "space"), _number(raw, "index"),
        _number(raw, "offset"), _number(raw, "size"), _number(raw, "extent"), _number(raw, "acquired"),
        _word(raw, "message"), raw.get("same_value") is True, _number(raw, "count"),
        tuple(_access(a) for a in accesses if isinstance(a, dict)) if isinstance(accesses, list) else (),
    )  # fmt: skip


def _access(raw: Mapping[str, object]) -> _Access:
    return _Access(
        _word(raw, "op"), _numbers(raw, "block"), _numbers(raw, "thread"), _number(raw, "pc"),
        _word(raw, "actor"), _word(raw, "name"), _number(raw, "issued"),
    )  # fmt: skip


def _word(raw: Mapping[str, object], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _number(raw: Mapping[str, object], key: str) -> int:
    value = raw.get(key)
    return value if isinstance(value, int) else 0


def _numbers(raw: Mapping[str, object], key: str) -> tuple[int, ...]:
    value = raw.get(key)
    return tuple(v for v in value if isinstance(v, int)) if isinstance(value, list) else ()


def _frames(program: Path, offsets: list[int], sources: Sources, directory: Path) -> dict[int, tuple[Span, ...]]:
    """Return the spans of the user's lines for each offset that has one: more than one where calls are inlined."""
    tool = find_addr2line()
    if not offsets or tool is None:
        return {}
    command = [tool, "-e", str(program), "-i", "-a", *(hex(offset - 1) for offset in offsets)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_ADDR2LINE_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return {}
    find = _finder(sources, directory)
    found: dict[int, tuple[Span, ...]] = {}
    offset = 0
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith("0x"):
            offset = int(line, 16) + 1
        elif place := _LOCATION.match(line):
            span = find(place["file"], int(place["line"]))
            if span is not None:
                found[offset] = (*found.get(offset, ()), span)
    return found


def _finder(sources: Sources, directory: Path) -> Callable[[str, int], Span | None]:
    """Return the way from a path and line of the debug information to a span of one of the user's files."""
    known = {
        os.path.normpath(directory.resolve() / file.path.lstrip("/")): SourceFile(file.path, file.text)
        for file in sources.files
    }

    def find(path: str, line: int) -> Span | None:
        source = known.get(os.path.normpath(directory.resolve() / path)) or known.get(os.path.normpath(path))
        if source is None or line < 1 or line > source.line_count:
            return None
        text = source.line(line)
        start = source.offset(line) + len(text) - len(text.lstrip())
        return Span(source, start, source.offset(line) + len(text))

    return find


def _thread(access: _Access) -> str:
    if not access.block:
        return "the host"
    return f"block {_triple(access.block)} thread {_triple(access.thread)}"


def _triple(numbers: tuple[int, ...]) -> str:
    """(3, 0, 0) is written (3): trailing zeros say nothing."""
    kept = list(numbers)
    while len(kept) > 1 and kept[-1] == 0:
        kept.pop()
    return f"({', '.join(map(str, kept))})"


def _element(report: _Report) -> str:
    """`A[17]`, counted in elements of the access's size; shared arrays say so."""
    place = f"{report.array or 'memory'}[{report.index}]"
    return f"{place} in shared memory" if report.space == "shared" else place


def _does(op: str, name: str) -> str:
    verb = {"read": "reads", "write": "writes", "atomic": "updates atomically"}.get(op, "touches")
    return f"{verb} {name}"


def _race(report: _Report, lines: Mapping[int, Span]) -> Race:
    sides = [f"{_thread(a)} {_does(a.op, _element(report))}{_at(a.pc, lines)}" for a in report.accesses]
    times = f", {report.count} times in all" if report.count > 1 else ""
    same = " (the same value each time)" if report.same_value else ""
    text = f"kernel {report.kernel}: {', '.join(sides)}; nothing orders them{times}{same}"
    threads = [_thread(a) for a in report.accesses] + ["?", "?"]
    spans = tuple(lines[a.pc] for a in report.accesses if a.pc in lines)
    return Race(report.array, report.index, (threads[0], threads[1]), spans, text, report.kernel, report.same_value)


def _report_unordered(report: _Report, lines: Mapping[int, Span]) -> Finding:
    """Two operations, or one and the host, that nothing orders."""
    first, second = report.accesses
    what = _element(report) if report.array else "memory of the host"
    text = f"{_acts(first, what, lines)}, {_acts(second, what, lines)}: nothing orders them"
    span = lines.get(second.pc) or lines.get(first.pc)
    related = tuple(Note(lines[a.pc], _role(a)) for a in report.accesses if a.pc in lines and lines[a.pc] != span)
    related += tuple(Note(lines[a.issued], f"{_role(a)} is issued here") for a in report.accesses
                     if a.issued in lines and a.issued != a.pc)  # fmt: skip
    help = _WAIT if "host" in (first.actor, second.actor) else _ORDER
    return Finding(_RULES[report.kind], "error", text, span, help=(help,), related=related)


def _role(access: _Access) -> str:
    match access.actor:
        case "kernel":
            return f"kernel {access.name}"
        case "host_function":
            return "the host function"
        case "call":
            return access.name
        case _:
            return "the host"


def _acts(access: _Access, what: str, lines: Mapping[int, Span]) -> str:
    """`kernel k, launched at p.cu:9, writes a[3] at p.cu:4`."""
    place = lines.get(access.issued) if access.issued != access.pc else None
    verb = "launched" if access.actor == "kernel" else "queued"
    issued = f", {verb} at {place.file.path}:{place.line}," if place else ""
    return f"{_role(access)}{issued} {_does(access.op, what)}{_at(access.pc, lines)}"


def _at(pc: int, lines: Mapping[int, Span]) -> str:
    return f" at {lines[pc].file.path}:{lines[pc].line}" if pc in lines else ""


def _harmless(report: _Report, frames: Mapping[int, tuple[Span, ...]]) -> bool:
    """Whether a suspicion about a barrier is none: the compiler may have copied one barrier, and two addresses of one
    line, inlined at the same lines, are no divergence; a thread that returned before need not come."""
    places = [frames.get(a.pc, ()) for a in report.accesses]
    match report.kind:
        case "divergent_barrier":
            return () in places or len({tuple(span.start for span in spans) for spans in places}) == 1
        case "absent_barrier" | "absent_lanes":
            return len(places) != 2 or not went_around(places[0], places[1])
        case _:
            return False


def _finding(report: _Report, lines: Mapping[int, Span], sources: Sources) -> Finding:
    if report.kind == "unordered" and len(report.accesses) == 2:
        return _report_unordered(report, lines)
    first = report.accesses[0] if report.accesses else _Access("", (), (), 0, "", "", 0)
    related: tuple[Note, ...] = ()
    if report.acquired in lines:
        related = (Note(lines[report.acquired], f"{report.array or 'the array'} is acquired here"),)
    rule = _RULES.get(report.kind, "VER045")
    severity: Severity = "warning" if report.kind in _QUIET else "error"
    place = lines.get(first.pc)
    if place is None and report.kind == "too_large":
        place = find_declared(sources, report.space, report.array)
    return Finding(rule, severity, _sentence(report, first), place, related=related)


def _sentence(report: _Report, first: _Access) -> str:
    """Say what happened, in the words of the program."""
    who = f"kernel {report.kernel}, {_thread(first)}" if first.block else "the host"
    element = _element(report)
    match report.kind:
        case "out_of_bounds":
            count = report.extent // report.size if report.size else 0
            bounds = f"it has {count} elements of {report.size} bytes"
            return f"{who} {_does(first.op, element)}: out of bounds, {bounds}"
        case "use_after_free":
            return f"{who} {_does(first.op, element)} after it was freed"
        case "misaligned":
            return f"{who} {_does(first.op, element)} at an address that is no multiple of {report.size}"
        case "writes_constant":
            return f"{who} writes constant memory ({element})"
        case "host_memory" | "wild_pointer" | "host_dereference" | "host_touches_device_variable":
            return _wrong_memory(report, first, who)
        case "absent_barrier":
            return f"{who} ends without coming to a barrier that other threads of its block wait at"
        case "absent_lanes":
            return f"{who} is named by the mask of a warp operation and ends without coming to it"
        case "api_error" | "too_large":
            return report.message
        case _:
            kernel = f"kernel {report.kernel}: " if report.kernel and report.kind != "bad_launch" else ""
            return f"{kernel}{report.message or report.kind.replace('_', ' ')}"


def _wrong_memory(report: _Report, first: _Access, who: str) -> str:
    match report.kind:
        case "host_dereference":
            return (
                f"the host dereferenced device memory: {_element(report)}, which only kernels and cudaMemcpy can touch"
            )
        case "host_touches_device_variable":
            return f"the host touched the device variable {report.array}: use cudaMemcpyToSymbol or FromSymbol"
        case _:
            return f"{who} {_does(first.op, 'host memory')}: a kernel can only touch device memory"
