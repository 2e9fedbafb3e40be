"""One thread of a kernel as a function of LLVM IR: each block is a block, each phi a phi.

    @llvm.amdgcn.workitem.id.x …                      a GPU's back end makes of it what lanes do together: on AMD's
    define amdgpu_kernel void @k(ptr addrspace(1) %a) machines exec masks around branches, on NVIDIA's nothing yet

Lines of the user's text go with each instruction as debug locations.
"""

from __future__ import annotations

from collections import Counter

from llvmlite import ir

from warpsmith.simt.engine.lanes import VOID, Ir, element
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Exit,
    Function,
    Jump,
    Module,
    Operand,
    Return,
    Switch,
    Undefined,
    Unreachable,
    Value,
)
from warpsmith.targets.llvm.addresses import Pointers, argument_types
from warpsmith.targets.llvm.instructions import ThreadOps
from warpsmith.targets.llvm.machines import Machine
from warpsmith.targets.llvm.module import Lines, LlvmModule, OneLane
from warpsmith.targets.llvm.refused import refuse

__all__ = ["write_thread"]


def write_thread(whole: Module, kernel: Function, machine: Machine) -> LlvmModule:
    """Return the LLVM IR of a kernel for one thread; raises InputError with the line that the machine cannot run."""
    if not kernel.blocks:
        raise refuse(f"{kernel.name} has no body", kernel.span)
    module = ir.Module(kernel.name)
    module.triple = machine.triple
    writer = _Writer(whole, kernel, machine, module)
    writer.write()
    return LlvmModule(module, writer.lines.sources)


class _Writer:
    def __init__(self, whole: Module, kernel: Function, machine: Machine, module: Ir) -> None:
        self.kernel, self.machine = kernel, machine
        self.graph = Graph.of(kernel)
        self.e = e = OneLane(module)
        types = argument_types(kernel, machine)
        self.function = made = ir.Function(module, ir.FunctionType(VOID, types), machine.symbol(kernel.name))
        made.calling_convention = machine.convention
        for one in machine.attributes(_threads(kernel)):
            set.add(made.attributes, one)  # llvmlite lists those of LLVM's own only
        for parameter, argument in zip(kernel.parameters, made.args, strict=True):
            argument.name = parameter.name
        arguments = {parameter.name: argument for parameter, argument in zip(kernel.parameters, made.args, strict=True)}
        self.lines = Lines(module, kernel, made)
        self.pointers = Pointers(whole, kernel, machine, (e, self.value), arguments)
        self.ops = ThreadOps(e, machine, self.pointers, self.value)
        self.made: dict[Value, Ir] = {}
        self.starts: dict[str, Ir] = {}
        self.ends: dict[str, Ir] = {}

    def write(self) -> None:
        """Write all blocks, and then what comes to their phis."""
        blocks = {block.name: block for block in self.kernel.blocks}
        entry = self.function.append_basic_block("variables")
        for name in self.graph.order:
            self.starts[name] = self.function.append_basic_block(name)
        for name in self.graph.order:
            self._block(blocks[name])
        self.e.at(entry)
        self.e.b.branch(self.starts[self.graph.entry])
        for name in self.graph.order:
            self._fill(blocks[name], blocks)

    def value(self, operand: Operand) -> Ir:
        """Return the value of an operand."""
        match operand:
            case Value():
                return self.made[operand]
            case Constant():
                return self.e.pattern(element(operand.type), operand.bits)
            case Undefined():
                return ir.Constant(element(operand.type), ir.Undefined)

    def _block(self, block: BasicBlock) -> None:
        e = self.e
        e.at(self.starts[block.name])
        for phi in block.phis:
            self.lines.at(e, phi.span)
            self.made[phi.result] = e.b.phi(element(phi.result.type), phi.result.name)
        for i in block.instructions:
            self.lines.at(e, i.span)
            for value, made in zip(i.results, self.ops.emit(i), strict=True):
                self.made[value] = made
        self.lines.at(e, block.terminator.span)
        self.ends[block.name] = e.b.block
        self._end(block)

    def _end(self, block: BasicBlock) -> None:
        e, last = self.e, block.terminator
        match last:
            case Jump():
                e.b.branch(self.starts[last.target])
            case Branch():
                if last.then == last.other:
                    e.b.branch(self.starts[last.then])
                else:
                    e.b.cbranch(self.value(last.condition), self.starts[last.then], self.starts[last.other])
            case Switch():
                value = self.value(last.value)
                made = e.b.switch(value, self.starts[last.other])
                for number, target in last.cases:
                    made.add_case(ir.Constant(value.type, number), self.starts[target])
            case Return():
                e.b.ret_void()
            case Exit():
                self._exit(fails=last.fails)
            case Unreachable():
                e.b.unreachable()

    def _exit(self, *, fails: bool) -> None:
        e = self.e
        if fails:
            e.intrinsic("llvm.trap", (), (), VOID)
        e.b.unreachable() if fails else e.b.ret_void()

    def _fill(self, block: BasicBlock, blocks: dict[str, BasicBlock]) -> None:
        """Write what comes to the phis of a block: once for each edge."""
        for phi in block.phis:
            for name, operand in phi.incoming:
                if name in self.ends:
                    for _ in range(_edges(blocks[name], block.name)):
                        self.made[phi.result].add_incoming(self.value(operand), self.ends[name])


def _edges(block: BasicBlock, target: str) -> int:
    """Return how many edges of LLVM IR lead from a block to another one."""
    last = block.terminator
    if not isinstance(last, Switch):
        return 1
    return Counter((*(name for _, name in last.cases), last.other))[target]


def _threads(kernel: Function) -> int | None:
    """Return how many threads a block has, where the kernel says it."""
    exact = kernel.limits.exact_block
    return exact[0] * exact[1] * exact[2] if exact is not None else None
