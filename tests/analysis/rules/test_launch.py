"""OCC: what the launch asks of a multiprocessor, and how much of it stays empty."""

from __future__ import annotations

from msgspec.structs import replace

from tests.analysis.test_kernel import HEAD
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.resources.resources import CompilerFigures
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.launch import launch
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape
from warpsmith.machine.devices import device
from warpsmith.ssa.nodes import Limits
from warpsmith.ssa.reader import parse_module


def found(
    block: Dim | None = (256, 1, 1),
    grid: Dim | None = None,
    compiled: CompilerFigures | None = None,
    limits: Limits | None = None,
    *,
    body: str = "",
    shared: int = 0,
    gpu: str = "h100",
) -> dict[str, KernelFinding]:
    module = parse_module(f"{HEAD}{body}\n  return\nend\nfunction @f()\nstart:\n  return\nend\n")
    kernel = replace(module.functions[0], limits=limits or Limits(256))
    module = replace(module, functions=(kernel, *module.functions[1:]))
    shape = LaunchShape(block, grid, shared_bytes=shared)
    told = list(launch(examine(module, "k", shape, device(gpu), compiled)))
    assert len({(one.rule, one.subject) for one in told}) == len(told)
    return {one.rule: one for one in told}


def test_nothing_is_said_of_a_launch_that_fills_the_device() -> None:
    assert found(grid=(10_000, 1, 1)) == {}
    assert found(None) == {}


def test_low_occupancy_by_registers() -> None:
    low = found(compiled=CompilerFigures(128, 0))["OCC001"]
    assert low.certainty == "proven" and "16 of 64 warps (25.0%), limited by registers" in low.message
    # half of the warps is not low
    assert found(compiled=CompilerFigures(64, 0)) == {}


def test_fewer_registers_that_would_do_are_named() -> None:
    (said,) = found(compiled=CompilerFigures(128, 0))["OCC001"].help
    assert said == "80 registers a thread (__launch_bounds__, -maxrregcount) would give 37.5%"
    assert "24 of 64" in found(compiled=CompilerFigures(80, 0))["OCC001"].message
    assert "16 of 64" in found(compiled=CompilerFigures(88, 0))["OCC001"].message


def test_what_binds_next_is_named_where_it_binds_as_soon() -> None:
    # of blocks of one warp 32 fit, and 31 of those with so much shared memory
    low = found((32, 1, 1), shared=2100)["OCC001"]
    assert "31 of 64" in low.message and "limited by blocks" in low.message and "larger blocks" in low.help[0]


def test_low_occupancy_by_shared_memory() -> None:
    shared = found(shared=100_000)["OCC001"]
    assert "limited by shared memory" in shared.message and shared.help == (
        "use a smaller tile, so that more blocks fit",
    )
    # 32 blocks of a warp are half of what fits
    assert "OCC001" not in found((32, 1, 1))


def test_registers_that_limit_a_kernel_without_bounds() -> None:
    free = Limits()
    assert set(found(compiled=CompilerFigures(64, 0), limits=free)) == {"OCC005"}
    told = found(compiled=CompilerFigures(64, 0), limits=free)["OCC005"]
    assert told.help[0].startswith("declare it: __launch_bounds__(256)") and told.certainty == "proven"
    assert found(None, compiled=CompilerFigures(64, 0), limits=free)["OCC005"].certainty == "conditional"
    assert found(compiled=CompilerFigures(64, 0), limits=Limits(None, (256, 1, 1))) == {}
    assert found(compiled=CompilerFigures(16, 0), limits=free) == {}


def test_a_block_that_is_no_whole_number_of_warps() -> None:
    ragged = found((100, 1, 1))["OCC002"]
    assert "100x1x1 = 100 threads is no multiple of 32: 28 lanes" in ragged.message
    assert ragged.help == ("use a multiple of 32: 128 threads",)
    assert ragged.estimate is not None and ragged.estimate.value == 21.9
    assert "OCC002" not in found((32, 3, 1))
    module = parse_module(f"{HEAD}  return\nend\n")
    guessed = examine(module, "k", LaunchShape(likely=(8, 1, 1)), device("h100"))
    assert "OCC002" not in {one.rule for one in launch(guessed)}, "nobody gives it"


