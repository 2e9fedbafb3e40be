"""Loops are ported, a kernel stays as it is, and both go on."""

from __future__ import annotations

import pytest

from tests.flows.journey.begun import STEP, step_subject
from warpsmith.base.errors import UsageError
from warpsmith.flows.journey.compared import compare
from warpsmith.flows.journey.followed import follow
from warpsmith.flows.journey.origin import begin
from warpsmith.flows.journey.original import run_original
from warpsmith.flows.journey.subjects import loops_subject, own_subject
from warpsmith.front.inputs import Source


def test_loops_and_a_kernel_are_two_versions() -> None:
    stage, begun = begin(own_subject("dec2zero"))
    assert [version.name for version in begun.versions] == ["port", "by hand"]
    loops, kernel = stage.rows
    assert [(one.line, one.category) for one in loops.loops] == [(4, "parallel"), (5, "unanalyzable")]
    assert loops.written.startswith("__global__ void ws_dec2zero_k1_kernel(") and loops.written.endswith("}")
    assert (loops.launches, kernel.launches, kernel.kernels) == (1, 1, ("dec2zero",))
    assert begun.original is not None and begun.original.symbol.name == "dec2zero"


def test_a_kernel_of_the_users_is_one() -> None:
    stage, begun = begin(step_subject())
    assert [version.name for version in begun.versions] == ["yours"] and begun.original is None
    assert (stage.rows[0].kind, stage.rows[0].text) == ("CUDA kernel", STEP)


TWICE = """void once(int n, float *restrict a) { for (int i = 0; i < n; i++) a[i] = a[i] * 2; }
void twice(int n, float *restrict a, float *restrict b)
{
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < n; i++) b[i] = a[i] + a[i + 1];
        for (int i = 0; i < n; i++) a[i] = b[i];
    }
}
int main(void)
{
    float a[9] = {1}, b[8];
    once(8, a);
    twice(8, a, b);
    return (int)a[0];
}
"""
_VALUES = ("n=40", "a=iota:f32[n+1]", "b=zeros:f32[n]")


def test_a_function_of_the_users_is_ported_and_launched_as_its_host_code_does() -> None:
    subject = loops_subject(Source("twice.c", text=TWICE), "twice", _VALUES)
    stage, begun = begin(subject)
    (version,) = begun.versions
    assert [call.kernel for call in version.calls] == [*version.names] * 2 and stage.rows[0].launches == 4
    assert begun.original is not None and begun.original.symbol.name == "twice"
    left = dict(run_original(subject.loops_source, begun.original, begun.inputs))
    assert not compare(follow(version, begun.inputs.arrays)[-1].after, left).differ


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("", _VALUES, "name one: --kernel once, twice"),
        ("thrice", _VALUES, "twice.c has no function 'thrice'"),
        ("twice", _VALUES[:2], "--arg 'b=zeros:f32[64]'"),
    ],
)
def test_which_function_and_with_what_is_asked(name: str, values: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        begin(loops_subject(Source("twice.c", text=TWICE), name, values))
    (found,) = caught.value.findings
    assert said in " ".join((found.message, *found.help))


def test_a_function_whose_host_code_does_more_has_no_kernels_to_go_on_with() -> None:
    text = TWICE.replace("for (int t", "a[0] = 3; for (int t")
    stage, begun = begin(loops_subject(Source("twice.c", text=text), "twice", _VALUES))
    assert not begun.versions and stage.rows[0].why == "twice.c:4:5: this runs on the host, between kernels"


def test_loops_that_stay_say_why() -> None:
    # the same function, of which nothing may become a kernel for the inputs that are given
    subject = own_subject("dec2zero")
    stage, begun = begin(type(subject)(subject.name, subject.values, subject.loops, rounds=({"n": 0},)))
    assert begun.versions[0].calls == () and stage.rows[0].launches == 0
