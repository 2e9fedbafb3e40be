"""The launches that a function makes with given numbers: as its host code makes them, or not at all."""

from __future__ import annotations

import pytest

from warpsmith.flows.journey.launches import find_launches
from warpsmith.flows.journey.origin import port_options
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.port import port
from warpsmith.front.inputs import Source

# two kernels, the second without k; no order but the text's is right
ROW = "for (int i = 0; i < n; i++) b[i] = a[i] + a[i + 1] + k; for (int i = 0; i < n; i++) a[i] = b[i];"


def launches(body: str, **given: int) -> list[dict[str, int]]:
    """Return what every other launch gets, by name: those of the first kernel of ROW."""
    text = f"void g(int *);\nvoid f(int n, int k, int *restrict a, int *restrict b) {{ {body} }}\n"
    result = port([Source("f.c", text=text)], port_options({"n": 100_000}))
    assert result.plan is not None
    fragments = result.plan.fragments
    assert fragments, [one.message for one in result.findings]
    function = fragments[0].function
    values = {p: given[p.name] for p in function.parameters if p.name in given}
    found = find_launches(function, fragments, values)
    assert not len(found) % 2
    return [
        {p.host.name: values[p.host] for p in kernel.parameters if p.host in values} for kernel, values in found[::2]
    ]


def test_loops_of_the_host_are_walked_through() -> None:
    assert launches(f"for (k = 0; k < 3; k++) {{ {ROW} }}", n=5, k=7) == [{"n": 5, "k": k} for k in range(3)]
    down = f"for (int t = n; t > n / 2; t -= 2) {{ int k = t % 3; {ROW} }}"
    assert [one["k"] for one in launches(down, n=9)] == [0, 1, 2]
    two = f"for (int s = 0; s < 2; s++) {{ k = s * 4 % 3; {ROW} }} for (int s = -1; s <= 1; s += 2) {{ k = s; {ROW} }}"
    assert [one["k"] for one in launches(two, n=9)] == [0, 1, -1, 1]


def test_branches_are_taken_as_the_numbers_say() -> None:
    body = f"if (k > 0 && n >= 4) {{ {ROW} }} else {{ return; }} k = -k / 2; {ROW}"
    assert [one["k"] for one in launches(body, n=4, k=7)] == [7, -3]
    assert launches(body, n=4, k=0) == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"{ROW} a[0] = 1; {ROW}", "this runs on the host"),
        (f"{ROW} g(a); {ROW}", "this runs on the host"),
        (f"int once = k++; {ROW} b[0] = once;", "this runs on the host"),
        (f"for (int t = 0; t < b[0]; t++) {{ {ROW} }}", "hangs on more than whole numbers"),
        (f"while (k < 3) {{ k = k + 2; {ROW} }}", "this runs on the host"),
        (f"if (a[0] > 3) {{ {ROW} }}", "hangs on more than whole numbers"),
        (f"for (int t = 0; t < 100000; t++) {{ {ROW} }}", "more than 2,000 times"),
        (f"for (int t = 0; t < 2000000000; t++) {{ k = t; }} {ROW}", "too often to be followed"),
        (f"unsigned char few = n; for (int t = 0; t < few; t++) {{ {ROW} }}", "hangs on more than whole numbers"),
        (f"for (int t = 0; t < k - 1u; t++) {{ {ROW} }}", "hangs on more than whole numbers"),
        (f"k = n * n * n * 8; if (k > 0) {{ {ROW} }}", "hangs on more than whole numbers"),
    ],
)
def test_what_is_more_than_launches_is_refused(body: str, why: str) -> None:
    with pytest.raises(UnableError, match=why):
        launches(body, n=1000, k=0)
