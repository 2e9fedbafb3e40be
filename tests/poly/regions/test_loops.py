"""The values that a counter takes: bounds, strides, and the guards or doubts where it may wrap around."""

from __future__ import annotations

import functools

import islpy as isl
import pytest

from tests.poly.analysis import facts_of, program_of
from tests.poly.regions.modelled import modelled
from tests.random_programs.replay import parse_witness
from warpsmith.poly.isl.formula import TRUE
from warpsmith.poly.isl.space import make_set
from warpsmith.tree.program import Program

# the loop's head, the values for n = 7 (None: the counter may be anything), the guards
CASES: list[tuple[str, list[int] | None, list[str]]] = [
    ("int i = 0; i < n; i++", [0, 1, 2, 3, 4, 5, 6], []),
    ("int i = 2; i <= n; i += 2", [2, 4, 6], []),
    ("int i = n - 1; i >= 0; i--", [0, 1, 2, 3, 4, 5, 6], []),
    ("int i = n; i > 1; i -= 3", [4, 7], []),
    ("int i = 3; i < 3; i++", [], []),
    ("int i = -2; i < 2; i += 3", [-2, 1], []),
    ("int i = n; i > 0; --i", [1, 2, 3, 4, 5, 6, 7], []),
    ("int i = 0; i != 4; i++", [0, 1, 2, 3], []),
    ("int i = 0; i != n; i++", [0, 1, 2, 3, 4, 5, 6], []),
    ("int i = 4; i != 0; i--", [1, 2, 3, 4], []),
    # counters that wrap need their values, and the one past the last, in their range
    ("unsigned char i = 0; i < n; i++", [0, 1, 2, 3, 4, 5, 6], ["n <= 255"]),
    ("signed char i = 0; i < n; i += 2", [0, 2, 4, 6], ["n <= 126"]),
    ("unsigned char i = 0; i < 255; i++", [*range(255)], []),
    ("unsigned char i = 0; i < 256; i++", None, []),
    ("unsigned i = 0; i < u; i++", [0, 1, 2, 3, 4, 5, 6], []),
    ("unsigned i = 0; i < u; i += 2", [0, 2, 4, 6], ["u <= 4294967294"]),
    ("unsigned i = u; i >= 1; i--", [1, 2, 3, 4, 5, 6, 7], []),
    ("unsigned i = u; i >= 0; i--", None, []),
    ("unsigned i = 0; i <= u; i++", [0, 1, 2, 3, 4, 5, 6, 7], ["u <= 4294967294"]),
    # a signed counter beside an unsigned bound is compared as unsigned
    ("int i = 0; i < u; i++", [0, 1, 2, 3, 4, 5, 6], ["u <= 2147483647"]),
    ("int i = -1; i < u; i++", None, []),
    ("unsigned i = 0; i < n; i++", [0, 1, 2, 3, 4, 5, 6], ["n >= 0"]),
    # a bound that is not affine: anything from the first value on, where the types alone exclude a wrap
    ("unsigned i = 3; i < (u << n); i++", [*range(3, 300)], []),
    ("unsigned i = 3; i < (n << u); i++", [*range(3, 300)], []),
    ("unsigned i = 3; i <= (u << n); i++", None, []),
    ("unsigned i = 3; i < (u << n); i += 2", None, []),
    ("unsigned char i = 3; i < (n << u); i++", None, []),
    ("int i = 3; i < (n << u); i++", [*range(3, 300)], []),
    ("int i = 3; i < (u << n); i++", None, []),
    ("int i = (n << u); i < n; i++", [*range(-20, 7)], []),
    ("int i = (n << u); i > n; i -= 2", [*range(8, 300)], []),
]


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{number}(int n, unsigned u, double *a) {{ for ({head}) a[i] = 1; }}"
        for number, (head, _, _) in enumerate(CASES)
    )
    return program_of("\n".join(texts))


