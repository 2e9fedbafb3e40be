"""What is refused, at which line; and how arguments are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.targets.mask.kernel_text import kernel_of
from warpsmith.base.errors import InputError
from warpsmith.targets.mask.export import export_kernel


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("__syncthreads();\n a[i] = n;", "the mask ISA has no barrier"),
        ("atomicAdd(a, n);", "the mask ISA has no atomic operations"),
        ("a[i] = __shfl_down_sync(~0u, n, 1);", "the mask ISA has no shuffles"),
        ("b[i] = fmaf(b[i], 2.0f, 1.0f);", "the mask ISA has no fused multiply-add"),
        ("b[i] = sqrtf(b[i]);", "the mask ISA has nothing for sqrt"),
        ("((char *)a)[i] = 1;", "the mask ISA has words of 32 bits, and this is i8"),
        ("long long s = (long long)i * n; a[i] = s > 5;", "needs all 64 bits"),
        ("int *p = i & 1 ? a : (int *)b; *p = n;", "this address may start from one of two arguments"),
        ("a[i] = __float_as_int(b[i] * 2.0f);", "the bits of a computed float are used as a number"),
        ("for (;;) a[i] += 1;", "no lane ever leaves this loop"),
    ],
)
def test_what_the_isa_has_not_is_refused_at_its_line(tmp_path: Path, body: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        export_kernel(kernel_of(tmp_path, body))
    (finding,) = caught.value.findings
    assert told in finding.message
    assert finding.rule == "MSK007"
    assert finding.span is not None and ":3:" in str(finding.span)


def test_arguments_are_views_and_words_of_the_launch(tmp_path: Path) -> None:
    made = export_kernel(kernel_of(tmp_path, "if (i < n) b[i] = a[i + 1];"))
    assert dict(made.views) == {"a": 0, "b": 1}
    assert (made.read, made.written) == (frozenset("a"), frozenset("b"))
    assert [word.name for word in made.words] == ["n"]
    assert made.word_view == 2
    assert "ld r0.x, t2, u(0)" in made.text
    assert "; t0: a\n; u1: b\n; t2: words of the launch: n\n" in made.text
