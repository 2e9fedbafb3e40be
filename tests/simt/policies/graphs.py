"""Kernels of random control flow: any graph of blocks, each of whose lanes decides by a hash of its number and time."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

__all__ = ["FOUR_GRAPHS", "drawn_kernel", "fork_join_kernel", "random_kernel", "timed_kernel"]

HEAD = """
kernel @k(a 8 align 8 i64)
start:
  %a:i64 = param [a+0]
  %x:i32 = query [tid.x]
  %o:i64 = umulwide %x 8:i32
  %p:i64 = add %a %o
  store [global +0 align 4] %p %x
  store [global +4 align 4] %p 0:i32
  jump b0
"""


def _block(number: int, then: str, other: str, mask: int, most: int) -> str:
    """Return a block that counts, mixes what it has seen into a hash, and goes one of two ways, or to the end."""
    n = f"_{number}"
    return f"""b{number}:
  %h{n}:i32 = load [global +0 align 4] %p
  %c{n}:i32 = load [global +4 align 4] %p
  %d{n}:i32 = add %c{n} 1:i32
  %m{n}:i32 = mul %h{n} {1103515245 + 2 * number}:i32
  %g{n}:i32 = add %m{n} {12345 + number}:i32
  store [global +0 align 4] %p %g{n}
  store [global +4 align 4] %p %d{n}
  %more{n}:i1 = ult %d{n} {most}:i32
  branch %more{n} w{number} done
w{number}:
  %s{n}:i32 = lshr %g{n} 16:i32
  %b{n}:i32 = and %s{n} {mask}:i32
  %t{n}:i1 = eq %b{n} 0:i32
  branch %t{n} {then} {other}
"""


def random_kernel(seed: int) -> str:
    """Return a kernel whose graph may have loops with several entries and exits."""
    chosen = random.Random(seed)
    count = chosen.randint(2, 9)
    names = [*(f"b{n}" for n in range(count)), "done"]
    body = "".join(
        _block(n, chosen.choice(names), chosen.choice(names), chosen.choice((1, 1, 3, 7)), chosen.randint(6, 30))
        for n in range(count)
    )
    return f"{HEAD}{body}done:\n  return\nend\n"


def timed_kernel(seed: int) -> str:
    """Return a random kernel in which each lane takes a number at each block, of which no two are the same, and goes on
    as its numbers say; they are counted behind the numbers of the lanes. So all that it does depends on the order of
    the lanes, in the warp and among warps."""
    timed = random_kernel(seed).replace("  store [global +0 align 4] %p %x\n", "  store [global +0 align 4] %p 1:i32\n")
    for number in range(10):
        n = f"_{number}"
        turn = f"""  %k{n}:i32 = atomic_add [global +320 align 4] %a 1:i32
  %v{n}:i32 = mul %k{n} 40503:i32
  %m{n}:i32 = mul %h{n} %v{n}"""
        timed = timed.replace(f"  %m{n}:i32 = mul %h{n} {1103515245 + 2 * number}:i32", turn)
    return timed


def fork_join_kernel(seed: int) -> str:
    """Return a kernel of nested and consecutive conditionals: every fork has its join."""
    chosen = random.Random(seed)
    texts: list[str] = []
    numbers = iter(range(1000))

    def part(behind: str, depth: int) -> str:
        """Add blocks that lead to `behind`; return the first."""
        for _ in range(chosen.randint(1, 2)):
            number = next(numbers)
            arms = [part(behind, depth - 1) if depth and chosen.random() < 0.8 else behind for _ in range(2)]
            texts.append(_block(number, arms[0], arms[1], chosen.choice((1, 3, 7)), 1000))
            behind = f"b{number}"
        return behind

    first = part("done", 4)
    return f"{HEAD.replace('jump b0', f'jump {first}')}{''.join(texts)}done:\n  return\nend\n"


FOUR_GRAPHS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "if/else": {"a": ("b", "c"), "b": ("d",), "c": ("d",), "d": ()},
    "while": {"a": ("b", "c"), "b": ("a",), "c": ()},
    "two exits": {"a": ("b", "d"), "b": ("a", "c"), "c": ("d",), "d": ()},
    "two entries": {"a": ("b", "c"), "b": ("c",), "c": ("b", "d"), "d": ()},
}
"""The graphs of an article on how GPUs handle branches (figure 4), after those that textbooks have."""


def drawn_kernel(graph: Mapping[str, tuple[str, ...]]) -> str:
    """Return a kernel that has a graph: blocks, the first one first, each with those that it leads to. Every block
    counts and mixes a number; where it leads to two, a bit of that says where to."""
    texts = [HEAD.replace("jump b0", f"jump {next(iter(graph))}")]
    for number, (name, targets) in enumerate(graph.items()):
        mixed = _block(number, targets[0], targets[-1], 1, 1 << 30) if targets else ""
        lines = mixed.replace(f"b{number}:", f"{name}:", 1).splitlines(keepends=True)
        # it goes on for ever: the bound of random graphs is not looked at
        kept = [line for line in lines if not line.strip().startswith(("%more", "branch %more", f"w{number}:"))]
        ends = "  return\n" if not targets else ""
        if len(targets) == 1:
            kept[-1] = f"  jump {targets[0]}\n"
        texts.append("".join(kept) or f"{name}:\n")
        texts.append(ends)
    return "".join(texts) + "end\n"
