"""Where numbers of a kernel come from, and what ops without a rule make of them."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import HEAD
from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.solved import solved_forms
from warpsmith.analysis.memory.transfer import short_name
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape, ParameterBound
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import uniformity
from warpsmith.ssa.reader import parse_module

BLOCK: Dim = (8, 4, 1)
SHAPE = LaunchShape(BLOCK)


def forms(body: str, shape: LaunchShape = SHAPE) -> Forms:
    """Return the forms of a kernel's values, for warps of 16 lanes."""
    module = parse_module(f"{HEAD}{body}\n  return\nend\n")
    answer = uniformity(module.functions[0], Threads("warp", BLOCK, 16))
    of = solved_forms(module, answer, shape)
    of.solve(answer.definitions)
    return of


def form(lines: str, shape: LaunchShape = SHAPE, name: str = "e") -> Form:
    body = "\n".join(f"  {line.strip()}" for line in lines.split(";"))
    found = forms(body, shape).found
    return next(form for value, form in found.items() if value.name == name)


def atom(lines: str, shape: LaunchShape = SHAPE, name: str = "e") -> Atom:
    (found,) = form(lines, shape, name).atoms()
    return found


def numbers(lines: str) -> list[int]:
    of = forms("\n".join(f"  {line.strip()}" for line in lines.split(";")))
    found = next(form for value, form in of.found.items() if value.name == "e")
    return list(of.lanes.numbers(found) or ())


def test_names_as_their_author_wrote_them() -> None:
    assert short_name("_ZZ4scanPfE4tile_2") == "tile"
    assert short_name("_ZZ4scanPfE9tile") == "_ZZ4scanPfE9tile"
    assert (short_name("k_param_12"), short_name("param"), short_name("a")) == ("param_12", "param", "a")


@pytest.mark.parametrize(
    ("register", "expected"),
    [
        ("laneid", [t % 16 for t in range(32)]),
        ("nwarpid", [2] * 32),
        ("ntid.y", [4] * 32),
        ("tid.z", [0] * 32),
        ("lanemask_eq", [1 << t % 16 for t in range(32)]),
        ("lanemask_lt", [(1 << t % 16) - 1 for t in range(32)]),
        ("lanemask_le", [(2 << t % 16) - 1 for t in range(32)]),
        ("lanemask_ge", [0xFFFF & -(1 << t % 16) for t in range(32)]),
        ("lanemask_gt", [0xFFFF & -(2 << t % 16) for t in range(32)]),
    ],
)
def test_registers_that_a_thread_knows(register: str, expected: list[int]) -> None:
    assert numbers(f"%e:i32 = query [{register}]") == expected


def test_registers_of_the_launch() -> None:
    block = atom("%e:i32 = query [ctaid.x]")
    assert (block.kind, block.range) == ("shared", (0, 2**31 - 2))
    seven = LaunchShape(BLOCK, (7, 1, 3))
    assert atom("%e:i32 = query [ctaid.x]", seven).range == (0, 6)
    assert form("%e:i32 = query [ctaid.y]", seven).constant == 0
    assert form("%e:i32 = query [nctaid.z]", seven).constant == 3
    assert atom("%e:i32 = query [nctaid.y]").range == (1, 65535)
    assert atom("%e:i32 = query [smid]").kind == "shared"
    assert atom("%e:i32 = query [clock]").kind == "own"


def test_parameters_and_what_is_said_of_them() -> None:
    plain = atom("%e:i32 = param [n+0]")
    assert (plain.name, plain.argument, plain.range, plain.residue) == ("n", "n", (-(2**31), 2**31 - 1), (0, 0))
    granted = LaunchShape(
        BLOCK,
        None,
        {},
        (ParameterBound("n", 3, None, 12), ParameterBound("n", None, 99), ParameterBound("m", 0, 1, 64)),
    )
    assert (atom("%e:i32 = param [n+0]", granted).range, atom("%e:i32 = param [n+0]", granted).residue) == (
        (3, 99), (0, 2)
    )  # fmt: skip
    given = LaunchShape(BLOCK, None, {"n": -5})
    assert form("%e:i32 = param [n+0]", given).constant == -5
    # a part of a parameter is another number
    part = atom("%e:i32 = param [a+4]", LaunchShape(BLOCK, None, {"a": 7}, (ParameterBound("a", 0, 9),)))
    assert (part.name, part.range[0]) == ("a+4", -(2**31))


def test_addresses_of_variables() -> None:
    tile = atom("%e:i32 = address [@tile]")
    assert (tile.space, tile.residue, tile.range, tile.argument) == ("shared", (0, 2), (0, 1 << 24), "tile")


def test_what_is_loaded_comes_out_of_memory_and_stays_so() -> None:
    lines = "%v:i32 = load [global +0 align 4] %a; %e:i32 = sdiv %v 3:i32"
    assert (atom(lines).memory, atom(lines, name="v").memory) == (True, True)
    assert atom(lines).kind == "shared"
    own = "%o:i64 = smulwide %x 4:i32; %p:i64 = add %a %o; %e:i32 = load [global +0 align 4] %p"
    assert (atom(own).kind, atom(own).memory) == ("own", True)
    assert not atom("%e:i32 = sdiv %n 3:i32").memory


@pytest.mark.parametrize(
    ("op", "range"),
    [
        ("%e:i32 = urem %n 10:i32", (0, 9)),
        ("%e:i32 = and %n 12:i32", (0, 12)),
        ("%e:i32 = and 12:i32 %n", (0, 12)),
        ("%e:i32 = and %n 0xfffffff3:i32", (-(2**31), 2**31 - 1)),
        ("%e:i32 = lshr %n 30:i32", (0, 3)),
        ("%e:i32 = lshr %n %n", (-(2**31), 2**31 - 1)),
        ("%e:i32 = popcount %n", (0, 32)),
        ("%e:i1 = slt %n 3:i32", (0, 1)),
        ("%e:i32 = sdiv %n 10:i32", (-(2**31), 2**31 - 1)),
    ],
)
def test_the_range_of_what_has_no_rule(op: str, range: tuple[int, int]) -> None:
    assert atom(op).range == range


def test_the_same_op_of_the_same_numbers_is_the_same_unknown() -> None:
    lines = "%d:i32 = sdiv %n 3:i32; %f:i32 = sdiv %n 3:i32; %g:i32 = sdiv %n 5:i32"
    assert form(f"{lines}; %e:i32 = sub %d %f").constant == 0
    assert form(f"{lines}; %e:i32 = sub %d %g").constant is None


def test_threads_are_computed_one_by_one_where_their_numbers_are_known() -> None:
    assert numbers("%d:i32 = sub %x 3:i32; %e:i32 = sdiv %d 2:i32") == [-1, -1, 0, 0, 0, 1, 1, 2] * 4
    assert numbers("%e:i32 = umin %x 3:i32") == [0, 1, 2, 3, 3, 3, 3, 3] * 4
    assert numbers("%e:i1 = slt %x 2:i32") == [1, 1, 0, 0, 0, 0, 0, 0] * 4
    assert form("%e:i32 = sdiv 17:i32 5:i32").constant == 3
    mixed = atom("%d:i32 = add %x %n; %e:i32 = sdiv %d 3:i32")
    assert mixed.kind == "own"


def test_what_a_warp_agrees_on_is_shared_whatever_it_was_made_of() -> None:
    ballot = atom("%c:i1 = slt %x %n; %e:i32 = vote [ballot] %c 0xffff:i32")
    assert ballot.kind == "shared"
