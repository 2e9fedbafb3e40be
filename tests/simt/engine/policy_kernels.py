"""Launches for machines that run under policies: graphs of any kind, and kernels whose result is the order of lanes."""

from __future__ import annotations

from tests.simt.engine.agree import Case
from tests.simt.policies.graphs import random_kernel, timed_kernel
from warpsmith.simt.launch import Launch
from warpsmith.ssa.reader import parse_module

__all__ = ["SPIN", "graph_case", "text_case", "timed_case"]

WIDTHS = (32, 8, 5, 16, 64, 2, 1, 33)
THREADS = 40


def text_case(text: str, threads: int, width: int, *, words: int = 0) -> Case:
    """Return one block of threads that run a kernel `k(a)`, whose array has `words` numbers, zero."""
    launch = Launch((1, 1, 1), (threads, 1, 1), {}, warp=width, max_steps=300_000)
    return Case(parse_module(text), "k", launch, {"a": (bytes(4 * (words or 2 * threads)), True)})


def graph_case(seed: int) -> Case:
    """Return a kernel of a random graph; several warps, where they are narrow."""
    return text_case(random_kernel(seed), THREADS, WIDTHS[seed % len(WIDTHS)])


def timed_case(seed: int) -> Case:
    """Return one warp whose lanes take numbers, and go where these say."""
    width = WIDTHS[seed % len(WIDTHS)]
    return text_case(timed_kernel(seed), min(width, THREADS), width, words=81)


SPIN = """
kernel @k(a 8 align 8 i64)
start:
  %a:i64 = param [a+0]
  jump try
try:
  %old:i32 = atomic_compare [global +0 align 4] %a 0:i32 1:i32
  %mine:i1 = eq %old 0:i32
  branch %mine inside try
inside:
  %n:i32 = load [global +4 align 4] %a
  %m:i32 = add %n 1:i32
  store [global +4 align 4] %a %m
  %free:i32 = atomic_exchange [global +0 align 4] %a 0:i32
  return
end
"""
"""A lock for which lanes spin: under a stack its holder waits for them."""
