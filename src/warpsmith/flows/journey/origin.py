"""Where a kernel comes from: loops of C through `port`, a kernel as it is, and a program of Brook+ beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.journey.inputs import TravelInputs, check_inputs, make_inputs, usage_error
from warpsmith.flows.journey.reasons import UnableError, reason_of
from warpsmith.flows.journey.subjects import Subject, program_text
from warpsmith.flows.journey.versions import Version, hand_version, port_version
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.plan import OffloadOptions
from warpsmith.report.journey.model import LoopRow, OriginRow, OriginStage
from warpsmith.report.port.build import loop_entries
from warpsmith.report.port.text import loop_rows
from warpsmith.tree.nodes import Function

__all__ = ["HAND", "PORT", "YOURS", "Begun", "begin", "kernel_text", "port_options"]

PORT, HAND, YOURS = "port", "by hand", "yours"
_KINDS = {".cu": "CUDA kernel", ".cl": "OpenCL kernel", ".ptx": "PTX", ".il": "AMD IL", ".br": "Brook+ kernel"}


class Begun(Struct, frozen=True, eq=False):
    """What all stages work on. `original`: the C function, None where there is none."""

    subject: Subject
    inputs: TravelInputs
    versions: tuple[Version, ...]
    original: Function | None = None


def begin(subject: Subject) -> tuple[OriginStage, Begun]:
    """Return where it comes from, and what goes on; raises UsageError and InputError where the user's file is none."""
    rows: list[OriginRow] = []
    versions: list[Version] = []
    original = None
    inputs = make_inputs(subject.values) if subject.loops else None
    if subject.loops:
        assert inputs is not None
        # loops → verdicts → a plan → kernels
        result = port([subject.loops_source], port_options(subject.sizes))
        original = _meant_function(subject, result)
        check_inputs(original, inputs)
        subject = replace(subject, name=original.symbol.name)
        row, version = _ported(subject, result, inputs)
        rows.append(row)
        versions += [version] if version is not None else []
    if subject.hand is not None:
        # a kernel as it is
        version, own = hand_version(HAND if subject.loops else YOURS, subject.hand, subject.values)
        inputs = inputs or own
        rows.append(_written_by_hand(version))
        versions.append(version)
    if subject.streams:
        rows.append(OriginRow("Brook+ program", subject.streams, program_text(subject.streams)))
    assert inputs is not None
    return OriginStage(rows=tuple(rows), inputs=subject.values), Begun(subject, inputs, tuple(versions), original)


def port_options(sizes: Mapping[str, int]) -> PortOptions:
    """Return how loops are ported: whatever may go goes, for these sizes; results are compared behind it."""
    return PortOptions(verify=False, offload=OffloadOptions(sizes=dict(sizes)))


def _ported(subject: Subject, result: PortResult, inputs: TravelInputs) -> tuple[OriginRow, Version | None]:
    loops = tuple(_loop_rows(result))
    row = OriginRow("C loops", subject.loops, subject.loops_text, PORT, loops)
    try:
        version = port_version(PORT, result, inputs, (subject.name, subject.rounds))
    except (UnableError, WarpsmithError) as error:
        return OriginRow(row.kind, row.file, row.text, PORT, loops, why=reason_of(error)), None
    names = tuple(version.names.values())
    written = "\n\n".join(kernel_text(version, name) for name in names)
    return OriginRow(row.kind, row.file, row.text, PORT, loops, names, len(version.calls), written), version


def _loop_rows(result: PortResult) -> Iterator[LoopRow]:
    for line, loop, category, why in loop_rows(loop_entries(result.prepared, result.plan), decided=True):
        yield LoopRow(int(line), loop, category, why)


def kernel_text(version: Version, name: str) -> str:
    """Return a kernel as it stands in its file."""
    lines = version.unit.file.text.splitlines()
    first = next(at for at, line in enumerate(lines) if "__global__" in line and f"{name.partition('<')[0]}(" in line)
    last = next(at for at in range(first, len(lines)) if lines[at] == "}")
    return "\n".join(lines[first : last + 1])


def _written_by_hand(version: Version) -> OriginRow:
    file = version.unit.file
    kind = _KINDS.get(PurePath(file.path).suffix.lower(), "kernel")
    return OriginRow(kind, file.path, file.text, version.name, (), tuple(version.names.values()), len(version.calls))


def _meant_function(subject: Subject, result: PortResult) -> Function:
    """Return the function that is sent on its way; raises UsageError where nothing says which, or there is none."""
    functions, file = [function for _, function in result.program.functions()], subject.loops
    fragments = result.plan.fragments if result.plan is not None else ()
    ported = {one.function.symbol.name for one in fragments} - {"main"}
    wanted = {subject.name} if subject.name else ported
    found = [one for one in functions if one.symbol.name in wanted]
    if len(found) == 1:
        return found[0]
    if subject.name:
        raise usage_error(f"{file} has no function '{subject.name}'", f"it has {_listed(functions)}")
    if not found:
        raise usage_error(f"no function of {file} with parameters has a kernel", f"`warpsmith explain {file}` says why")
    raise usage_error(f"{file} has {len(found)} functions with kernels", f"name one: --kernel {_listed(found)}")


def _listed(functions: Iterable[Function]) -> str:
    return ", ".join(one.symbol.name for one in functions)
