"""The compiled caches are the reference, request for request."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from tests.simt.caches.requests import random_requests, requests_of
from warpsmith.simt.caches import fast
from warpsmith.simt.caches.fast import run_caches
from warpsmith.simt.caches.model import CacheGeometry
from warpsmith.simt.caches.reference import simulate_caches
from warpsmith.simt.clocks import build as native

SEEDS = range(40)
TEXT = native.read_texts(fast.PACKAGE)["caches.c"].decode()


def agree(seed: int) -> bool:
    """Whether both count the same of random requests."""
    geometry, requests, arrays = random_requests(seed)
    return bool(np.array_equal(run_caches(geometry, requests, arrays), simulate_caches(geometry, requests, arrays)))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_requests(seed: int) -> None:
    assert fast.library() is not None
    assert agree(seed)


def test_nothing_is_asked() -> None:
    geometry = CacheGeometry(2, 2, 1, 1, 1, 1)
    assert not run_caches(geometry, requests_of(), 1).any()
    assert not run_caches(geometry, requests_of([], []), 1).any()


def test_without_a_compiler_the_reference_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "library", lambda: None)
    assert all(agree(seed) for seed in range(3))


BUGS = {
    "the newest line makes room": ("set[way].used < (*oldest)->used", "set[way].used > (*oldest)->used"),
    "a line that is found is not used": ("    if (found != NULL)\n        found->used = ++machine->clock;", "    ;"),
    "dirty lines are dropped": ("        write_back(machine, oldest);\n", ""),
    "a hit needs the line alone": ("if (line != NULL && (line->there & bit)) {", "if (line != NULL && line->there) {"),
    "stores are not dirty": ("    line->dirty |= bit;\n", "    ;\n"),
    "atomics are not dirty": ("dirty ? bit : 0", "0"),
    "first caches are shared": ("&machine->first[slot % machine->shape.units]", "&machine->first[0]"),
    "the end is not written": ("        write_back(machine, &machine->second.lines[at]);", "        ;"),
    "the last sector is left out": ("at < given->places[record + 1]", "at + 1 < given->places[record + 1]"),
    "the first block is lost": (".counts = counts};", ".counts = counts, .following = 1};"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_the_compiled_caches_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong = BUGS[bug]
    assert TEXT.count(right) == 1
    compiler = shutil.which("gcc")
    assert compiler is not None
    texts = {"caches.c": TEXT.replace(right, wrong).encode()}
    made = native.compile_texts(compiler, ("-O0", "-shared", "-fPIC"), texts, "caches.c")
    planted = fast.declare(native.load_library(made))
    monkeypatch.setattr(fast, "library", lambda: planted)
    assert not all(map(agree, SEEDS))
