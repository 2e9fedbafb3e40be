"""Which base classes stand at the start of an object: compared with the addresses that a compiled program prints."""

from __future__ import annotations

import subprocess

import pytest

from tests.front.test_kernels import functions, load
from warpsmith.tree.nodes import VerbatimExpr
from warpsmith.tree.walk import walk

CLASSES = """
struct A { float a; };
struct C { float c; };
struct None1 {};
struct None2 {};
struct Deep : None1 {};
struct Twice { None1 n; int t; };
template <class T> struct Of : T { int more; };
template <class S> struct Curious { float sum() const; };
struct Polymorphic { virtual void f(); int p; };
struct One : A {};
struct Empties : None1, None2, A {};
struct Late : None1, A, C { int d; };
struct Behind : A, None1 {};
struct Same : None1, Deep, A {};
struct Held : None1, Twice {};
struct Vec : Curious<Vec>, A {};
struct Far : One, C {};
struct OfOne : Of<One> {};
struct Own : A { virtual void g(); };
struct Shared : virtual A {};
struct First : Polymorphic, A {};
"""
PAIRS = [
    ("One", "A"), ("Empties", "A"), ("Empties", "None2"), ("Late", "A"), ("Late", "C"), ("Behind", "A"), ("Same", "A"),
    ("Same", "Deep"), ("Held", "Twice"), ("Vec", "A"), ("Vec", "Curious<Vec>"), ("Far", "A"), ("Far", "C"),
    ("OfOne", "A"), ("Own", "A"), ("Shared", "A"), ("First", "A"), ("First", "Polymorphic"),
]  # fmt: skip
MAIN = """#include <cstdio>
void Polymorphic::f() {{}} void Own::g() {{}}
template <class D, class B> void tell() {{ static D d; printf("%d\\n", (char *)static_cast<B *>(&d) == (char *)&d); }}
int main() {{ {} }}
"""


@pytest.fixture(scope="module")
def at_start(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], bool]:
    """Return what a compiler's program says of each pair."""
    folder = tmp_path_factory.mktemp("bases")
    calls = " ".join(f"tell<{derived}, {base}>();" for derived, base in PAIRS)
    (folder / "p.cpp").write_text(CLASSES + MAIN.format(calls))
    subprocess.run(["g++", "-o", folder / "p", folder / "p.cpp"], check=True)
    told = subprocess.run([folder / "p"], capture_output=True, text=True, check=True).stdout.split()
    return {pair: word == "1" for pair, word in zip(PAIRS, told, strict=True)}


@pytest.fixture(scope="module")
def taken() -> dict[tuple[str, str], bool]:
    """Return of each pair whether the tree has the conversion, as one that moves no pointer."""
    kernels = "".join(
        f"__global__ void k{n}({derived} *d) {{ {base} *b = d; }}\n" for n, (derived, base) in enumerate(PAIRS)
    )
    made = functions(load(CLASSES + kernels))
    refused = [any(isinstance(node, VerbatimExpr) for node in walk(made[f"k{n}"].body)) for n in range(len(PAIRS))]
    return {pair: not one for pair, one in zip(PAIRS, refused, strict=True)}


def test_what_is_taken_stands_at_the_start(
    at_start: dict[tuple[str, str], bool], taken: dict[tuple[str, str], bool]
) -> None:
    assert [pair for pair in PAIRS if taken[pair] and not at_start[pair]] == []


def test_few_that_stand_at_the_start_are_refused(
    at_start: dict[tuple[str, str], bool], taken: dict[tuple[str, str], bool]
) -> None:
    refused = {pair for pair in PAIRS if at_start[pair] and not taken[pair]}
    # two objects of one empty class may not share an address: who has to give way is not looked into
    assert refused <= {("Same", "A"), ("Same", "Deep"), ("Held", "Twice"), ("First", "Polymorphic")}
    assert not all(at_start.values())
