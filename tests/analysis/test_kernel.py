"""Kernels that everybody knows: what is said of their accesses, barriers, races and resources."""

from __future__ import annotations

from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts, LaunchShape, ParameterBound
from warpsmith.machine.devices import device
from warpsmith.machine.requests import bank_ways, local_sectors, sectors, words
from warpsmith.ssa.reader import parse_module

HEAD = """
shared @tile f32 x 1056 align 4
kernel @k(a 8 align 8 i64, n 4 align 4 i32)
start:
  %a:i64 = param [a+0]
  %n:i32 = param [n+0]
  %x:i32 = query [tid.x]
  %y:i32 = query [tid.y]
  %b:i32 = query [ctaid.x]
  %t:i32 = address [@tile]
  %w:i32 = query [ntid.x]
  %g:i32 = mul %b %w
  %i:i32 = add %g %x
"""


def told(body: str, shape: LaunchShape) -> KernelFacts:
    return examine(parse_module(f"{HEAD}{body}\n  return\nend\n"), "k", shape, device("h100"))


def access(index: str, shape: LaunchShape, size: int = 4) -> AccessFact:
    """Return the fact of a load of `size` bytes at a + size · index, where `%e` is the index."""
    type_ = {4: "f32", 8: "f64"}[size]
    address = f"  %o:i64 = smulwide %e {size}:i32\n  %p:i64 = add %a %o"
    return told(f"{index}\n{address}\n  %v:{type_} = load [global +0 align {size}] %p", shape).accesses[0]


ROW = LaunchShape((256, 1, 1))
TILE = LaunchShape((32, 8, 1))


def test_neighbors_side_by_side_are_coalesced_whatever_the_arguments() -> None:
    fact = access("  %e:i32 = add %i 0:i32", ROW)
    assert (fact.pattern, fact.certainty, fact.stride_bytes, fact.variable) == ("coalesced", "proven", 4, "a")
    assert fact.sectors is not None
    assert (fact.sectors.least, fact.sectors.most) == (4, 5)
    assert str(fact.sectors_aligned) == "4"
    assert fact.offsets == tuple(range(0, 128, 4))
    assert fact.index == "a + 1024·ctaid.x + 4·tid.x"


def test_a_stride_of_eight_elements_is_a_sector_a_lane() -> None:
    fact = access("  %e:i32 = mul %x 8:i32", ROW)
    assert (str(fact.sectors), fact.ideal_sectors, fact.pattern, fact.certainty) == ("32", 4, "strided", "proven")


def test_a_symbolic_stride_is_a_sector_a_lane_if_it_is_large() -> None:
    fact = access("  %e:i32 = mul %x %n", ROW)
    assert (str(fact.sectors), fact.stride, fact.certainty) == ("32", "4·n", "conditional")
    assert any(text.startswith("n >= ") for text in fact.assumptions)
    granted = access("  %e:i32 = mul %x %n", LaunchShape((256, 1, 1), None, {}, (ParameterBound("n", 8, 4096),)))
    assert (str(granted.sectors), granted.certainty) == ("32", "proven")
    given = access("  %e:i32 = mul %x %n", LaunchShape((256, 1, 1), None, {"n": 2}))
    assert given.sectors_aligned is not None
    assert (str(given.sectors_aligned), given.certainty) == ("8", "proven")


def test_rows_of_an_unknown_width_are_coalesced_but_may_be_out_of_step() -> None:
    fact = access("  %r:i32 = mul %y %n\n  %e:i32 = add %r %x", TILE)
    assert (fact.pattern, str(fact.sectors_aligned), fact.certainty) == ("coalesced", "4 to 5", "conditional")
    assert fact.assumptions == ("the index of a does not overflow",)


def test_one_address_for_all_is_uniform() -> None:
    fact = access("  %e:i32 = add %b 3:i32", ROW)
    assert (fact.pattern, str(fact.sectors), str(fact.addresses)) == ("uniform", "1", "1")


