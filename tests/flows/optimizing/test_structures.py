"""Ports whose loops stand otherwise, or stay: what is tried, and what is planned of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.optimizing.begun import Begun, begin
from warpsmith.base.errors import RefusedError
from warpsmith.base.source import Span
from warpsmith.flows.optimizing.setting import nests_of
from warpsmith.flows.optimizing.structures import after_loop_step, headers_of, keep_nest, list_steps, run_alone
from warpsmith.loops.step import step_text
from warpsmith.loops.steps.order.fuse import Fuse
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.offload.steps.keep import Keep
from warpsmith.offload.steps.one_thread import OneThread
from warpsmith.offload.steps.split_structs import SplitStructs
from warpsmith.offload.steps.time_tile import TimeTile
from warpsmith.tree.nodes import For

TEXT = """
static double a[5000], b[5000], c[5000], m[90][70], s[90];
void two(void) {
    for (int i = 0; i < 5000; i++)
        b[i] = 0.5 * a[i];
    for (int i = 0; i < 5000; i++)
        c[i] = b[i] + 1.0;
}
void rows(void) {
    for (int i = 0; i < 90; i++)
        for (int j = 0; j < 70; j++)
            s[i] += m[i][j];
}
"""


def regions(begun: Begun) -> list[str]:
    return [nest.region for nest in nests_of(begun.root.planned.port)]


def there(begun: Begun) -> frozenset[Span]:
    return frozenset(span for nest in nests_of(begun.root.planned.port) for span in headers_of(nest))


def test_orders_fusions_distributions_and_keeps_are_tried(tmp_path: Path) -> None:
    begun = begin(TEXT, tmp_path)
    found = [step_text(step) for step in list_steps(begun.root, keeps=True)]
    assert sorted(found) == [
        "fuse=two/i", "interchange=rows/i,order=j:i", "keep=rows/i", "keep=two/i", "keep=two/i#2",
    ]  # fmt: skip
    both = (
        "void f(int n, double *restrict a, double *restrict b) { for (int i = 0; i < n; i++) { a[i] = 1; b[i] = 2; }}"
    )
    assert [step_text(step) for step in list_steps(begin(both, tmp_path).root, keeps=True)] == [
        "distribute=f/i",
        "keep=f/i",
    ]


def test_orders_of_loops_that_all_are_threads_are_mappings(tmp_path: Path) -> None:
    loops = "for (int i = 0; i < 90; i++) for (int j = 0; j < 70; j++)"
    plain = f"static double u[90][70]; void f(void) {{ {loops} u[i][j] = 1; }}"
    assert [step_text(step) for step in list_steps(begin(plain, tmp_path).root, keeps=True)] == ["keep=f/i"]


def test_fused_loops_are_one_kernel_and_the_others_are_as_they_were(tmp_path: Path) -> None:
    begun = begin(TEXT, tmp_path)
    made = after_loop_step(begun.shared.setting, begun.root, Fuse("two/i"), there(begun))
    assert sorted(nest.region for nest in nests_of(made.planned.port)) == ["rows/i", "two/i"]
    assert made.planned.estimate.launches == begun.root.planned.estimate.launches - 1
    with pytest.raises(RefusedError):
        after_loop_step(begun.shared.setting, begun.root, Interchange("two/i"), there(begun))


def test_what_stayed_at_the_start_stays(tmp_path: Path) -> None:
    begun = begin(TEXT, tmp_path)
    rows = next(nest for nest in nests_of(begun.root.planned.port) if nest.region == "rows/i")
    only = frozenset(headers_of(rows))
    made = after_loop_step(begun.shared.setting, begun.root, Interchange("rows/i"), only)
    assert [nest.region for nest in nests_of(made.planned.port)] == ["rows/j/i"]


def test_a_kept_nest_is_gone_and_later_keeps_stand_behind_it(tmp_path: Path) -> None:
    begun = begin(TEXT, tmp_path)
    made = keep_nest(begun.shared.setting, begun.root, Keep("two/i"))
    assert sorted(nest.region for nest in nests_of(made.planned.port)) == ["rows/i", "two/i#2"]
    assert made.planned.estimate.host > begun.root.planned.estimate.host
    assert [step_text(step) for step in list_steps(made, keeps=True)] == ["keep=two/i#2"]
    assert [steps for nest, steps in made.nests() if nest.region == "two/i#2"] == [
        steps for nest, steps in begun.root.nests() if nest.region == "two/i#2"
    ]


STEPS = """
#include <stdlib.h>
struct point { float x, y; int used; };
static struct point p[4001];
static double a[5000], b[5000];
void move(void) {
    for (int t = 0; t < 9; t++) {
        for (int i = 0; i < 4000; i++)
            p[i].x += p[i].y;
        for (int i = 0; i < 4000; i++)
            p[i].y -= p[i + 1].x;
    }
}
void mixed(void) {
    for (int t = 0; t < 9; t++) {
        for (int i = 1; i < 8; i++)
            a[i] = a[i - 1] * a[4999 - i] * a[i];
        for (int i = 0; i < 5000; i++)
            a[i] += b[i];
    }
}
"""


def test_structs_are_split_where_loops_come_back_to_them(tmp_path: Path) -> None:
    begun = begin(STEPS, tmp_path)
    found = [step for step in list_steps(begun.root, keeps=False) if isinstance(step, SplitStructs)]
    assert [step_text(step) for step in found] == ["split-structs=move/t,variable=p"]
    setting = begun.shared.setting
    here = after_loop_step(setting, begun.root, found[0], there(begun))
    assert not {nest.region for nest in nests_of(here.planned.port)} & {"move/e", "move/e2"}
    all_of_it = after_loop_step(setting, begun.root, found[0], there(begun), new=True)
    assert {"move/e", "move/e2"} < {nest.region for nest in nests_of(all_of_it.planned.port)}
    # what gathers has no order: it need not be one thread
    inside = after_loop_step(setting, begun.root, SplitStructs("move/t/i", "p"), there(begun))
    alone = [step for step in list_steps(inside, keeps=False) if isinstance(step, OneThread)]
    assert [step_text(step) for step in alone] == ["one-thread=mixed/t/i"]
    # the host sends two of three members
    assert 0 < here.planned.estimate.bytes < all_of_it.planned.estimate.bytes


def test_loops_that_wait_beside_kernels_may_be_one_thread(tmp_path: Path) -> None:
    begun = begin(STEPS, tmp_path)
    found = [step for step in list_steps(begun.root, keeps=True) if isinstance(step, OneThread)]
    assert [step_text(step) for step in found] == ["one-thread=mixed/t/i"]
    made = run_alone(begun.shared.setting, begun.root, found[0])
    assert {f.region for f in made.planned.port.plan.fragments if f.kind == "single"} == {"mixed/t/i"}
    assert made.planned.estimate.bytes < begun.root.planned.estimate.bytes
    assert {type(step) for step in list_steps(made, keeps=True)} == {Keep}
    # what was not asked for stays on the host
    loop = nests_of(begun.root.planned.port)[0].statements[-1]
    assert isinstance(loop, For)
    chosen = replace(begun.root, planned=replace(begun.root.planned, selected=(loop,)))
    assert not [step for step in list_steps(chosen, keeps=False) if isinstance(step, OneThread)]


PAIR = """
static double A[3000], B[3000];
void pair(int n) {
    for (int t = 0; t < 100; t++) {
        for (int i = 1; i < 2999; i++)
            B[i] = A[i - 1] + A[i + 1];
        for (int i = 1; i < 2999; i++)
            A[i] = B[i - 1] + B[i + 1];
    }
    for (int t = 0; t < n; t++) {
        for (int i = 1; i < 2999; i++)
            B[i] = A[i - 1] + A[i + 1];
        for (int i = 1; i < 2999; i++)
            A[i] = B[i - 1] + B[i + 1];
    }
}
"""


def test_time_steps_are_as_many_passes_as_leave_the_fewest_launches(tmp_path: Path) -> None:
    begun = begin(PAIR, tmp_path)
    found = [step for step in list_steps(begun.root, keeps=False) if isinstance(step, TimeTile)]
    # four times 25; one of the 100 steps is left at least, so that those kernels run as well
    assert [step_text(step) for step in found] == [
        "time-tile=pair/t,iterations=1,passes=32", "time-tile=pair/t,passes=16",
        "time-tile=pair/t,iterations=3,passes=16", "time-tile=pair/t,iterations=4",
    ]  # fmt: skip
    made = after_loop_step(begun.shared.setting, begun.root, found[1], there(begun))
    (passes,) = [nest for nest in nests_of(made.planned.port) if nest.iterations]
    assert passes.kernel.turns == 16 + 2 and made.planned.estimate.launches < begun.root.planned.estimate.launches
    assert not [s for s in list_steps(made, keeps=False) if isinstance(s, TimeTile) and "passes" in s.loop]
