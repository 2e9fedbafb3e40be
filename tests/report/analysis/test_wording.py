"""The wording of statements about a kernel, in the words of its language."""

from __future__ import annotations

from msgspec.structs import replace

from tests.analysis.test_kernel import ROW, told
from tests.report.analysis.samples import access, branch, kernel, reported
from warpsmith.analysis.resources.diagrams import Diagram, DiagramNode
from warpsmith.analysis.uniformity.facts import RaceVerdict
from warpsmith.report.analysis.wording import Wording
from warpsmith.ssa.nodes import Symbol
from warpsmith.ssa.types import I32

CUDA, OPENCL, PTX = Wording("cuda", {"tile.2": "tile"}), Wording("opencl", {}), Wording("ptx", {})


def test_registers() -> None:
    said = "4·tid.x + 128·ctaid.y + %ntid.z of nctaid.x"
    assert CUDA.text(said) == "4·threadIdx.x + 128·blockIdx.y + blockDim.z of gridDim.x"
    assert OPENCL.text(said) == "4·get_local_id(0) + 128·get_group_id(1) + get_local_size(2) of get_num_groups(0)"
    assert PTX.text(said) == "4·%tid.x + 128·%ctaid.y + %ntid.z of %nctaid.x"


def test_what_only_looks_like_one_stays() -> None:
    assert CUDA.text("mytid.x tid.xy a.tid.x") == "mytid.x tid.xy a.tid.x"


def test_variables_that_several_kernels_have() -> None:
    assert CUDA.text("load of tile.2, not of tile.25 or my_tile.2") == "load of tile, not of tile.25 or my_tile.2"


def test_values_have_the_names_of_the_users_variables() -> None:
    assert CUDA.text("%row.3 and %xor and %value") == "`row` and a value and a value"
    assert PTX.text("%row.3") == "%row.3"


def test_numbered_symbols_are_found_in_a_kernel_but_not_in_ptx() -> None:
    facts = told("", ROW)
    named = replace(
        facts, module=replace(facts.module, symbols=(Symbol("s.12", "shared", I32, 1, 4), *facts.module.symbols))
    )
    assert Wording.of("cuda", named) == Wording("cuda", {"s.12": "s"})
    assert Wording.of("ptx", named).symbols == {}


def test_every_part_of_what_is_told() -> None:
    one = reported(message="tile.2 at tid.x", certainty="conditional").finding
    changed = CUDA.finding(replace(one, label="tid.y", assumptions=("ctaid.x > 0",), help=("use ntid.x",)))
    assert (changed.message, changed.label) == ("tile at threadIdx.x", "threadIdx.y")
    assert (changed.assumptions, changed.help) == (("blockIdx.x > 0",), ("use blockDim.x",))
    found = CUDA.access(access(variable="tile.2", index="4·tid.x", assumptions=("%n.1 > 0",), blocked="tid.z"))
    assert (found.variable, found.index, found.assumptions, found.blocked) == (
        "tile", "4·threadIdx.x", ("`n` > 0",), "threadIdx.z"
    )  # fmt: skip
    assert CUDA.branch(replace(branch(), why=(("%tid.x", None),))).why == (("threadIdx.x", None),)
    verdict = RaceVerdict("unknown", ("the index of tile.2 does not overflow",), "an index of tile.2 is not known")
    freedom = CUDA.kernel(replace(kernel(), freedom=verdict)).freedom
    assert (freedom.assumptions, freedom.why) == (
        ("the index of tile does not overflow",), "an index of tile is not known"
    )  # fmt: skip
    picture = Diagram("data", (DiagramNode("k", "%tid.x", (), "seed", "divergent"),), ())
    assert CUDA.diagram(picture).nodes[0].title == "threadIdx.x"
