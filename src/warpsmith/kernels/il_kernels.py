"""A program of AMD IL as a unit with one kernel, `main`; its parameters are pointers to floats, and sizes."""

from __future__ import annotations

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.il.code import translate_il
from warpsmith.front.il.defects import find_defects
from warpsmith.front.il.read import parse_il
from warpsmith.ssa.nodes import Module, Parameter
from warpsmith.tree.types import FLOAT, INT, VOID, Pointer, Symbol

__all__ = ["declared_parameter", "read_il"]


def read_il(file: SourceFile) -> tuple[Module, tuple[Finding, ...]]:
    """Return the module of a program, and what is to be said of it; an empty one where it cannot be read."""
    try:
        program = parse_il(file)
    except InputError as error:
        return Module(()), error.findings
    return translate_il(program), find_defects(program)


def declared_parameter(parameter: Parameter) -> Symbol:
    """Return a parameter as C would declare it: cb0 has words that may be integers, a view bytes, all else floats."""
    pointed = INT if parameter.name.startswith("cb") else VOID if parameter.name.startswith("uav") else FLOAT
    type = Pointer(pointed) if parameter.bytes == 8 else INT
    return Symbol(parameter.name, f"il:{parameter.name}", type, "parameter")
