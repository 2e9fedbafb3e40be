"""Where data regions begin and end, which programs have none, and why one is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.offload.hand import load
from tests.offload.regions.planned import KERNELS, looped, planned, shown, straight
from warpsmith.offload import port as port_module
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.memory.presence import Presence
from warpsmith.offload.plan import OffloadOptions, Port
from warpsmith.offload.regions import data_regions
from warpsmith.offload.regions.data_regions import find_data_regions, presence_of
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import Function, Name
from warpsmith.tree.walk import walk


def ends(port: Port) -> list[str]:
    return [one.rpartition(": ")[0] for one in shown(port) if one.endswith(": end")]


def reasons(port: Port) -> list[str]:
    return [f.message for f in port.plan.findings if f.rule == "POR018"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", ["after for"]),
        ("if (k) return 1;", ["after for", "before return 1;"]),
        ("if (k) break; if (n) continue;", ["after for"]),
        ("for (;;) { if (k) break; if (n) return 2; }", ["after for", "before return 2;"]),
    ],
)
def test_a_loop_is_left_at_its_end_or_by_a_return(body: str, expected: list[str], tmp_path: Path) -> None:
    assert ends(looped(body, tmp_path)) == expected


@pytest.mark.parametrize(
    ("jump", "expected"),
    [
        ("if (k) break;", ["after step", "before break;"]),
        ("if (k) continue;", ["after step", "before continue;"]),
        ("switch (k) { case 1: break; case 2: continue; }", ["after step", "before continue;"]),
        ("for (;;) { if (k) break; else continue; }", ["after step"]),
        ("for (;;) switch (k) { case 1: continue; default: return 1; }", ["after step", "before return 1;"]),
    ],
)
def test_a_run_in_a_loop_is_left_by_what_leaves_the_iteration(jump: str, expected: list[str], tmp_path: Path) -> None:
    body = f"while (unknown(), k) {{ step(u, v, n); {jump} step(v, u, n); }}"
    assert ends(straight(body, tmp_path)) == expected


@pytest.mark.parametrize(
    "other",
    [
        "#include <signal.h>\nvoid h(void) { signal(2, 0); }",
        "void late(void) { atexit(unknown); }",
        "#include <pthread.h>\nvoid th(void) { pthread_create(0, 0, 0, 0); }",
        "#include <setjmp.h>\nstatic jmp_buf at; void j(void) { if (setjmp(at)) puts(\"back\"); }",
        "#include <unistd.h>\nvoid p(void) { if (fork() == 0) puts(\"child\"); }",
    ],
)  # fmt: skip
def test_programs_with_control_that_nobody_sees_have_no_holds(other: str, tmp_path: Path) -> None:
    assert shown(looped("", tmp_path, other=other)) == []


def test_a_function_of_the_programs_own_with_such_a_name_is_no_matter(tmp_path: Path) -> None:
    own = "static void fork_(void) {} static int sigaction(int a) { return a; } int q(void) { return sigaction(3); }"
    assert shown(looped("", tmp_path, other=own))


def test_other_schemes_keep_nothing(tmp_path: Path) -> None:
    text = f"{KERNELS}void f(double *u, double *v, int n) {{ for (int t = 0; t < 9; t++) step(u, v, n); }}"
    assert not planned(text, tmp_path, OffloadOptions(transfers="mixed")).inserted
    assert planned(text, tmp_path).inserted


def test_a_loop_that_cannot_be_a_data_region_says_why_and_those_inside_are_tried(tmp_path: Path) -> None:
    inner = "for (int s = 0; s < 3; s++) step(v, u, n);"
    port = looped(f"if ((u[0] = 3) > 2) k = 1; {inner}", tmp_path)
    assert "before for: begin" in shown(port) and ends(port) == ["after for"]
    alone = looped("if ((u[0] = 3) > 2) k = 1;", tmp_path)
    assert shown(alone) == []
    said = "the data of the kernels called in run/t are copied in every iteration: "
    assert reasons(alone) == [said + "a condition writes memory that kernels use"]


def test_a_run_with_a_suspension_in_it_begins_anew_behind_it(tmp_path: Path) -> None:
    port = straight("step(u, v, n); step(v, u, n);\nobserve(u);\nstep(u, v, n); step(v, u, n);", tmp_path)
    assert ends(port) == ["after step", "after step"]
    assert any("do not stay on the device across line" in message for message in reasons(port))


def test_in_a_loop_of_the_functions_own_kernels_everything_that_moves_is_a_reason_against_it(tmp_path: Path) -> None:
    kernels = "for (int i = 0; i < n; i++) u[i] = v[i] + t; double *s = u; u = v; v = s;"
    other = 'static void observed(double x) { printf("%g", x); }'
    good = straight(f"for (int t = 0; t < 9; t++) {{ {kernels} observed(u[3]); }}", tmp_path, other=other)
    assert ends(good) == ["after for"]
    bad = straight(f"for (int t = 0; t < 9; t++) {{ {kernels} observed(u[k++]); }}", tmp_path, other=other)
    assert shown(bad) == []


LEFT = """#include <stdio.h>
#include <stdlib.h>
static double kept[80];
int stages(int n, int flag, double *restrict a, double *restrict b)
{
    int m = n - 5;
    for (int i = 0; i < n; i++)
        b[i] = b[i] * 0.5 + kept[i];
    if (flag == 2) {
        for (int i = 0; i < m; i++)
            b[i] = kept[i] * 0.25 + i % 3;
        JUMP
        for (int i = 0; i < n; i++)
            a[i] = a[i] * 0.5 + kept[i];
    }
    return 0;
}
int main(void)
{
    int n = 80;
    double *a = malloc(n * sizeof(double));
    double *b = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) {
        kept[i] = 0.5 * (rand() % 5);
        a[i] = i % 3 + 1;
        b[i] = i % 4 + 1;
    }
    printf("%d\\n", stages(n, 2, a, b));
    printf("%.9g\\n", a[3] + b[4]);
    free(a);
    free(b);
    return 0;
}
"""


def test_kernels_that_control_leaves_between_are_in_no_data_region(tmp_path: Path) -> None:
    whole = planned(LEFT.replace("JUMP", ""), tmp_path)
    assert shown(whole, "stages") == ["before for: begin", "after if: end"]
    # the return leaves what is rewritten as a whole, where nothing would be put before it
    left = planned(LEFT.replace("JUMP", "if (flag == 0) return 4;"), tmp_path)
    assert shown(left, "stages") == [] and len(left.plan.fragments) == len(whole.plan.fragments)


def test_updates_all_over_the_host_are_a_reason_against_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = 'static void touch(double *x) { x[0] += 1; puts(""); x[1] += 1; puts(""); x[2] += 1; }'
    assert ends(looped("touch(u);", tmp_path, other=other)) == ["after for"]
    monkeypatch.setattr(data_regions, "_MOST_UPDATES", 1)
    assert shown(crowded := looped("touch(u);", tmp_path, other=other)) == []
    assert any("places of functions that run no kernel" in message for message in reasons(crowded))


# --- what offload regions put on the device


def test_what_is_present_is_what_the_homes_have(tmp_path: Path) -> None:
    port = looped("", tmp_path)
    presence = presence_of(Summaries.of(load(KERNELS, tmp_path)), ())
    assert (presence.kinds, presence.hosts, presence.written, presence.allocations) == (
        frozenset(),
        frozenset(),
        frozenset(),
        False,
    )
    assert port.plan.buffers


def test_no_kernels_no_data_regions(tmp_path: Path) -> None:
    program = load(KERNELS, tmp_path)
    functions: dict = {function: () for _, function in program.functions()}  # type: ignore[type-arg]
    nothing = Presence(Summaries.of(program), frozenset(), frozenset(), frozenset())
    assert find_data_regions(nothing, functions, {}) is None


@pytest.mark.parametrize(
    ("where", "objects"),
    [
        ("malloc(n * sizeof(int))", []),
        ("n > 70 ? table : malloc(n * sizeof(int))", ["table"]),
        ("table", ["table"]),
        ("counts()", None),
        ("given", None),
        ("kept", None),
    ],
)
def test_the_variables_of_which_something_may_be_present(
    where: str, objects: list[str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"""
#include <stdio.h>
#include <stdlib.h>
int count, table[99], *kept;
int *counts(void);
void run(int n, int *given)
{{
    scanf("%d", &count);
    int *a = {where};
    for (int i = 0; i < n; i++)
        a[i] += 2;
    printf("%d %d", count, a[3]);
}}
"""
    found: list[Presence] = []

    def noted(summaries: Summaries, ported: Sequence[tuple[Function, OffloadRegion]]) -> Presence:
        found.append(presence_of(summaries, ported))
        return found[-1]

    monkeypatch.setattr(port_module, "presence_of", noted)
    program = planned(text, tmp_path).program
    (presence,) = found
    assert (None if presence.objects is None else sorted(s.name for s in presence.objects)) == objects
    function = program.units[0].functions[0]
    count = next(n for n in walk(function.body) if isinstance(n, Name) and n.symbol.name == "count")
    assert presence.may_meet(function, count, frozenset()) == (objects is None or "count" in objects)
