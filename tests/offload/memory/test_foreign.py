"""The memory that calls of functions whose text is not given touch and that may be on the device."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.offload.memory.foreign import Foreign, foreign, size_of
from warpsmith.offload.memory.presence import Presence
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.nodes import Call
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import DOUBLE

DOUBLES = frozenset({("float", 64)})
TEXT = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
void unknown(double *u);
void f(double *u, double *v, int *k, char *name, int n, FILE *out, void (*call)(double *))
{
    char *own = (char *)u;
    memcpy(u, v, n * sizeof *u); memmove(u + 1, (const void *)v, n); memset(u, 0, n); memcpy(k, k + 1, n);
    memcmp(u, v, n); fwrite(u, sizeof *u, n, out); fread(u, 8, n, out);
    printf("%g %s", u[0], name); scanf("%lf", u); scanf("%d", k); sqrt(u[0]); fflush(out); strlen(name);
    unknown(u); call(u); free(u); realloc(u, n); qsort(u, n, 8, 0); malloc(n);
    fscanf(out, "%lf", &u[n]); posix_memalign((void **)&u, 64, n);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("foreign"))


def asked(
    program: Analyzed, text: str, presence: Presence | None = None, absent: frozenset[Root] = frozenset()
) -> tuple[Foreign, ...] | str:
    call = program.find(text, Call)
    there = presence or Presence(Summaries.of(program.program), DOUBLES, frozenset(), DOUBLES)
    return foreign(there, program.function(), call, absent)


def shown(found: tuple[Foreign, ...] | str) -> list[str]:
    assert not isinstance(found, str), found
    how = [("r" if one.read else "") + ("w" if one.write else "") + ("!" if one.sure else "") for one in found]
    sizes = ["?" if one.bytes is None else print_expr(one.bytes) for one in found]
    return [f"{h} {print_expr(one.address)} {size}" for h, one, size in zip(how, found, sizes, strict=True)]


@pytest.mark.parametrize(
    ("call", "touched"),
    [
        ("memcpy(u", ["w! u (long long)(n * sizeof *u)", "r! v (long long)(n * sizeof *u)"]),
        ("memmove", ["w! u + 1 (long long)n", "r! v (long long)n"]),
        ("memset", ["w! u (long long)n"]),
        ("memcpy(k", []),  # kernels work on doubles
        ("memcmp", ["r u (long long)n", "r v (long long)n"]),
        ("fwrite", ["r u (long long)sizeof *u * (long long)n"]),
        ("fread", ["w u (long long)8 * (long long)n"]),
        ("printf", []),
        ("scanf(\"%lf\"", ["w u (long long)sizeof(double)"]),
        ("scanf(\"%d\"", []),
        ("fscanf", ["w &u[n] (long long)sizeof(double)"]),
        ("sqrt", []),
        ("fflush", []),
        ("strlen", []),
        ("free", []),
        ("realloc", []),
        ("malloc", []),
    ],
)  # fmt: skip
def test_what_is_known_to_be_touched(call: str, touched: list[str], program: Analyzed) -> None:
    assert shown(asked(program, call)) == touched


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("unknown(u)", "it calls unknown, whose effects are not known"),
        ("call(u)", "it calls a function pointer, whose effects are not known"),
        ("qsort", "it calls qsort, which may touch more than its arguments"),
    ],
)
def test_what_cannot_be_told(call: str, why: str, program: Analyzed) -> None:
    found = asked(program, call)
    assert found == why


def test_what_kernels_only_read_is_valid_on_the_host(program: Analyzed) -> None:
    there = Presence(Summaries.of(program.program), DOUBLES, frozenset(), frozenset())
    assert shown(asked(program, "memcpy(u", there)) == ["w! u (long long)(n * sizeof *u)"]
    assert shown(asked(program, "fwrite", there)) == []


def test_memory_that_is_never_kept_is_not_met(program: Analyzed) -> None:
    v = frozenset({Root("entry", program.symbol("v"))})
    assert shown(asked(program, "memcpy(u", absent=v)) == ["w! u (long long)(n * sizeof *u)"]


def test_text_may_lie_where_kernels_work_on_anything(program: Analyzed) -> None:
    there = Presence(Summaries.of(program.program), DOUBLES, frozenset(), DOUBLES)
    anything = replace(there, kinds=frozenset({("any", 0)}), written=frozenset({("any", 0)}))
    assert shown(asked(program, "strlen", there)) == []
    assert shown(asked(program, "strlen", anything)) == ["r name ?"]


def test_a_size_is_written_as_a_number(program: Analyzed) -> None:
    assert print_expr(size_of(DOUBLE, program.expr("n"))) == "(long long)sizeof(double)"
