"""Explicit instantiations as variables that name the instances; no offset moves."""

from __future__ import annotations

import pytest

from warpsmith.front.clang.device.instances import named_instances


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("template __global__ void k<short, 8>(short *);", "auto w0=&k<short, 8>;"),
        ("template __global__ void k(float *, int);", "void(*w0)(float *, int)=k;"),
        ("template void run<float>(float *);", "auto w0=&run<float>;"),
        ("extern template __global__ void __launch_bounds__(8 * (2)) a::k<int>(int *);", "auto w0=&a::k<int>;"),
        ("template void run(float *);", None),
        ("template class V<float>;", None),
        ("template <> void f<int>(int) { }", None),
        ("template <class T> void f(T);", None),
        ("/* template __global__ void k<short>(short *); */", None),
        ("int template_(int);", None),
    ],
)
def test_statements(text: str, made: str | None) -> None:
    found = named_instances(text)
    assert len(found) == len(text)
    assert found.rstrip() == (made or text)


def test_line_ends_stay_and_each_has_a_number() -> None:
    text = "int a;\ntemplate __global__\nvoid k<short,\n 8>(short *, int *);\ntemplate void run<float>(float *);\n"
    found = named_instances(text)
    assert len(found) == len(text) and found.count("\n") == text.count("\n")
    assert (
        "w0" in found and "w1=&run<float>;" in found and found.index("\nauto w1") == text.index("\ntemplate void run")
    )
