"""What statements for the device, and others, write of the user's variables.

ws_copy_to_host(&sum, sum_gpu, 8)       sum: the variable of a buffer
*p = 1                                  whatever others may write through its address: `exposed`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warpsmith.tree.nodes import (
    CaptureStmt,
    Copy,
    DataEnter,
    DataExit,
    DeviceAlloc,
    Function,
    Name,
    Stmt,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import peel, walk, written_symbols

__all__ = ["find_exposed", "find_hosts", "find_written"]


def find_hosts(function: Function) -> dict[Symbol, Symbol]:
    """Return the user's variable for each buffer of a ported function."""
    found: dict[Symbol, Symbol] = {}
    for part in walk(function.body):
        if isinstance(part, DeviceAlloc):
            found[part.buffer] = part.host
        elif isinstance(part, DataEnter):
            found[part.buffer] = part.variable
    return found


def find_written(run: Iterable[Stmt], hosts: Mapping[Symbol, Symbol]) -> set[Symbol]:
    """Return the user's variables that a run writes, or may write where it has their address; `hosts` are those of
    buffers."""
    found: set[Symbol] = set()
    for stmt in run:
        found |= written_symbols(stmt)
        for part in walk(stmt):
            if isinstance(part, CaptureStmt):
                found.add(part.symbol)
            elif isinstance(part, Unary) and part.op == "&" and isinstance(name := peel(part.operand), Name):
                found.add(name.symbol)
            elif isinstance(part, Copy | DataEnter | DataExit) and part.buffer in hosts:
                found.add(hosts[part.buffer])
    return found


def find_exposed(function: Function) -> frozenset[Symbol]:
    """Return the variables of numbers that a function of the user's names, and that others may write through their
    address."""
    found: set[Symbol] = set()
    for part in walk(function.body):
        match part:
            case Name(symbol=symbol) if symbol.storage not in ("local", "parameter"):
                found.add(symbol)
            case Unary(op="&", operand=operand) if isinstance(name := peel(operand), Name):
                found.add(name.symbol)
            case Verbatim(reads=reads, writes=writes) | VerbatimExpr(reads=reads, writes=writes):
                found.update(reads, writes)
            case _:
                continue
    return frozenset(found)