def _values(number: int, *, guards: bool) -> tuple[list[int] | None, list[str], bool]:
    """Return the values of the counter for n = u = 7 in [-20, 300), the guards, and whether the loop is one."""
    region, state = modelled(_program(), f"f{number}/i", guards=guards)
    inner = [s for s in region.statements if s.loops]
    (name,) = inner[0].counters
    domain = make_set(state.vocabulary, (name,), inner[0].domain)
    for k in range(domain.dim(isl.dim_type.param)):
        domain = domain.fix_val(isl.dim_type.param, k, isl.Val(7))
    found = [v for v in range(-20, 300) if not domain.intersect(isl.Set(f"{{ [{v}] }}")).is_empty()]
    if guards:
        assert inner[0].exact == (not region.broken and "<<" not in CASES[number][0])
    if region.broken:
        assert found == [*range(-20, 300)], "anything of its type, and more"
    return (None if region.broken else found), [a.text for a in region.assumptions], bool(region.broken)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_values_of_counters(number: int) -> None:
    head, expected, guards = CASES[number]
    found, assumed, broken = _values(number, guards=True)
    assert broken == (expected is None), head
    if expected is not None:
        assert found == expected
    assert assumed == guards
    unguarded, none, anything = _values(number, guards=False)
    assert none == [] and (anything == broken or guards)
    assert anything or set(unguarded or ()) >= set(expected or ()), "without guards there are more values, not fewer"
    assert not guards or anything or unguarded != expected


def test_why_a_counter_is_none() -> None:
    broken = {
        head: next(iter(modelled(_program(), f"f{number}/i")[0].broken.values()))
        for number, (head, values, _) in enumerate(CASES)
        if values is None
    }
    assert broken["unsigned i = u; i >= 0; i--"] == "its counter i may wrap around"


@pytest.mark.parametrize(
    ("head", "most"),
    [
        ("i < n + 2", 2147483645),
        ("i <= n + 2", 2147483645),
        ("i != n + 2", 2147483645),
        ("i < k[0] + 2", 2147483645),
        ("i < n", None),
        ("i < u + 2", None),
        ("i < 2", None),
    ],
)
def test_a_bound_that_was_computed_did_not_overflow(head: str, most: int | None) -> None:
    text = f"void f(int n, unsigned u, int *k, double *a) {{ for (int i = 0; {head}; i++) a[i] = 0; }}"
    _, state = modelled(program_of(text), "f/i")
    if most is None:
        assert state.computed == TRUE
        return
    sizes = make_set(state.vocabulary, (), state.computed)
    (name,) = (str(sizes.get_dim_name(isl.dim_type.param, k)) for k in range(sizes.dim(isl.dim_type.param)))
    least = -(2**31) - 2
    assert sizes.is_equal(isl.Set(f"[{name}] -> {{ [] : {least} <= {name} <= {most} }}"))


NEST = "void f(int n, int m, const int *restrict d, int *restrict a) {{ for (int i = 1; i < n; i++) {{ {body} }} }}"


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("a[i] = a[i - 1];", ""),
        ("if (d[i] > 0) a[i] = a[i - 1];", "both"),
        ("if (i % 2 == 0 || d[i]) a[i] = a[i - 1];", "both"),
        ("int t = a[i - 1]; if (t > 0) a[i] = t;", "S1"),
        ("if (i * i % 7 == 3) a[i] = a[i - 1];", None),
        ("if (i * i % 7 == 3 && d[i]) a[i] = a[i - 1];", None),
        ("if (d[i]) continue; a[i] = a[i - 1] * a[i - 1];", "both"),
        ("int w = d[i]; for (int j = 0; j < w; j++) a[i] = a[i - 1];", "both"),
        ("for (signed char j = i; j < n; j++) a[i] = a[i - 1];", None),
        ("while (d[i] > a[i]) a[i] = a[i - 1];", None),
    ],
)
def test_two_iterations_are_shown_with_what_lets_them_run(body: str, runs: str | None) -> None:
    reason = facts_of(NEST.format(body=body))["f/i"].reasons[0]
    shown = None if reason.dependence is None else parse_witness(reason.dependence.witness).runs
    assert shown == runs, reason
