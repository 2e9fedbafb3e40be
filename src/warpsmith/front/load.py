"""Files become a program: read, parsed in the worker process, turned into the tree.

    paths ─► inputs ─► worker (libclang) ─► dumps ─► contexts ─► units ─► what functions write ─► units again

The second round is for loops that call functions whose writes were not known in the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.c.context import Context
from warpsmith.front.c.counted.escapes import escaped_keys
from warpsmith.front.c.counted.writes import Knowledge, Writes, close_over_calls, writes_of
from warpsmith.front.c.unit import build_unit
from warpsmith.front.clang.process import Failed, parse_files
from warpsmith.front.clang.wire import Dump, Request
from warpsmith.front.cxx.library import NATIVE
from warpsmith.front.diagnostics import diagnostic_findings
from warpsmith.front.included import find_included
from warpsmith.front.inputs import Input, Source, parser_arguments, read_input
from warpsmith.tree.effects.effects import EffectsTable
from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.nodes import Function, While
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.walk import loops

__all__ = [
    "Files",
    "FrontOptions",
    "Loaded",
    "full_source",
    "load_program",
    "parse_problems",
    "parse_request",
    "too_deep_findings",
]


class FrontOptions(Struct, frozen=True):
    """`arguments`: -I -D -U --std as given, for every file; `language`: c, c++ or cuda (None: by suffix); `timeout_s`
    for all files together; `node_limit`: the most syntax tree nodes of one file; `effects`: what functions do whose
    text is not given."""

    arguments: tuple[str, ...] = ()
    language: str | None = None
    timeout_s: float = 120.0
    node_limit: int = 400_000
    effects: EffectsTable = field(default_factory=house_effects)


class Loaded(Struct, frozen=True):
    """The program of the inputs that could be read, and a finding for each that could not."""

    program: Program
    findings: tuple[Finding, ...]


def load_program(paths: Sequence[str | Source], options: FrontOptions) -> Loaded:
    """Read and parse the files `paths` as one program; a `Source` has options of its own as well.

    Raises InputError, with all findings, where not a single input could be used.
    """
    findings: list[Finding] = []
    inputs: list[Input] = []
    for path in dict.fromkeys(paths):
        made = read_input(full_source(path, options), options.node_limit)
        if isinstance(made, Input):
            inputs.append(made)
        else:
            findings.append(made)
    files = Files(inputs)
    answers = parse_files([parse_request(given, options) for given in inputs], options.timeout_s)
    contexts: list[tuple[Input, Context]] = []
    for given, answer in zip(inputs, answers, strict=True):
        problems = parse_problems(given, answer, options, files)
        findings += problems
        if isinstance(answer, Dump) and not problems:
            contexts.append((given, Context(answer, files.read)))
    if not contexts:
        raise InputError(*findings)
    together = [context for _, context in contexts]
    for context, numbers in zip(together, find_included(together), strict=True):
        context.own |= numbers
    units = _units(contexts, options.effects)
    findings += [finding for _, context in contexts for finding in too_deep_findings(context)]
    return Loaded(Program(units, effects=options.effects), tuple(findings))


def full_source(given: str | Source, options: FrontOptions) -> Source:
    """Return an input with the options that hold for all files before its own."""
    if isinstance(given, str):
        return Source(given, options.arguments, options.language)
    return Source(given.path, (*options.arguments, *given.arguments), given.language or options.language, given.text)


class Files:
    """Every file once: all spans of a file share one SourceFile."""

    def __init__(self, inputs: Sequence[Input]) -> None:
        self._files = {str(Path(given.file.path).resolve()): given.file for given in inputs}

    def read(self, path: str) -> SourceFile:
        """Return the file at `path`; raises OSError."""
        key = str(Path(path).resolve())
        if key not in self._files:
            self._files[key] = SourceFile.read(path)
        return self._files[key]


def parse_request(given: Input, options: FrontOptions) -> Request:
    """Return what the worker is asked about an input."""
    text = given.file.data() if given.unsaved else None
    return given.file.path, parser_arguments(given.language, given.arguments), text, options.node_limit, False


def parse_problems(given: Input, answer: Dump | Failed, options: FrontOptions, files: Files) -> tuple[Finding, ...]:
    """Return why a file's answer cannot be used."""
    path, start = given.file.path, Span(given.file, 0, 0)
    if isinstance(answer, Failed):
        if answer.why == "time-out":
            message = f"{path} was not parsed within {options.timeout_s:g} s"
            return (Finding("INP009", "error", message, start, ("raise --timeout, or split the file",)),)
        message = f"the parser crashed on {path} ({answer.detail})"
        remedy = "the file may use something that clang 18 cannot read: reduce it, or leave it out"
        return (Finding("INP004", "error", message, start, (remedy,)),)
    if answer.exceeded:
        message = f"{path} has more than {options.node_limit:,} syntax tree nodes, the limit"
        return (Finding("INP003", "error", message, start, ("split the file, and give the part with the loops",)),)
    return diagnostic_findings(path, answer.diagnostics, files.read)


def _units(contexts: list[tuple[Input, Context]], effects: EffectsTable) -> tuple[Unit, ...]:
    named = frozenset(name for _, context in contexts for name in context.function_names())
    library = frozenset(key for _, context in contexts for key in context.library_keys(effects, named))
    library |= NATIVE if any(context.cxx for _, context in contexts) else frozenset()
    escaped = frozenset(key for _, context in contexts for key in escaped_keys(context, effects))
    whole = any(context.defines("main") for _, context in contexts)
    knowledge = Knowledge({}, library, escaped, whole)
    units = _build(contexts, knowledge)
    functions = {f.symbol.key: writes_of([f.body]) for unit in units for f in unit.functions}
    if not any(_waits_for(f, functions) for unit in units for f in unit.functions):
        return units
    return _build(contexts, replace(knowledge, functions=close_over_calls(functions, library)))


def _waits_for(function: Function, functions: Mapping[str, Writes]) -> bool:
    """Whether a `for` loop of the function is not counted and calls a function that is known by now."""
    return any(
        isinstance(loop, While) and loop.form == "for" and any(s.key in functions for s in writes_of([loop]).calls)
        for loop, _ in loops(function.body)
    )


def _build(contexts: list[tuple[Input, Context]], knowledge: Knowledge) -> tuple[Unit, ...]:
    # text of C binds nothing to a reference, whatever other files of the program do
    return tuple(
        build_unit(context, given.language, given.arguments, replace(knowledge, references=given.language != "c"))
        for given, context in contexts
    )


def too_deep_findings(context: Context) -> tuple[Finding, ...]:
    """Return one warning a place where the program is nested deeper than our tree may be."""
    places = {(span.file.path, span.line): span for span in context.too_deep}
    message = "an expression or statement is nested too deeply to be analyzed; it is kept as it is"
    return tuple(Finding("INP003", "warning", message, span, ("split it into several",)) for span in places.values())
