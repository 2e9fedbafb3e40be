"""Is what a port would write C, C++ and CUDA? Another compiler reads it, and a loop whose text it refuses stays.

    lu_kernels.cu    in clang's device mode: a kernel that names an object of the host does not pass
    lu.c             as it was read when it came in, with the headers that are written beside it

Invariant: an error in generated text blames at least one kernel, so that planning without those that are blamed ends.
An error between two kernels is that of the one above it; one in what all of them share is that of those whose text does
not pass alone; and where all pass alone, that of all.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.base.verdict import Reason
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import kernels_alone, outlined_program, output_paths
from warpsmith.emit.host.outline.model import Outlined
from warpsmith.flows.porting.plan import Written
from warpsmith.flows.porting.sources import project_headers, unit_arguments, with_own_folders
from warpsmith.front.clang.process import Failed, parse_files
from warpsmith.front.clang.wire import Dump, Request
from warpsmith.front.cuda.check import DEVICE_TIME_LIMIT_S, check_device, device_findings, device_request
from warpsmith.front.diagnostics import diagnostic_findings
from warpsmith.front.inputs import parser_arguments
from warpsmith.offload.plan import Fragment, Port
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.shared import restore_shared
from warpsmith.tree.text.lexical import tokens

if TYPE_CHECKING:
    from warpsmith.emit.host.in_place import InPlace

__all__ = ["Unwritable", "unwritable"]

Unwritable = tuple[tuple[Fragment, Reason], ...]
_IN_PLACE = ("-DWARPSMITH",)


def unwritable(program: Program, written: Written, root: str | None = None) -> Unwritable:
    """Return the fragments of a port of `program` whose text another compiler refuses, with the reason; `root`: the
    folder of the project in which it is written in place."""
    paths = [path.as_posix() for path in output_paths(program)]
    with tempfile.TemporaryDirectory(prefix="warpsmith-") as folder:
        apart, place = Path(folder, "apart"), Path(folder, "place")
        own = {
            unit: (f"-iquote{Path(unit.file.path).resolve().parent}", *unit_arguments(unit)) for unit in program.units
        }
        questions = _questions(zip(program.units, paths, strict=True), written.files, apart, own)
        if written.in_place is not None and root is not None:
            made = written.in_place.files
            # one that stays must find those that change
            headers = {file.path: file for file in project_headers(program, root)}
            files = tuple({**headers, **{file.path: file for file in made}}.values())
            own = {u: (*with_own_folders(unit_arguments(u), root, str(place)), *_IN_PLACE) for u in program.units}
            questions += _questions(_in_place_units(program, written.in_place, root), files, place, own)
        answers = parse_files([question.request for question in questions], DEVICE_TIME_LIMIT_S)
        errors = [error for one, answer in zip(questions, answers, strict=True) for error in one.errors(answer)]
    found: dict[str, tuple[Fragment, Reason]] = {}
    for error in errors:
        for fragment in _owners(program, written.port, error):
            found.setdefault(fragment.kernel.name, (fragment, _reason(fragment, error)))
    return tuple(found.values())


def _reason(fragment: Fragment, error: Finding) -> Reason:
    text = f"what would be written for it does not compile: {error.message}"
    return Reason("POR008", text, fragment.statements[0].span, legal_if=error.help if error.rule == "INP005" else ())


class _Question(Struct, frozen=True):
    """A file that would be written, and what the parser is asked about it. `beside`: those in the same folder."""

    file: SourceFile
    request: Request
    device: bool
    beside: Mapping[str, SourceFile]

    def errors(self, answer: Dump | Failed) -> tuple[Finding, ...]:
        """Return what an answer says against the file."""
        if self.device:
            return device_findings(self.file, answer)
        if isinstance(answer, Failed):
            message = f"the parser did not get through its file ({answer.why})"
            return (Finding("INP004", "error", message, Span(self.file, 0, 0)),)
        return diagnostic_findings(self.request[0], answer.diagnostics, self._read)

    def _read(self, path: str) -> SourceFile:
        return self.beside[path] if path in self.beside else SourceFile.read(path)


def _questions(
    units: Iterable[tuple[Unit, str]],
    files: tuple[OutputFile, ...],
    folder: Path,
    own: Mapping[Unit, tuple[str, ...]],
) -> list[_Question]:
    """Put `files` into `folder`, and return what is asked about them: about the kernels, and about the text of `units`
    that changed, each with its path among the files, under its `own` options."""
    beside: dict[str, SourceFile] = {}
    for file in files:
        place = folder / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.text.encode("latin-1"))
        beside[str(place)] = SourceFile(str(place), file.text)
    kernels = [file for file in beside.values() if file.path.endswith(".cu")]
    questions = [_Question(file, device_request(file), True, beside) for file in kernels]
    for unit, path in units:
        place = folder / path
        text = beside.get(str(place))
        if text is not None and text not in kernels and text.text != unit.file.text:
            request: Request = (str(place), parser_arguments(unit.language, own[unit]), None, 0, True)
            questions.append(_Question(text, request, False, beside))
    return questions


def _in_place_units(program: Program, made: InPlace, root: str) -> Iterator[tuple[Unit, str]]:
    """Yield what is read in place: the units that change."""
    for unit in program.units:
        path = PurePosixPath(os.path.relpath(unit.file.path, root)).as_posix()
        if any(file.path == path for file in made.changed):
            yield unit, path


# --- whose text an error is in


def _owners(program: Program, port: Port, error: Finding) -> Sequence[Fragment]:
    """Return the fragments that an error in a generated text is about."""
    fragments = port.plan.fragments
    if error.span is None:
        return fragments
    text = error.span.file.text
    functions = _find_functions(port)
    words = {token.spelling for token in tokens(text) if token.kind == "word"}
    called = [f for f in fragments if f.kernel.name in words or functions.get(f.kernel.name, "") in words]
    if error.span.file.path.endswith(".cu"):
        within = _function_at(text, error.span.start, port)
        if within:
            return [f for f in fragments if f.kernel.name in within]
        above = _kernel_at(text, error.span.start, fragments)
        if above:
            return above
        alone = {name for name, kernel in kernels_alone(program, port.program) if check_device(kernel, "kernel.cu")}
        return [f for f in called if f.kernel.name in alone] or called or fragments
    return _find_called_after(program, error.span, called, functions) or called or fragments


def _outlined(port: Port) -> Outlined:
    return outlined_program(port.written, restore_shared(port.written, port.program))


def _find_functions(port: Port) -> dict[str, str]:
    """Return the function that launches each kernel for the host text."""
    made = (function for functions in _outlined(port).functions.values() for function in functions)
    return {kernel: function.name for function in made for kernel in function.kernels}


def _function_at(text: str, at: int, port: Port) -> frozenset[str]:
    """Return the kernels of the generated host function in which an offset of a file of kernels lies: where it launches
    none, those of the functions beside it, which have its data."""
    for functions in _outlined(port).functions.values():
        for number, function in enumerate(functions):
            head = re.search(rf'^extern "C" .*\b{re.escape(function.name)}\(', text, re.MULTILINE)
            if head is not None and head.start() <= at < text.find("\n}", head.start()) + 2:
                near = (function,) if function.kernels else functions[max(0, number - 1) : number + 2]
                return frozenset(kernel for one in near for kernel in one.kernels)
    return frozenset()


def _kernel_at(text: str, at: int, fragments: Sequence[Fragment]) -> Sequence[Fragment]:
    """Return the fragment in whose kernel or launcher an offset of a file of kernels lies."""
    above: list[tuple[int, Fragment]] = []
    for fragment in fragments:
        head = re.search(rf"^// .*:{fragment.kernel.line}: {re.escape(fragment.region)}\r?$", text, re.MULTILINE)
        above += [(head.start(), fragment)] if head is not None and head.start() <= at else []
    return [max(above, key=lambda start: start[0])[1]] if above else []


def _find_called_after(
    program: Program, error: Span, fragments: Sequence[Fragment], functions: Mapping[str, str]
) -> Sequence[Fragment]:
    """Return the first of `fragments` that is launched in the line of an error in host text or after it, and in the
    same function of the user's; else all in that function."""
    line = _users_line(program, error)
    if line is None:
        return ()
    around = [f for f in fragments if f.function.span.contains(line)]
    launches = {functions[f.kernel.name]: f for f in reversed(around) if f.kernel.name in functions}
    launches |= {f.kernel.name: f for f in around}
    start = error.file.offset(error.line)
    rest = (token.spelling for token in tokens(error.file.text) if token.start >= start and token.kind == "word")
    first = next((launches[word] for word in rest if word in launches), None)
    return around if first is None else [first]


def _users_line(program: Program, error: Span) -> Span | None:
    """Return the last line of the user's that stands at an error in a changed file, or before it."""
    name = PurePosixPath(error.file.path).name
    unit = next((u for u in program.units if PurePosixPath(u.file.path).name == name), None)
    if unit is None:
        return None
    old, new = unit.file.text.splitlines(), error.file.text.splitlines()
    line = 0
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        if block.b > error.line - 1:
            break
        line = block.a + min(block.size, error.line - block.b) - (block.size > 0)
    offset = unit.file.offset(line + 1)
    return Span(unit.file, offset, offset)
