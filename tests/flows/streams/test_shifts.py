"""Uses of a power of two that become shifts, and those that may not."""

from __future__ import annotations

import pytest

from tests.flows.streams.test_encode import CALLED, KERNEL, encoded, outputs
from warpsmith.base.errors import InputError
from warpsmith.flows.streams import shifts
from warpsmith.flows.streams.whole import WholeRange

_HALVES = """kernel void k(out float o<>, float w)
{
    float x = 0.5f * (float)instance().x;
    o = fmod(x, w) + floor(x / w);
}
int main() { float a[32]; float o<32>; k(o, 4.0f); streamWrite(o, a); return 0; }
"""


def test_floats_that_are_not_whole_stay_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outputs(encoded(_HALVES, "k.w"), "a") == outputs(_HALVES, "a")
    monkeypatch.setattr(shifts, "whole_of", lambda *_: WholeRange(0, 100))
    assert outputs(encoded(_HALVES, "k.w"), "a") != outputs(_HALVES, "a")


@pytest.mark.parametrize(
    ("body", "statement", "message"),
    [
        ("o = a * (float)(x % w);", "k(a, o, w);", "'x' can be -4: -3 % 2 is -1, and -3 & 1 is 1"),
        ("o = a * (float)(x / w);", "k(a, o, w);", "'x' can be -4: -3 / 2 is -1, and -3 >> 1 is -2"),
        ("o = (float)((int)a / w);", "k(a, o, w);", "'(int)a' may be negative"),
        ("w = 3; o = a * (float)w;", "k(a, o, w);", "'w' is changed"),
    ],
)
def test_a_use_that_would_have_another_value_is_refused(body: str, statement: str, message: str) -> None:
    text = KERNEL.replace("BODY", body) + CALLED.replace("STATEMENT", statement)
    with pytest.raises(InputError) as caught:
        encoded(text, "k.w")
    (finding,) = caught.value.findings
    assert message in finding.message and finding.span is not None