def test_an_index_out_of_memory_is_indirect_and_says_so() -> None:
    body = "  %q:i64 = smulwide %i 4:i32\n  %h:i64 = add %a %q\n  %e:i32 = load [global +0 align 4] %h"
    facts = told(f"{body}\n  %o:i64 = smulwide %e 4:i32\n  %p:i64 = add %a %o\n  store [global +0 align 4] %p %x", ROW)
    fact = facts.accesses[1]
    assert (fact.pattern, fact.certainty, fact.sectors) == ("indirect", "heuristic", None)
    assert "comes out of memory" in fact.blocked


def shared(index: str, shape: LaunchShape = ROW) -> str:
    body = f"{index}\n  %o:i32 = shl %e 2:i32\n  %p:i32 = add %t %o\n  %v:f32 = load [shared +0 align 4] %p"
    return str(told(body, shape).accesses[0].bank_ways)


def test_banks() -> None:
    assert shared("  %e:i32 = add %x 1:i32") == "1"
    assert shared("  %e:i32 = mul %x 2:i32") == "2"
    assert shared("  %e:i32 = mul %x 32:i32") == "32"
    assert shared("  %e:i32 = mul %x 33:i32") == "1"
    assert shared("  %e:i32 = lshr %x 1:i32") == "1"
    assert shared("  %s:i32 = lshr %x 3:i32\n  %m:i32 = mul %s 32:i32\n  %e:i32 = xor %m %s") == "1"
    assert bank_ways({lane: 16 * lane for lane in range(32)}, 16) == 1
    assert words({0: 0, 1: 2, 2: 4}, 4) == 2
    assert local_sectors(dict.fromkeys(range(32), 8), 4) == 4
    assert sectors({0: 0, 1: 64}, 8) == 2


STAGED = """
  %o:i32 = shl %x 2:i32
  %p:i32 = add %t %o
  store [shared +0 align 4] %p %x
  BARRIER
  %v:i32 = load [shared +4 align 4] %p
"""


def test_a_barrier_between_a_store_and_a_neighbors_load_is_needed() -> None:
    with_it = told(STAGED.replace("BARRIER", "barrier [waits] 0:i32"), ROW)
    assert with_it.races_complete
    assert not with_it.races
    assert not with_it.barriers[0].redundant
    without = told(STAGED.replace("BARRIER", ""), ROW)
    (race,) = without.races
    assert (race.certainty, race.variable, race.reach) == ("proven", "tile", "block")
    assert {race.first.access.kind, race.second.access.kind} == {"load", "store"}
    assert race.first.thread is not None
    assert race.second.thread is not None
    assert abs(race.first.thread.index[0] - race.second.thread.index[0]) == 1


def test_a_barrier_that_orders_nothing_is_redundant() -> None:
    facts = told(STAGED.replace("BARRIER", "barrier [waits] 0:i32").replace("+4 align", "+0 align"), ROW)
    assert facts.barriers[0].redundant
    assert not facts.races


GUARDED = """
  %c:i1 = slt %i %n
  branch %c body done
body:
  barrier [waits] 0:i32
  jump done
done:
"""


def test_a_barrier_behind_a_bounds_check_is_divergent_and_the_others_have_ended() -> None:
    (fact,) = told(GUARDED, ROW).barriers
    assert fact.divergent
    assert fact.exits
    assert fact.why
    narrow = told(GUARDED.replace("slt %i %n", "slt %x 1024:i32"), ROW).barriers
    assert not narrow[0].divergent


def test_blocks_that_write_the_same_place_are_told() -> None:
    body = "  %o:i64 = smulwide %x 4:i32\n  %p:i64 = add %a %o\n  store [global +0 align 4] %p %x"
    (race,) = told(body, LaunchShape((256, 1, 1), (4, 1, 1))).races
    assert (race.reach, race.certainty) == ("grid", "conditional")
    assert not told(body, LaunchShape((256, 1, 1), (1, 1, 1))).races


def test_resources_and_occupancy() -> None:
    held = told("", LaunchShape((256, 1, 1), shared_bytes=1024)).resources
    assert (held.shared_bytes, held.dynamic_shared_bytes, held.source) == (4224, 1024, "estimate")
    assert held.occupancy is not None
    assert held.occupancy.warps == 64


def test_a_launch_of_unknown_shape_is_assumed_and_said() -> None:
    fact = access("  %e:i32 = add %i 0:i32", LaunchShape())
    assert fact.certainty == "conditional"
    assert fact.assumptions[0] == "a block has 256 threads"
