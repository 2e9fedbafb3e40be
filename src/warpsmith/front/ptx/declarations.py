"""The declarations of a PTX file: variables, registers, parameters, functions with their bodies.

A declaration that cannot be read is a diagnostic, and the rest of the file is read all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, get_args

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.ptx.model import FUNDAMENTAL, Declared, File, Routine
from warpsmith.front.ptx.statements import PtxStatement, statements
from warpsmith.ssa.nodes import Limits, Space, Symbol

__all__ = ["find_declared", "read_file", "symbol"]

_ROUTINE: Final = re.compile(r"\.(entry|func)\b\s*(?:\((.*?)\)\s*)?([\w$%]+)\s*(?:\((.*?)\))?(.*)", re.DOTALL)
_VARIABLE: Final = re.compile(
    r"(?:\.(?:visible|extern|weak|common|managed)\s+|\.attribute\s*\([^)]*\)\s*)*"
    r"\.(param|reg|shared|global|local|const|sreg|tex)\b(?P<rest>.*)",
    re.DOTALL,
)
_REST: Final = re.compile(
    r"(?:\s*\.(?:align\s+(?P<align>\d+)|v(?P<vector>\d)|ptr|global|shared|const|local|noalias|attribute\([^)]*\)"
    r"|(?P<type>[a-z]\w*)))*\s*(?P<names>.*)",
    re.DOTALL,
)
_NAME: Final = re.compile(r"\s*([\w$%.]+)\s*(?:<(\d+)>)?((?:\s*\[[^\]]*\])*)\s*(?:=\s*(.*))?$", re.DOTALL)
_LIMIT: Final = re.compile(r"\.(maxntid|reqntid|minnctapersm)\s+([\d\s,]+)")
_FILE: Final = re.compile(r"\.file\s+(\d+)\s+\"((?:\\.|[^\"])*)\"")


def read_file(file: SourceFile) -> tuple[File, tuple[Finding, ...]]:
    """Return what a PTX file declares, and a diagnostic for each part that could not be read."""
    return _Reader(file).file()


class _Reader:
    """Reads the top level of one file."""

    def __init__(self, file: SourceFile) -> None:
        self.source = file
        self.findings: list[Finding] = []
        self.symbols: list[Symbol] = []
        self.routines: list[Routine] = []
        self.files: dict[int, str] = {}
        self.header = {"version": "", "target": ""}

    def file(self) -> tuple[File, tuple[Finding, ...]]:
        pending = iter(statements(self.source))
        for statement in pending:
            if statement.kind == "directive":
                self._directive(statement, pending)
            elif statement.kind != "close":
                self._blame(statement.span, "this stands outside of any function")
                if statement.kind == "open":
                    self._body(pending, statement.span)
        if not self.header["version"]:
            start = Span(self.source, 0, min(1, len(self.source.text)))
            self._blame(start, "no .version: this is not PTX", "give a file that nvcc -ptx or NVRTC made")
        made = File(
            self.header["version"], self.header["target"], tuple(self.symbols), tuple(self.routines), dict(self.files)
        )
        return made, tuple(self.findings)

    def _directive(self, statement: PtxStatement, rest: Iterator[PtxStatement]) -> None:
        words = statement.words
        word = words.split(maxsplit=1)[0]
        if word in (".version", ".target"):
            self.header[word[1:]] = words[len(word) :].strip()
            if word == ".version":
                self._version(statement.span)
            else:
                self._target(statement.span)
        elif word == ".file":
            if found := _FILE.match(words):
                self.files[int(found.group(1))] = found.group(2)
        elif found := _ROUTINE.search(words):
            self._routine(statement, found, rest)
        elif _VARIABLE.match(words):
            try:
                self.symbols += (symbol(one, words) for one in find_declared(statement))
            except ValueError as error:
                self._blame(statement.span, str(error))
        elif word not in _IGNORED:
            self._blame(statement.span, f"the directive {word} is not known")

    def _version(self, span: Span) -> None:
        found = re.match(r"(\d+)\.(\d+)", self.header["version"])
        if found is None or (int(found.group(1)), int(found.group(2))) > _NEWEST:
            known = ".".join(map(str, _NEWEST))
            message = f"PTX version {self.header['version'] or '(none)'} is not known: {known} is the newest that is"
            help = "what is new in it is taken for unknown, the rest is read"
            self.findings.append(Finding("INP001", "warning", message, span, (help,)))

    def _target(self, span: Span) -> None:
        name = self.header["target"].partition(",")[0].strip()
        if name not in _TARGETS:
            message = f"the target {name or '(none)'} is not known"
            help = "the file is read all the same; --device says which GPU it is judged for"
            self.findings.append(Finding("INP001", "warning", message, span, (help,)))

    def _routine(self, statement: PtxStatement, found: re.Match[str], rest: Iterator[PtxStatement]) -> None:
        kind, results, name, parameters, after = found.groups()
        try:
            given = tuple(_parameters(statement.span, parameters or ""))
            returned = tuple(_parameters(statement.span, results or ""))
        except ValueError as error:
            self._blame(statement.span, str(error))
            given = returned = ()
        text = self.source.text
        opened = text[statement.span.end : statement.span.end + 1] == "{"
        body, ended = None, True
        if statement.span.end >= len(text.rstrip()):
            self._blame(statement.span, "the file ends inside of this function")
        if opened:
            next(rest)
            body, ended = self._body(rest, statement.span)
        made = Routine(name, kind == "entry", given, returned, _limits(after), body, statement.span, not ended)
        self.routines = [old for old in self.routines if old.name != name or old.body is not None]
        self.routines.append(made)

    def _body(self, rest: Iterator[PtxStatement], start: Span) -> tuple[tuple[PtxStatement, ...], bool]:
        """Return the statements up to the brace that closes a body, and whether there is one."""
        found: list[PtxStatement] = []
        depth = 1
        for statement in rest:
            depth += (statement.kind == "open") - (statement.kind == "close")
            if depth == 0:
                return tuple(found), True
            found.append(statement)
        self._blame(start, "the file ends inside of this function", "what comes before is still read")
        return tuple(found), False

    def _blame(self, span: Span, message: str, *help: str) -> None:
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(Finding("INP001", "error", message, span, help))


_MOST_FINDINGS = 20
_NEWEST: Final = (9, 1)
"""The newest version of PTX whose manual was read."""

_FAMILIES: Final = (
    "20 21 30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 90a 100 100a 100f 101 101a 101f 103 103a 103f "
    "110 110a 110f 120 120a 120f 121 121a 121f"
)
_TARGETS: Final = frozenset(f"{kind}_{number}" for kind in ("sm", "compute") for number in _FAMILIES.split())
"""Targets of PTX ISA 9.1, 11.1.2, from the first that has functions and calls on."""

_IGNORED = (".address_size", ".section", ".loc", ".pragma", ".alias", ".language", ".explicitcluster", ".abi_preserve")


def _limits(text: str) -> Limits:
    found = {name: [int(n) for n in numbers.replace(",", " ").split()] for name, numbers in _LIMIT.findall(text)}
    most = found.get("maxntid")
    threads = None
    if most:
        threads = 1
        for number in most:
            threads *= number
    exact = found.get("reqntid")
    x, y, z = (*(exact or ()), 1, 1, 1)[:3]
    least = found.get("minnctapersm")
    return Limits(threads, (x, y, z) if exact else None, least[0] if least else None)


def _parameters(span: Span, text: str) -> Iterator[Declared]:
    for part in filter(str.strip, text.split(",")):
        yield from find_declared(PtxStatement("directive", part.strip(), span))


def find_declared(statement: PtxStatement) -> Iterator[Declared]:
    """Yield what a declaration declares; `%r<3>` yields %r0, %r1 and %r2. Raises ValueError where it makes no sense."""
    found = _VARIABLE.match(statement.words)
    rest = _REST.match(found.group("rest")) if found else None
    if found is None or rest is None or rest.group("type") not in FUNDAMENTAL:
        raise ValueError(f"this declaration cannot be read: {' '.join(statement.words.split())[:60]}")
    type = FUNDAMENTAL[rest.group("type")]
    width = int(rest.group("vector") or 1)
    align = int(rest.group("align") or type.bytes * width)
    names = rest.group("names")
    for text in _names(names):
        name = _NAME.match(text)
        if name is None:
            raise ValueError(f"this declaration cannot be read: {text[:60]}")
        stem, many, extents = name.group(1), name.group(2), re.findall(r"\[([^\]]*)\]", name.group(3))
        count = width
        for extent in extents:
            count *= int(extent.strip() or "0", 0)
        array = bool(extents) or width > 1
        if many is not None and int(many) > _MOST_REGISTERS:
            raise ValueError(f"{many} registers {stem} are more than {_MOST_REGISTERS:,}, the limit")
        for each in [stem] if many is None else [f"{stem}{n}" for n in range(int(many))]:
            yield Declared(each, found.group(1), type, align, count, statement.span, array)


_MOST_REGISTERS: Final = 1_000_000


def _names(text: str) -> Sequence[str]:
    """Return the declarators; an initial value may hold commas, and stands alone."""
    return [text] if "=" in text else text.split(",")


_SPACES: dict[str, Space] = {"const": "constant", "shared": "shared", "global": "global", "local": "local"}


def symbol(one: Declared, words: str) -> Symbol:
    """Return the symbol of a variable; raises ValueError for what is none (a register, a texture)."""
    space = _SPACES.get(one.space)
    if space is None or space not in get_args(Space):
        raise ValueError(f".{one.space} variables are not read: {one.name}")
    _, equals, text = words.partition("=")
    numbers = re.findall(r"0x[0-9a-fA-F]+|\d+", text) if equals and re.fullmatch(r"[\s{}\d,xa-fA-FU]*", text) else []
    initial = tuple(int(n, 0) & ((1 << one.type.bits) - 1) for n in numbers)
    return Symbol(one.name, space, one.type, one.count, one.align, initial, one.span)
