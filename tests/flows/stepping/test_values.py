"""Variables have the values that the text gives them, in every lane."""

from __future__ import annotations

from warpsmith.flows.stepping.turns import StepPosition, StepTurns
from warpsmith.flows.stepping.values import LaneScope, Recorded, VariableNames
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.graph import Graph

TEXT = """__device__ int twice(int v) { int w = v + v; return w; }
__global__ void k(int *out)
{
    int t = threadIdx.x;
    unsigned u = t - 5;
    float f = t * 0.5f;
    int c = 4;
    int sum = 0;
    for (int i = 0; i < t; i++)
        sum += i;
    int a = twice(t) + 1;
    int b = twice(a) + 2;
    out[t] = sum + a + b + (int)f + u + c;
}
"""


def test_each_lane_holds_what_the_text_computes() -> None:
    unit = read_unit(KernelFile("k.cu", text=TEXT))
    assert isinstance(unit, KernelUnit)
    kernel = next(function for function in unit.module.functions if function.name == "k")
    names = VariableNames.of(unit, kernel)
    assert {"u", "f", "sum", "i", "a", "b"} <= set(names.listed)
    assert names.unseen["c"] == (7,)
    recorded, memory = Recorded(names), LaunchMemory()
    out = memory.allocate("out", bytes(128))
    last: list[StepPosition] = []
    graphs = {function.name: Graph.of(function) for function in unit.module.functions if function.blocks}
    turns = StepTurns(graphs, 32, last.append, recorded.phi)
    launch = Launch(arguments={"out": out.address.to_bytes(8, "little")})
    assert interpret(unit.module, "k", launch, memory, recorded, turns=turns).complete
    for lane, thread in last[-1].warp.threads.items():
        scope = LaneScope(unit, kernel, recorded, {"out": out}, {"out": "i32"}, thread)
        a = 2 * lane + 1
        expected = {"u": (lane - 5) % 2**32, "f": lane * 0.5, "sum": lane * (lane - 1) // 2, "a": a, "b": 2 * a + 2}
        assert {name: scope.variable(name) for name in expected} == expected
        assert scope.variable("threadIdx.x") == scope.variable("lane") == lane
        total = expected["sum"] + a + expected["b"] + lane // 2 + lane - 5 + 4
        assert scope.element("out", lane) == total
