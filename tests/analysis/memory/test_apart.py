"""Global memory of which every thread has its own bytes: what is said is held against all threads of small launches."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests.analysis.test_kernel import HEAD, told
from warpsmith.analysis.memory import apart
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.reader import parse_module

AT = "  %o{0}:i64 = smulwide {1} 4:i32\n  %p{0}:i64 = add %a %o{0}\n"
STORE = "  store [global {1:+d} align 4] %p{0} %x\n"
LOAD = "  %v{0}:i32 = load [global {1:+d} align 4] %p{0}\n"


def store(index: str, offset: int = 0, name: str = "s") -> str:
    return AT.format(name, index) + STORE.format(name, offset)


def load(index: str, offset: int = 0, name: str = "l") -> str:
    return AT.format(name, index) + LOAD.format(name, offset)


def own(body: str, grid: Dim | None = None, block: Dim = (64, 1, 1)) -> bool:
    return told(body, LaunchShape(block, grid)).own_bytes


def test_one_place_a_thread() -> None:
    assert own(store("%i")) and own(store("%i") + load("%i")) and own(load("%i", 4))
    assert own(store("%i", 4) + load("%i", 4)), "another start is none of another"
    assert own("  %j:i32 = add %i %n\n" + store("%j"))


def test_places_of_others() -> None:
    assert not own(store("%i") + load("%i", 4)), "the neighbor's"
    assert not own(store("%x")) and own(store("%x"), (1, 1, 1)), "every block's"
    assert not own(store("%b")), "every thread's of a block"
    assert not own(store("%i"), (4, 2, 1)), "whatever the row"
    assert not own("  %j:i32 = mul %i %n\n" + store("%j")), "n may be 0"
    assert not own("  %j:i32 = load [global +0 align 4] %a\n" + store("%j")), "what memory says"


def test_a_counter_goes_where_others_are() -> None:
    looped = "  jump loop\nloop:\n  %c:i32 = phi start %i loop %d\n" + store("%c") + "  %d:i32 = add %c {}\n"
    for step in ("1:i32", "%n"):
        assert not own(looped.format(step) + "  %e:i1 = slt %d %n\n  branch %e loop end\nend:\n")


def random_body(rng: random.Random) -> str:
    """Return two accesses at sums of the indices, mostly the same."""
    lines = ["  %u:i32 = mul %y {}:i32", "  %w0:i32 = mul %x {}:i32", "  %z:i32 = mul %b {}:i32"]
    body = "\n".join(line.format(rng.choice([0, 1, 1, 4, 8, 8])) for line in lines)
    body += "\n  %q:i32 = add %u %w0\n  %j:i32 = add %q %z\n"
    return body + store("%j") + (load("%j", rng.choice([0, 0, 0, 4])) if rng.random() < 0.5 else "")


def wrong(seeds: Sequence[int]) -> list[int]:
    """Return the seeds whose kernel is said to be apart, and is not; there have to be some that are."""
    found, said = [], 0
    for seed in seeds:
        rng = random.Random(seed)
        body, block = random_body(rng), rng.choice([(4, 2, 1), (8, 1, 1)])
        grid = rng.choice([(3, 1, 1), (1, 1, 1), (2, 2, 1)])
        if not own(body, grid, block):
            continue
        said += 1
        module, memory = parse_module(f"{HEAD}{body}\n  return\nend\n"), LaunchMemory()
        start = memory.allocate("a", bytes(4096)).address.to_bytes(8, "little")
        if interpret(module, "k", Launch(grid, block, {"a": start, "n": bytes(4)}), memory).conflicts:
            found.append(seed)
    assert said > len(seeds) // 20
    return found


def test_no_two_threads_meet_where_it_is_said() -> None:
    assert not wrong(range(150))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["size", "axes", "blocks"])
def test_bugs_are_noticed(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if bug == "axes":
        monkeypatch.setattr(apart, "_axes", lambda function, grid: frozenset("x"))
    elif bug == "size":
        pieces = apart._are_pieces
        monkeypatch.setattr(apart, "_are_pieces", lambda forms, form, size, indices: pieces(forms, form, 0, indices))
    else:
        pieces = apart._are_pieces
        monkeypatch.setattr(apart, "_are_pieces", lambda forms, form, size, indices: pieces(forms, form, size, set()))
    assert wrong(range(150))
