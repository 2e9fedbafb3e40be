"""Instructions of sixteen threads: what is refused is refused at its line."""

from __future__ import annotations

import pytest

from tests.targets.llvm.texts import kernel_of, refused_by_vectors
from warpsmith.targets.llvm.vector import write_vectors

REFUSED = {
    '__global__ void k(int *a) {\n    printf("%d", a[0]);\n}': "printf is no function of numbers",
    "__global__ void k(long long *a) {\n    a[0] = clock64();\n}": "AVX-512 has no clock64",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_names_its_line(text: str) -> None:
    finding = refused_by_vectors("#include <cstdio>\n" + text)
    assert finding.rule == "TGT001"
    assert REFUSED[text] in finding.message
    assert finding.span is not None
    assert finding.span.line == 3


def test_memory_is_accessed_under_masks() -> None:
    text = "__global__ void k(int *a, int n) { int i = threadIdx.x; if (i < n) a[i] += 1; }"
    ir = str(write_vectors(kernel_of(text)[1]).module)
    assert '@"llvm.masked.gather.v16i32.v16p0"' in ir
    assert '@"llvm.masked.scatter.v16i32.v16p0"' in ir


def test_a_volatile_access_is_one_of_each_lane() -> None:
    text = "__global__ void k(volatile int *a) { a[threadIdx.x] = a[0]; }"
    ir = str(write_vectors(kernel_of(text)[1]).module)
    assert "load atomic i32" in ir
    assert "store atomic i32" in ir
