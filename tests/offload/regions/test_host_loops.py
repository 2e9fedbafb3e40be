"""The accesses of a host loop without kernels, as one statement: sections, blocks, or everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.regions.planned import looped, shown
from warpsmith.offload.plan import Port
from warpsmith.tree.nodes import Update
from warpsmith.tree.printing.printer import print_expr

OTHER = """
static double look(double x) { return x * 2; }
static double read(const double *x, int i) { return x[i]; }
static double *shared;
"""


def accessed(port: Port) -> list[str]:
    """Return address and bytes of the updates of `run`."""
    made = (s for one in port.inserted if one.function.symbol.name == "run" for s in one.statements)
    return [
        f"{'>' if s.to_device else '<'} {'all' if s.address is None else print_expr(s.address)}"
        f" {'block' if s.block else '' if s.bytes is None else print_expr(s.bytes)}".strip()
        for s in made
        if isinstance(s, Update)
    ]


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        # a loop that prints stays on the host; of one that breaks nobody says how far it comes
        ("for (int i = 2; i < n; i++) printf(\"%g\", v[i]);", ["< v + 2"]),
        ("for (int i = 0; i < 4; i++) { u[i] = i; puts(\"a\"); }", ["> u"]),
        ("for (int i = 0; i < 4; i++) { if (i != k) u[i] = i; puts(\"a\"); }", ["< u", "> u"]),
        ("for (int i = 2; i < n; i++) { if (v[i] > 3) break; k += i; }", ["< v block"]),
        ("for (int i = 0; i < k; i++) { if (u[i * i] > 2) break; }", ["< u block"]),
        ("for (int i = 0; i < k; i++) { if (k > 4) break; u[i * i] = 2; }", ["< u block", "> u block"]),
        ("for (int i = 0; i < k; i++) { if (i * n > k) break; }", []),
        # the pointer itself moves
        ("while (*u > 3) u++;", ["< all"]),
        ("for (int i = 0; i < k; i++) { if (*u++ > 3) break; }", ["< all"]),
        # reached through memory
        ("for (int i = 0; i < k; i++) { if (shared[i * i] > 3) break; }", ["< shared block"]),
        # functions of the program: of those that touch memory nobody says how much
        ("for (int i = 0; i < k; i++) { if (look(u[i]) > 3) break; }", ["< all"]),
        ("for (int i = 0; i < k; i++) { if (read(u, i) > 3) break; }", ["< all"]),
        ("for (int i = 0; i < k; i++) { if (look(i) > 3) break; }", []),
        ("for (int i = 0; i < k; i++) { if (i > 3) break; printf(\"%g\", u[i]); }", ["< u block"]),
        ("for (int i = 0; i < k; i++) { if (i > 3) break; fwrite(u, 8, i, stdout); }", ["< all"]),
    ],
)  # fmt: skip
def test_what_a_loop_touches(loop: str, expected: list[str], tmp_path: Path) -> None:
    found = accessed(looped(loop, tmp_path, other=OTHER))
    assert [" ".join(one.split()[:2]) for one in found] == [" ".join(one.split()[:2]) for one in expected]
    assert ["block" in one for one in found] == ["block" in one for one in expected]


def test_a_section_is_a_part_of_the_array(tmp_path: Path) -> None:
    (found,) = accessed(looped('for (int i = 2; i < n; i++) printf("%g", v[i]);', tmp_path))
    assert found == (
        "< v + (n >= 3 ? 2 : 0) ((n >= 3 ? (long long)n : 0) - (n >= 3 ? 2 : 0)) * (long long)sizeof(double)"
    )


def test_a_jump_out_of_it_is_refused_and_an_unknown_call_suspends(tmp_path: Path) -> None:
    jump = looped("for (int i = 0; i < k; i++) { if (u[i] > 3) goto out; } k = 2; out: k = 1;", tmp_path)
    assert not any("begin" in one for one in shown(jump))
    assert any(f.rule == "POR018" and "a jump" in f.message for f in jump.plan.findings)
    paused = looped("for (int i = 0; i < k; i++) { if (i > 3) break; unknown(); }", tmp_path)
    assert [one for one in shown(paused) if "begin" not in one and "end" not in one] == [
        "before for: pause", "after for: resume",
    ]  # fmt: skip
