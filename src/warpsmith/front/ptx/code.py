"""The code of one PTX function becomes blocks: labels, branches, predicates, calls.

    @%p bra L;       Branch                       @%p ret;    Branch to a block that returns
    @%p st …;        Branch(predicated) around a block with the instruction: a predicate is control flow here
    call (r), f, (a) between `{` and `}`: the values stored to its .param variables, in order, are its operands

An instruction that we cannot translate is blamed with its line, its targets become unknown, and the rest is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.front.ptx.arithmetic import ARITHMETIC, Ptx
from warpsmith.front.ptx.declarations import find_declared, symbol
from warpsmith.front.ptx.machine import MACHINE, elements, memory_operand, opaque
from warpsmith.front.ptx.model import FUNDAMENTAL, Routine
from warpsmith.front.ptx.registers import PtxError, Registers
from warpsmith.front.ptx.statements import PtxStatement
from warpsmith.ssa.builder import Builder
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Callee,
    Exit,
    Function,
    Jump,
    Operand,
    Param,
    Parameter,
    Return,
    Switch,
    Symbol,
    Text,
    Undefined,
)
from warpsmith.ssa.types import I1, I32, I64, Type

__all__ = ["translate"]

_SPLIT: Final = re.compile(r",(?![^{\[(]*[}\])])")
_FAILS: Final = ("__assertfail", "__assert_fail")
"""What failed assertions call: it ends the launch with an error."""
Places = Mapping[int, Span]
"""The source line of each statement, by where the statement starts."""


def translate(
    routine: Routine, symbols: Sequence[Symbol], results: Mapping[str, tuple[Type, ...]], place: Places
) -> tuple[Function, tuple[Finding, ...]]:
    """Return the function of a routine with a body, and a diagnostic for each instruction that makes no sense.

    `symbols` are the file's variables, `results` what the file's functions return, `place` the source lines of its
    statements.
    """
    code = _Code(routine, {s.name: s.space for s in symbols}, results, place)
    code.run()
    parameters = tuple(_parameter(one.name, one.type, one.count, one.align) for one in routine.parameters)
    returned = tuple(one.type for one in routine.results)
    made = Function(
        routine.name, routine.kernel, parameters, returned, code.blocks(), tuple(code.symbols), routine.limits,
        routine.span, routine.span.file,
    )  # fmt: skip
    return made, tuple(code.findings)


def _parameter(name: str, type: Type, count: int, align: int) -> Parameter:
    return Parameter(name, type.bytes * count, align, type if count == 1 else None)


class _Call(Struct):
    """The .param variables of one call sequence: what was stored to them, by offset; what the call gave."""

    stored: dict[str, dict[int, Operand]] = field(default_factory=dict)
    given: dict[str, dict[int, Operand]] = field(default_factory=dict)
    wanted: dict[str, dict[int, Type]] = field(default_factory=dict)


class _Code:
    """Translates one body. Its `.param` variables are this function's results or belong to a call."""

    def __init__(
        self, routine: Routine, spaces: Mapping[str, str], results: Mapping[str, tuple[Type, ...]], place: Places
    ) -> None:
        self.routine = routine
        self.results = results
        self.place = place
        self.builder = Builder()
        self.registers = Registers(self.builder, spaces, results)
        self.symbols: list[Symbol] = []
        self.findings: list[Finding] = []
        self.parameters = {one.name for one in routine.parameters}
        self.returned = {one.name: one.type for one in routine.results}
        self.call = _Call()
        self.tables: dict[str, list[str]] = {}
        self.labels = {s.words for s in routine.body or () if s.kind == "label"}
        self.beyond = ""

    def run(self) -> None:
        """Translate every statement of the body."""
        body = self.routine.body or ()
        self._declare(body)
        self._enter()
        for statement in body:
            self.builder.span = self.place.get(statement.span.start)
            match statement.kind:
                case "label" if statement.words not in self.tables:
                    self._label(statement.words)
                case "instruction":
                    self._instruction(statement)
                case "close":
                    self.call = _Call()
                case _:
                    pass
        if not self.builder.ended and self.routine.cut:
            self.builder.end(Jump(self._beyond(), self.builder.span))
        elif not self.builder.ended:
            self._return()
        if self.beyond:
            self.builder.start(self.beyond)
            self.builder.emit_many("unmodeled", (), (), Text("what is not in the file"))
            self._return()
        self._say_what_is_lacking()

    def blocks(self) -> tuple[BasicBlock, ...]:
        """Return the finished blocks."""
        return self.builder.finish()

    # --- declarations

    def _declare(self, body: Sequence[PtxStatement]) -> None:
        """Take note of all registers, variables and branch tables: they are known in the whole function."""
        label = ""
        for statement in body:
            if statement.kind == "label":
                label = statement.words
            elif statement.kind == "directive" and statement.words.startswith((".branchtargets", ".calltargets")):
                named = " ".join(statement.words.split()[1:])  # each target may stand on a line of its own
                self.tables[label] = [name.strip() for name in named.split(",")]
            elif statement.kind == "directive" and statement.words.startswith((".reg", ".shared", ".local", ".param")):
                self._variable(statement)

    def _variable(self, statement: PtxStatement) -> None:
        try:
            for one in find_declared(statement):
                if one.space == "reg":
                    self.registers.declare(one)
                elif one.space != "param":
                    self.symbols.append(symbol(one, statement.words))
                    self.registers.spaces[one.name] = self.symbols[-1].space
        except ValueError as error:
            self._blame(statement, str(error))

    def _enter(self) -> None:
        """Give the parameters that are registers (`.func f (.reg .u32 a)`) their values."""
        for one in self.routine.parameters:
            if one.space == "reg":
                self.registers.declare(one)
                value = self.builder.emit("param", (), one.type, Param(one.name))
                self.registers.write(one.name, value)
        for one in self.routine.results:
            if one.space == "reg":
                self.registers.declare(one)

    # --- statements

    def _label(self, name: str) -> None:
        if not self.builder.ended:
            self.builder.end(Jump(name, self.builder.span))
        self.builder.start(name)

    def _instruction(self, statement: PtxStatement) -> None:
        if self.builder.ended:
            self.builder.start(self.builder.fresh("unreached"))
        i = _apart(statement.words)
        if statement.guard:
            self._translate_guarded(i, statement)
        else:
            self._attempt(i, statement)

    def _attempt(self, i: Ptx, statement: PtxStatement) -> None:
        """Translate an instruction; where it makes no sense, what it gives and does is unknown."""
        try:
            self._translate(i, statement)
        except (PtxError, KeyError, ValueError, OverflowError) as error:
            if not self.builder.ended:
                opaque(self.registers, i, "unmodeled")
            what = str(error) if isinstance(error, PtxError) else f"it is not of the form that is known ({error})"
            self._blame(statement, f"{(statement.words.split() or [statement.words])[0]}: {what}")

    def _translate_guarded(self, i: Ptx, statement: PtxStatement) -> None:
        """Translate an instruction under a predicate."""
        guard = statement.guard
        try:
            condition = self.registers.read(guard.lstrip("!"), I1)
        except PtxError as error:
            condition = self.builder.emit("unmodeled", (), I1)
            self._blame(statement, f"@{guard}: {error}")
        after = self.builder.fresh("next")
        taken = self._target(i, statement) if i.base == "bra" else self.builder.fresh("then")
        ways = (after, taken) if guard.startswith("!") else (taken, after)
        uniform, inside = i.has("uni"), i.base != "bra"
        self.builder.end(Branch(condition, *ways, uniform, inside, self.builder.span))
        if inside:
            self.builder.start(taken)
            self._attempt(i, statement)
            if not self.builder.ended:
                self.builder.end(Jump(after, self.builder.span))
        self.builder.start(after)

    def _target(self, i: Ptx, statement: PtxStatement) -> str:
        """Return the block that a branch goes to; where that is not in the file, one in which anything may happen."""
        name = i.operands[0] if i.operands else ""
        if name in self.labels:
            return name
        self._blame(statement, f"{'.'.join(i.parts)}: there is no label {name}")
        return self._beyond()

    def _beyond(self) -> str:
        self.beyond = self.beyond or self.builder.fresh("beyond")
        return self.beyond

    def _translate(self, i: Ptx, statement: PtxStatement) -> None:
        span = self.builder.span
        match i.base:
            case "bra":
                self.builder.end(Jump(self._target(i, statement), span))
            case "brx":
                self._table(i)
            case "ret":
                self._return()
            case "exit":
                self.builder.end(Exit(span=span))
            case "trap":
                self.builder.end(Exit(fails=True, span=span))
            case "call":
                self._translate_call(i)
            case "ld" | "st" if i.has("param") or any(part.startswith("param::") for part in i.parts):
                self._parameter(i)
            case base if base in ARITHMETIC:
                ARITHMETIC[base](self.registers, i)
            case base if base in MACHINE:
                MACHINE[base](self.registers, i)
            case base:
                said = f"the instruction {base} is not known; what it gives is taken for unknown"
                raise PtxError(said if base else "this is not an instruction")

    def _table(self, i: Ptx) -> None:
        index, name = i.needs(2)[:2]
        targets = self.tables.get(name)
        if targets is None:
            raise PtxError(f"there is no table of targets called {name}")
        known = [target if target in self.labels else self._beyond() for target in targets]
        value = self.registers.read(index, I32)
        self.builder.end(Switch(value, tuple(enumerate(known[:-1])), known[-1], i.has("uni"), self.builder.span))

    def _return(self) -> None:
        values = []
        for one in self.routine.results:
            name = one.name if one.space == "reg" else (one.name, 0)
            values.append(self.registers.cast(self.builder.read(name, one.type), one.type))
        self.builder.end(Return(tuple(values), self.builder.span))

    # --- parameters and calls

    def _parameter(self, i: Ptx) -> None:
        """Translate ld.param and st.param: of this function's parameters and results, or of a call's."""
        target, other = i.needs(2)[:2]
        base, offset = memory_operand(target if i.base == "st" else other)
        names = elements(other if i.base == "st" else target)
        for number, name in enumerate(names):
            at = offset + number * i.type.bytes
            if i.base == "st":
                self._store(base, at, self.registers.read(name, i.type))
            else:
                self.registers.write(name, self._load(base, at, i.type), signed=i.signed)

    def _store(self, base: str, offset: int, value: Operand) -> None:
        if base in self.returned:
            self.builder.write((base, offset), self.registers.cast(value, self.returned[base]) if not offset else value)
        else:
            self.call.stored.setdefault(base, {})[offset] = value

    def _load(self, base: str, offset: int, type: Type) -> Operand:
        if base in self.parameters:
            return self.builder.emit("param", (), type, Param(base, offset), base)
        if base in self.registers.types:
            # a parameter whose address was taken: memory like any other
            raise PtxError("a parameter is read through a pointer, which is not modeled")
        found = self.call.given.get(base)
        if found is None:
            raise PtxError(f"there is no parameter called {base}")
        if offset not in found:
            found[offset] = self.builder.emit("unmodeled", tuple(found.values()), type)
        return self.registers.cast(found[offset], type)

    def _translate_call(self, i: Ptx) -> None:
        """Translate a call; what it returns is read by the ld.param that follow."""
        operands = list(i.operands)
        returned = (
            elements(operands.pop(0).strip().replace("(", "{").replace(")", "}")) if operands[0].startswith("(") else []
        )
        name = operands.pop(0).strip()
        if name in _FAILS:
            self.builder.end(Exit(fails=True, span=self.builder.span))
            return
        given = elements(operands[0].replace("(", "{").replace(")", "}")) if operands else []
        values = tuple(value for text in given if text for value in self._arguments(text))
        types = tuple(
            self.registers.types.get(text, t) for text, t in zip(returned, self._types(name, returned), strict=True)
        )
        if name in self.registers.types:
            values = (self.registers.read(name, I64), *values)
        results = self.builder.emit_many("call", values, types, Callee(name))
        for text, value in zip(returned, results, strict=True):
            if text in self.registers.types:
                self.registers.write(text, value)
            else:
                self.call.given[text] = {0: value}

    def _types(self, name: str, returned: Sequence[str]) -> tuple[Type, ...]:
        known = self.results.get(name, ())
        return known if len(known) == len(returned) else (I32,) * len(returned)

    def _arguments(self, text: str) -> Sequence[Operand]:
        if text in self.registers.types:
            return (self.builder.read(text, self.registers.types[text]),)
        stored = self.call.stored.get(text)
        if stored is None:
            return (self.registers.read(text, I32),) if text[0] in "-0123456789" else (Undefined(I32),)
        return [stored[offset] for offset in sorted(stored)]

    def _say_what_is_lacking(self) -> None:
        """Say once which instructions are taken for unknown."""
        if self.registers.lacking:
            message = f"not modeled: {', '.join(self.registers.lacking)}; what comes of them is taken for unknown"
            help = "the kernel is analyzed as far as that allows"
            self.findings.append(Finding("INP006", "note", message, self.routine.span, (help,)))

    def _blame(self, statement: PtxStatement, message: str) -> None:
        self.findings.append(Finding("INP001", "warning", message, statement.span))


def _apart(words: str) -> Ptx:
    """Return an instruction taken apart."""
    head = re.match(r"[\w.:]+", words)
    if head is None:
        return Ptx("", (words.split()[0] if words else "",), (), ())
    mnemonic, rest = head.group(), words[head.end() :]
    parts = tuple(mnemonic.split("."))
    types = tuple(part for part in parts[1:] if part in FUNDAMENTAL)
    operands = tuple(text.strip() for text in _SPLIT.split(rest)) if rest.strip() else ()
    return Ptx(parts[0], parts, types, operands)
