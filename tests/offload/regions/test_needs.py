"""Which bytes host code inside a data region needs: named where they can be, all of them or a suspension where they
cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.regions.planned import looped, shown, updates

OTHER = """
#include <string.h>
struct state { double sum, *u; int n; };
static double look(const double *x) { return x[1]; }
static double scaled(double *x) { double s = 0; for (int i = 0; i < 9; i++) { x[i] *= 0.5; s += x[i]; } return s; }
static int at;
static int next(void) { return ++at; }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("u[3] = t; printf(\"%g\", v[n - 1]);", ["device &u[3]", "host &v[n - 1]"]),
        ("u[3] += v[t];", ["host &v[t]", "host &u[3]", "device &u[3]"]),
        ("k = u[0] > 2 ? (int)v[1] : 0;", ["host &u[0]", "host &v[1]"]),
        # an index that is loaded from what kernels write is brought first, and the value behind it is anything
        ("k = (int)v[(int)u[1]];", ["host &u[1]", "host &v[(int)u[1]]"]),
        ("u[(int)u[1]] = 3;", ["host all", "device all"]),
        # an address that the statement itself moves
        ("u[k++] = 1;", ["host all", "device all"]),
        ("*u++ = 1; u--;", ["host all", "device all"]),
        # integers, and what no kernel has, are no matter
        ("k = n + t; at = k;", []),
        ("memcpy(u, v, 8);", ["host v", "device u"]),
        ("memcpy(u, v, k++);", ["host all", "host all", "device all"]),
        ("memset(u + 1, 0, 8 * k);", ["device u + 1"]),
        ("fwrite(u, 8, n, stdout);", ["host u"]),
        # a function of the program: its reads are its own host code's matter
        ("u[2] = look(v);", ["device &u[2]"]),
        ("u[1] = total(u, n) + u[2];", ["host &u[2]", "device &u[1]"]),
        ("u[next()] = 1;", ["host all", "device all"]),
        ("k = u[at] + next();", ["host all"]),
        ("k = u[2] + next();", ["host &u[2]"]),
        # what is written besides the assignment that the statement is comes before its calls, or behind
        ("k = (u[0] = 3) + look(v);", ["host all", "device all"]),
    ],
)  # fmt: skip
def test_what_a_statement_needs(body: str, expected: list[str], tmp_path: Path) -> None:
    port = looped(body, tmp_path, other=OTHER)
    found = updates(port)
    assert (found if "all" not in " ".join(expected) else sorted(set(found) - {"device &u[2]"})) == (
        expected if "all" not in " ".join(expected) else sorted(set(expected))
    )


def test_what_a_called_function_needs_stands_in_its_own_text(tmp_path: Path) -> None:
    port = looped("u[2] = look(v);", tmp_path, other=OTHER)
    assert updates(port, "look") == ["host &x[1]"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("if ((u[0] = 3) > 2) k = 1;", "a condition writes memory that kernels use"),
        ("while (u[0]-- > 2) k = 1;", ""),
        ("if (memcmp(u, memset(v, 0, 8), 8)) k = 1;", "a condition calls what may write, or free, memory"),
        ("u[1] = scaled(u) + u[0];", "one expression runs kernels that may write what it reads"),
        ("u[1] = (v[0] = 3) + total(u, n);", "one expression runs kernels that may write what it reads"),
        ("again: k = 2; if (u[0] > k) goto again;", "a jump (goto again"),
    ],
)
def test_what_no_update_can_serve(body: str, said: str, tmp_path: Path) -> None:
    port = looped(body, tmp_path, other=OTHER)
    found = [f.message for f in port.plan.findings if f.rule == "POR018"]
    assert any(said in message for message in found) if said else not found
    assert bool(said) != any("begin" in one for one in shown(port))


def test_a_call_that_nobody_knows_suspends(tmp_path: Path) -> None:
    found = shown(looped("k = 3; observe(u); k = 4;", tmp_path))
    assert found[:2] == ["before observe: pause", "after observe: resume"]


def test_what_a_launch_is_given_is_read_on_the_host(tmp_path: Path) -> None:
    """A scalar of static storage that a kernel writes, and another one is given."""
    other = """static double level;
    static void fill(double *x, int n) { level = x[0] * 2; for (int i = 0; i < n; i++) x[i] = level; }"""
    port = looped("fill(v, n);", tmp_path, other=other)
    assert updates(port, "fill") == ["host &x[0]"]
