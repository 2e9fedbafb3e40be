"""Loops whose step is a variable: which headers are read, and how often such a loop runs, against C's own count."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from tests.poly.analysis import program_of
from tests.poly.host_value import value
from warpsmith.base.source import Span
from warpsmith.loops.linear import use
from warpsmith.loops.strided_loops import Strided, strided_header
from warpsmith.tree.nodes import While
from warpsmith.tree.printing.printer import nothing, print_expr
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

GIVEN = (
    "int n, int s, int k, unsigned u, unsigned h, unsigned char c, long w, unsigned long z, unsigned long q, double x, "
    "int *a"
)
HEADERS: dict[str, str | None] = {
    "int i = 0; i < n; i += s": "((long long)n + s - 1) / s",
    "i = 0; i <= n; i += s": "((long long)n + s) / s",
    "int i = 2; n > i; i = i + s": "((long long)n - 2 + s - 1) / s",
    "int i = k; n >= i; i = s + i": "((long long)n - k + s) / s",
    "int i = 0; i + k < n; i += 2 * s": "((long long)n - k + 2 * s - 1) / (2 * s)",
    "int i = k * k; k + i <= n; i += k": "((long long)n - k - k * k + k) / k",
    "unsigned i = 0; i < u; i += h": "(u + h - 1) / h",
    "unsigned long i = 0; i < z; i += h": "(z + h - 1) / h",
    "long i = 0; i < n; i += w": "(n + w - 1) / w",
    "long i = u; i < w; i += s": "(w - u + s - 1) / s",
    "int i = c; i < n; i += s": "((long long)n - c + s - 1) / s",
    "unsigned i = 0; i + h < u; i += h": "(u - h + h - 1) / h",
    "unsigned i = h; h + i <= u; i += 2 * h": "(u - h - h + 2 * h) / (2 * h)",
    # products of 64 bits
    "unsigned long i = q * q; i <= z; i += 2 * q": (
        "((long long)z - (long long)q * (long long)q + 2 * (long long)q) / (2 * (long long)q)"
    ),
    "unsigned long i = q * 3; i < z; i += q": "((long long)z - (long long)q * 3 + (long long)q - 1) / (long long)q",
    "unsigned long i = z; i >= 2 * q; i -= 2 * q": "(long long)z / (2 * (long long)q)",
    "unsigned long i = 0; i < z; i += h * h": "(z + h * h - 1) / (h * h)",
    # downwards
    "int i = n; i > 0; i -= s": "((long long)n + s - 1) / s",
    "int i = n - s; i >= 0; i -= s": "((long long)(n - s) + s) / s",
    "int i = n; k < i; i = i - 2 * s": "((long long)n - k + 2 * s - 1) / (2 * s)",
    "int i = n; i >= s; i -= s": "n / s",
    "long i = n; i > k; i -= w": "(n - k + w - 1) / w",
    "unsigned i = u; i > 0; i -= h": "u / h",
    "unsigned i = u; i >= h; i -= h": "u / h",
    "unsigned i = u; i >= 2 * h; i -= 2 * h": "u / (2 * h)",
    "unsigned i = u; i > 5; i -= h": "(u - 5 + h - 1) / h",
    "unsigned long i = z; i >= 4; i -= h": "(z - 4 + h) / h",
    # types that convert a value to another one, or in which the sum might not fit
    "int i = 0; i < u; i += s": None,
    "int i = 0; i < w; i += s": None,
    "int i = 0; i < n; i += h": None,
    "unsigned i = 0; i < n; i += h": None,
    "unsigned i = 0; i < u; i += s": None,
    "unsigned i = n; i < u; i += h": None,
    "unsigned i = 0; i < c; i += h": None,
    "unsigned i = 0; i + s < u; i += h": None,
    "unsigned i = 0; i + h < z; i += h": None,
    "unsigned long i = 0; i + n < z; i += h": None,
    "unsigned char i = 0; i < c; i += c": None,
    "double i = 0; i < n; i += s": None,
    "volatile int i = 0; i < n; i += s": None,
    # other headers
    "int i = n; i > 0; i += s": None,
    "int i = n; i < 0; i -= s": None,
    "int i = n; i > 0; i = s - i": None,
    "unsigned i = u; i >= 0; i -= h": None,
    "int i = n; i + k > 0; i -= s": None,
    "unsigned i = u; i > k; i -= h": None,
    "int i = 0; i != n; i += s": None,
    "int i = 1; i < n; i *= s": None,
    "int i = 0; i < n; k += s": None,
    "int i = 0; i < n - i; i += s": None,
    "int i = 0; i < n; i = s - i": None,
    "int i = 0; ; i += s": None,
    "; i < n; i += s": None,
    "int i = 0; i < n; ": None,
    "int i = 0, j = 1; i < n; i += s": None,
    "int i = 0; i - k < n; i += s": None,
}


@pytest.fixture(scope="module")
def loops() -> dict[str, While]:
    texts = (
        f"void f{k}({GIVEN}) {{ int i = 0; for ({header}) {{ a[(int)i] = 0; }} }}" for k, header in enumerate(HEADERS)
    )
    program = program_of("\n".join(texts))
    found: dict[str, While] = {}
    for header, (_, function) in zip(HEADERS, program.functions(), strict=True):
        found[header] = next(node for node in walk(function.body) if isinstance(node, While))
    return found


@pytest.mark.parametrize("header", HEADERS)
def test_which_headers_are_read(header: str, loops: dict[str, While]) -> None:
    found = strided_header(loops[header])
    expected = HEADERS[header]
    assert (found is None) == (expected is None)
    if found is not None:
        assert print_expr(found.trips(empty(loops[header])), nothing) == expected


def empty(loop: While) -> Span:
    return Span(loop.span.file, loop.span.start, loop.span.start)


def values_of(found: Strided, given: dict[str, int], count: int) -> list[int]:
    """Return the values of the counter as the expressions say them."""
    k = Symbol("k_", "k_", found.count_type, "local")
    span = found.step.span
    return [value(found.value(use(k, span), span), {**given, "k_": number}) for number in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("header", [h for h, text in HEADERS.items() if text is not None])
def test_the_loop_runs_as_often_as_is_said(header: str, loops: dict[str, While]) -> None:
    found = strided_header(loops[header])
    assert found is not None
    ran = 0
    for n, s, k in itertools.product(range(-3, 12), range(-1, 5), range(-2, 4)):
        given = {
            "n": n,
            "s": s,
            "k": k,
            "u": abs(n),
            "h": abs(s),
            "c": abs(k),
            "w": s if "+= w" in header else n + 9,
            "z": abs(n),
            "q": abs(s),
        }
        first, bound, step = (value(end, given) for end in (found.first, found.bound, found.step))
        ahead = 0 if found.ahead is None else value(found.ahead, given)
        guards = found.guards(empty(loops[header]), positive=False)
        failed = [a for a in guards if a.condition is None or not value(a.condition, given)]
        if failed and found.down:
            wraps = found.type.kind == "unsigned" and (first % step if step > 0 and bound == 0 else step > bound)
            assert step <= 0 or first < 0 or bound < 0 or wraps or first <= bound
        elif failed:
            assert step <= 0 or first < 0 or first + ahead >= bound
        if failed:
            entered = first > bound or (first == bound and found.relation == ">=")
            assert not (found.down and entered and step > 0) or not all(a.declared for a in failed)
            continue
        if found.down:
            counted = [*range(first, bound - (found.relation == ">="), -step)]
            assert found.type.kind == "signed" or not counted or counted[-1] >= step, "the next value wraps around"
        else:
            counted = [*range(first, bound - ahead + (found.relation == "<="), step)]
        trips = value(found.trips(empty(loops[header])), given)
        assert max(trips, 0) == len(counted), given
        assert values_of(found, given, len(counted)) == counted
        ran += bool(counted)
    assert ran > 5


def test_a_step_that_is_computed_is_looked_at_where_the_loop_runs(loops: dict[str, While]) -> None:
    found = strided_header(loops["int i = 0; i + k < n; i += 2 * s"])
    assert found is not None
    guards = found.guards(empty(loops["int i = 0; i + k < n; i += 2 * s"]), positive=True)
    assert [a.text for a in guards] == ["n > k"]


def test_a_step_that_is_known_to_be_positive_is_not_tested(loops: dict[str, While]) -> None:
    found = strided_header(loops["int i = 0; i < n; i += s"])
    assert found is not None
    place = empty(loops["int i = 0; i < n; i += s"])
    assert [a.text for a in found.guards(place, positive=False)] == ["s > 0"]
    assert found.guards(place, positive=True) == ()


def test_sums_of_unsigned_numbers_that_would_wrap_around_are_left_to_the_loop(loops: dict[str, While]) -> None:
    header = "unsigned i = h; h + i <= u; i += 2 * h"
    found = strided_header(loops[header])
    assert found is not None
    conditions = [a.condition for a in found.guards(empty(loops[header]), positive=False)]
    most = 2**32 - 1
    for u, h in [(most, 1), (most - 1, 1), (most, 2**31), (5, 7), (5, 3), (most - 4, 3), (0, 1), (3, 0)]:
        assert not all(c is not None and value(c, {"u": u, "h": h}) for c in conditions), (u, h)
    for u, h in [(most - 2, 1), (8, 4), (8, 1), (2**31 - 1, 2**30 - 1)]:
        assert all(c is not None and value(c, {"u": u, "h": h}) for c in conditions), (u, h)


_GREAT = 2**63 - 1
# (q, z): where unsigned numbers wrap around, and next to it
_EDGES = [
    (q, z)
    for q in (1, 3, 2**31, 2**31 - 1, 2**32, 3037000499, 3037000500, 2**33, 2**62, _GREAT, 2**63, 2**64 - 1)
    for z in (0, 8, q * q, q * q + 9 * q, _GREAT - 2 * q, _GREAT - 2 * q + 1, _GREAT, 2**63, 2**64 - 1, q * q - 1)
    if 0 <= z < 2**64
]
_RUN = """
#include <stdio.h>
int main(void)
{
    static const unsigned long edges[][2] = {%(edges)s};
    int tested = 0;
    for (unsigned e = 0; e < sizeof edges / sizeof edges[0]; e++) {
        const unsigned long q = edges[e][0], z = edges[e][1];
        if (!(%(guards)s)) continue;
        tested++;
        long long count = 0;
        for (%(header)s) {
            if (count == 40) break;
            const long long k_ = count++;
            if (i != (unsigned long)(%(value)s)) return 1;
        }
        const long long trips = %(trips)s;
        if (count < 40 ? trips != count : trips < count) return 1;
    }
    return tested > 5 ? 0 : 2;
}
"""


def run_products(header: str, loop: While, folder: Path) -> int:
    """Return what a program says that compares the loop with what is counted, at the edges: 0 where all is the same."""
    found = strided_header(loop)
    assert found is not None
    span = empty(loop)
    k = Symbol("k_", "k_", found.count_type, "local")
    conditions = [a.condition for a in found.guards(span, positive=False)]
    source = folder / "edges.c"
    source.write_text(
        _RUN
        % {
            "edges": ", ".join(f"{{{q}ul, {z}ul}}" for q, z in _EDGES),
            "guards": " && ".join(f"({print_expr(c, nothing)})" for c in conditions if c is not None),
            "header": header,
            "value": print_expr(found.value(use(k, span), span), nothing),
            "trips": print_expr(found.trips(span), nothing),
        }
    )
    flags = ("-O0", "-w", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    subprocess.run(["gcc", *flags, str(source), "-o", str(folder / "edges")], check=True)
    return subprocess.run([str(folder / "edges")], capture_output=True, check=False).returncode


def test_products_of_64_bits_are_counted_where_nothing_wraps_around(
    loops: dict[str, While], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "unsigned long i = q * q; i <= z; i += 2 * q"
    assert run_products(header, loops[header], tmp_path) == 0
    monkeypatch.setattr(Strided, "_ranges", lambda *_: iter(()))
    assert run_products(header, loops[header], tmp_path) == 1, "the ranges are what keeps products from wrapping"
