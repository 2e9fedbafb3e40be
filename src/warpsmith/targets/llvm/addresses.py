"""Addresses of one thread as LLVM's pointers, which keep what they point into.

    %p = param a;  %q = add %p %offset;  load [global] %q      →      getelementptr i8, ptr addrspace(1) %a, i64 %offset

An address is a number in the kernel IR. Followed back through sums and changes of space it is found again as the
argument or the variable that it starts from; where it is not, the number becomes a pointer. Both are the same address:
the first lets LLVM see which memory it is, and which of AMD's instructions reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from llvmlite import ir

from warpsmith.simt.engine.lanes import I8, I64, Emit, Ir, element
from warpsmith.ssa.nodes import Address, Function, Instruction, Memory, Module, Operand, Param, Symbol, Text, Value
from warpsmith.ssa.types import I64 as WORD
from warpsmith.targets.llvm.machines import Machine
from warpsmith.targets.llvm.module import pointer_type
from warpsmith.targets.llvm.refused import refuse

__all__ = ["Pointers", "argument_types", "pointer_parameters"]

_DEEP: Final = 24
"""Steps back from an address to what it starts from."""


def pointer_parameters(function: Function) -> frozenset[str]:
    """Return the parameters that addresses of loads, stores and atomics start from."""
    makers = {value: i for _, i in function.instructions() for value in i.results}
    phis = {phi.result: [one for _, one in phi.incoming] for block in function.blocks for phi in block.phis}
    found: set[str] = set()
    pending: list[Operand] = [i.operands[0] for _, i in function.instructions() if isinstance(i.detail, Memory)]
    seen: set[Value] = set()
    while pending:
        one = pending.pop()
        if not isinstance(one, Value) or one in seen or one.type != WORD:
            continue
        seen.add(one)
        made = makers.get(one)
        if made is not None and made.op == "param" and isinstance(made.detail, Param):
            found.add(made.detail.parameter)
        elif made is None:
            pending += phis.get(one, ())
        elif made.op in ("add", "sub", "select", "to_generic", "from_generic"):
            pending += made.operands
    whole = {one.name for one in function.parameters if one.type == WORD}
    # what is scaled, compared or added as an offset is a number as well: a pointer all the same, in its 64 bits
    return frozenset(found & whole)


def argument_types(function: Function, machine: Machine) -> list[Ir]:
    """Return the LLVM types of a kernel's arguments."""
    pointers = pointer_parameters(function)
    made = []
    for one in function.parameters:
        if one.name in pointers:
            made.append(pointer_type(machine.spaces["global"]))
        elif one.type is not None:
            made.append(element(one.type))
        else:
            unit = ir.IntType(8 * min(8, one.align, one.bytes & -one.bytes))
            made.append(ir.ArrayType(unit, one.bytes * 8 // unit.width))
    return made


class _Variable(ir.instructions.AllocaInstr):  # type: ignore[misc]
    """A variable of the function in an address space, which llvmlite does not write."""

    def __init__(self, parent: Ir, type: Ir, name: str, space: int) -> None:
        super().__init__(parent, type, None, name)
        self.type = pointer_type(space)
        self.space = space

    def descr(self, buf: list[str]) -> None:
        """Write it."""
        where = f", addrspace({self.space})" if self.space else ""
        buf.append(f"alloca {self.allocated_type}, align {self.align}{where}\n")


class Pointers:
    """Pointers of a function: `value` gives the LLVM value of an operand, `arguments` are by their names."""

    def __init__(
        self,
        whole: Module,
        kernel: Function,
        machine: Machine,
        at: tuple[Emit, Callable[[Operand], Ir]],
        arguments: Mapping[str, Ir],
    ) -> None:
        self.machine, self.arguments = machine, arguments
        self.e, self.value = at
        self.symbols = {one.name: one for one in (*whole.symbols, *kernel.symbols)}
        self.makers = {made: i for _, i in kernel.instructions() for made in i.results}
        self.variables: dict[str, Ir] = {}

    def pointer(self, operand: Operand, detail: Memory) -> Ir:
        """Return the pointer of an access."""
        e, wanted = self.e, self.machine.spaces[detail.space]
        found = self._start(operand, _DEEP)
        if found is None:
            found = self._of_number(self.value(operand), self._constant_or_global(detail.space))
        if detail.offset:
            found = e.b.gep(found, [ir.Constant(I64, detail.offset)], source_etype=I8)
        # an argument that points to constant memory of OpenCL's points to global memory
        if found.type.addrspace == wanted or detail.space in ("generic", "constant"):
            return found
        return e.b.addrspacecast(found, pointer_type(wanted))

    def _constant_or_global(self, space: str) -> int:
        """Return the address space of a number: constant memory are variables, where the kernel has such."""
        constant = any(one.space == "constant" for one in self.symbols.values())
        return self.machine.spaces["global" if space == "constant" and not constant else space]

    def number(self, pointer: Ir, space: int, type: Ir) -> Ir:
        """Return a pointer as a number in its own space."""
        e = self.e
        own = e.b.ptrtoint(pointer, self._integer(space))
        return own if own.type == type else (e.b.zext if own.type.width < type.width else e.b.trunc)(own, type)

    def change_space(self, i: Instruction) -> Ir:
        """Return the number of an address in another space, of `to_generic` and `from_generic`."""
        e = self.e
        space = self.machine.spaces[i.detail.text] if isinstance(i.detail, Text) else 0
        own, other = (space, 0) if i.op == "to_generic" else (0, space)
        value = self.value(i.operands[0])
        start = self._start(i.operands[0], _DEEP)
        given = start is not None and start.type.addrspace == self.machine.spaces["global"]
        of_arguments = i.detail == Text("constant") and self._constant_or_global("constant") != space
        if given or of_arguments or space in self.machine.flat:
            return value  # these are at the same addresses
        moved = e.b.addrspacecast(self._of_number(value, own), pointer_type(other))
        return self.number(moved, other, element(i.result.type))

    def symbol(self, name: str, i: Instruction) -> Ir:
        """Return where a variable is."""
        symbol = self.symbols.get(name)
        if symbol is None:
            raise refuse(f"{name} is defined elsewhere", i.span)
        if symbol.space == "local":
            return self._local(symbol)
        found = self.e.module.globals.get(self.machine.symbol(name))
        return found if found is not None else self._global(symbol)

    def _start(self, operand: Operand, depth: int) -> Ir | None:
        """Return a pointer with its origin; None where there is none to be seen."""
        i = self.makers.get(operand) if isinstance(operand, Value) else None
        if i is None or not depth:
            return None
        if i.op == "param" and isinstance(i.detail, Param) and i.detail.offset == 0:
            found = self.arguments.get(i.detail.parameter)
            return found if found is not None and isinstance(found.type, ir.PointerType) else None
        if i.op == "address" and isinstance(i.detail, Address):
            return self.symbol(i.detail.symbol, i)
        if i.op in ("to_generic", "from_generic"):
            return self._start(i.operands[0], depth - 1)
        if i.op not in ("add", "sub") or i.result.type != WORD:
            return None
        for base, other in (i.operands[:2], i.operands[1::-1]) if i.op == "add" else (i.operands[:2],):
            found = self._start(base, depth - 1)
            if found is not None:
                moved = self.value(other)
                moved = self.e.b.neg(moved) if i.op == "sub" else moved
                return self.e.b.gep(found, [moved], source_etype=I8)
        return None

    def _of_number(self, number: Ir, space: int) -> Ir:
        e, width = self.e, self._integer(space)
        if number.type.width != width.width:
            number = (e.b.trunc if number.type.width > width.width else e.b.zext)(number, width)
        return e.b.inttoptr(number, pointer_type(space))

    def _integer(self, space: int) -> Ir:
        return ir.IntType(self.machine.pointer_bits(space))

    def kept_argument(self, name: str) -> Ir:
        """Return a variable that holds an argument, of which parts are read."""
        if name not in self.variables:
            given = self.arguments[name]
            with self.e.b.goto_entry_block():
                made = self._variable(given.type, f"{name}.kept", 16)
                self.e.b.position_after(made)
                self.e.b.store(given, made, align=16)
            self.variables[name] = made
        return self.variables[name]

    def _variable(self, type: Ir, name: str, align: int) -> Ir:
        """Return a variable of the function, which LLVM turns into registers where it can."""
        block = self.e.b.function.entry_basic_block
        made = _Variable(block, type, name, self.machine.scratch)
        made.align = align
        block.instructions.insert(0, made)
        return made

    def _local(self, symbol: Symbol) -> Ir:
        if symbol.name not in self.variables:
            type = ir.ArrayType(element(symbol.type), max(1, symbol.count))
            self.variables[symbol.name] = self._variable(type, symbol.name, symbol.align)
        return self.variables[symbol.name]

    def _global(self, symbol: Symbol) -> Ir:
        scalar = element(symbol.type)
        type = ir.ArrayType(scalar, symbol.count)
        made = ir.GlobalVariable(
            self.e.module, type, self.machine.symbol(symbol.name), self.machine.spaces[symbol.space]
        )
        made.type = pointer_type(made.addrspace)  # llvmlite still thinks of what it points to
        made.align = max(symbol.align, 16) if not symbol.count else symbol.align
        if not symbol.count:
            made.linkage = "external"
        elif symbol.space == "shared":
            made.linkage = "internal"
        else:
            made.initializer = _initial(symbol, type)
            made.global_constant = symbol.space == "constant"
        return made


def _initial(symbol: Symbol, type: Ir) -> Ir:
    """Return what a variable starts with; numbers that are not given are zero."""
    if not symbol.initial:
        return ir.Constant(type, None)
    given = [*symbol.initial, *([0] * (symbol.count - len(symbol.initial)))]
    if symbol.type.kind == "float" and symbol.type.bits > 16:
        whole = ir.IntType(symbol.type.bits)
        return ir.Constant(type, [ir.Constant(whole, bits).bitcast(element(symbol.type)) for bits in given])
    return ir.Constant(type, [ir.Constant(element(symbol.type), bits) for bits in given])