def test_a_grid_with_fewer_blocks_than_multiprocessors() -> None:
    units = device("h100").units
    few = found(grid=(units - 1, 1, 1))["OCC003"]
    assert few.certainty == "proven" and f"{units - 1} blocks for {units} multiprocessors" in few.message
    assert "OCC003" not in found(grid=(units, 1, 1))


def test_a_launch_that_is_over_at_once_needs_no_more_threads() -> None:
    loop = """  jump head
head:
  %c:i1 = eq %x 3:i32
  branch %c head done
done:"""
    one, block = (1, 1, 1), (256, 1, 1)
    for body, rules in (("", set()), (loop, {"OCC003"}), ("  call [@f]", {"OCC003"})):
        assert set(found(one, one, body=body)) & {"OCC002", "OCC003"} == rules
        assert set(found(block, one, body=body)) & {"OCC003"} == rules
    alone = found(one, one, body=loop)["OCC003"]
    assert alone.message.startswith("1 block for ") and alone.help[0].startswith("share the work among threads")
    assert "OCC003" in found(block, (5, 1, 1)) and "OCC002" in found(one, (5000, 1, 1))
    assert "OCC002" in found((8, 1, 1), one) and "OCC002" in found(one)


def test_a_block_that_does_not_fit() -> None:
    large = found(shared=230 * 1024 - 4224)["OCC001"]
    assert large.message == "a block does not fit on sm_90: 235,520 bytes of shared memory a block, 232,448 at most"


def test_a_tail_of_the_last_wave() -> None:
    resident = 8 * device("h100").units  # 64 warps, blocks of 8
    tail = found(grid=(2 * resident + 10, 1, 1), compiled=CompilerFigures(32, 0))["OCC003"]
    assert f"2 full waves of {resident} and a tail of 10" in tail.message and tail.certainty == "proven"
    assert tail.estimate is not None and tail.estimate.value == 1.49 and round(tail.impact, 2) == 1.49
    assert found(grid=(2 * resident + 10, 1, 1))["OCC003"].certainty == "heuristic"
    for blocks in (2 * resident, 2 * resident + resident // 2, 8 * resident + 10, resident - 10):
        assert "OCC003" not in found(grid=(blocks, 1, 1))


def test_limits_of_a_launch() -> None:
    def excess(*how: object, **more: object) -> str:
        return found(*how, **more)["OCC004"].message  # type: ignore[arg-type]

    many = Limits(4096)
    assert "2048 threads a block, 1024 at most" in excess((1024, 2, 1), limits=many)
    # one limit of them, though a side of 2048 is beyond another as well
    assert "2048 threads a block, 1024 at most" in excess((2048, 1, 1), limits=many)
    assert "block.z = 65, 64 at most" in excess((1, 1, 65), limits=many)
    assert "grid.y = 65,536, 65,535 at most" in excess((256, 1, 1), (1, 65_536, 1))
    assert "the kernel promises 256 at most" in excess((288, 1, 1))
    assert "the kernel demands (64, 1, 1)" in excess((128, 1, 1), limits=Limits(None, (64, 1, 1)))
    assert "registers a block" in excess((1024, 1, 1), compiled=CompilerFigures(128, 0), limits=many)
    # where a launch fails, its occupancy does not matter
    assert "OCC001" not in found((1024, 1, 1), compiled=CompilerFigures(128, 0), limits=many)
    assert "OCC004" not in found((1024, 1, 1), (2**31 - 1, 65_535, 65_535), limits=many)


def test_spills_and_calls() -> None:
    assert "OCC006" in found(compiled=CompilerFigures(32, 4)) and "OCC006" not in found(compiled=CompilerFigures(32, 0))
    twice = found(body="  call [@f]\n  call [@f]\n  call [@unknown]")
    assert twice["OCC007"].message.startswith("f is called, not inlined")
