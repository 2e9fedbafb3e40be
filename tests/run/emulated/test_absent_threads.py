"""Whether absent threads went around a barrier, told from the text of the kernel."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.run.emulated.absent_threads import went_around


def around(body: str) -> bool:
    text = f"__global__ void k(int n) {{\n{body}\n}}\n"
    start = text.rindex("__syncthreads();")
    return went_around((Span(SourceFile("k.cu", text), start, start + 16),), ())


def test_a_return_before_the_barrier_may_be_how_threads_left() -> None:
    assert around("if (n > threadIdx.x) { __syncthreads(); }")
    assert not around("if (n > threadIdx.x) return;\n__syncthreads();")
    assert around("__syncthreads();\nreturn;")


@pytest.mark.parametrize(
    "quiet", ["// return", "/* return */", "// \\\n return", '"return";', 'R"(" return)";', "// \\ \nreturn"]
)
def test_comments_and_strings_end_no_thread(quiet: str) -> None:
    assert around(f"{quiet}\n__syncthreads();")


@pytest.mark.parametrize(
    "loud",
    [
        "int a = 1'000; if (n > 3) return; a = 2'000;",
        'auto s = R"(")"; if (n > 3) return; s = "";',
        "#define OUT$ return\nif (n > 3) OUT$;",
        "// a\rif (n > 3) return;",
    ],
)
def test_a_return_is_seen_beside_anything(loud: str) -> None:
    assert not around(f"{loud}\n__syncthreads();")


def spans(text: str, *marks: str) -> tuple[Span, ...]:
    file = SourceFile("k.cu", text)
    return tuple(Span(file, text.index(mark), text.index(mark) + len(mark)) for mark in marks)


def test_a_thread_seen_behind_the_barrier_went_around_it() -> None:
    text = (
        "__global__ void k(int *a, int n) { if (n) return; __syncthreads(); a[0] = 1; }\nvoid g(int *b) { b[0] = 2; }"
    )
    barrier, behind, other, before = spans(text, "__syncthreads();", "a[0] = 1;", "b[0] = 2;", "if (n)")
    assert went_around((barrier,), (behind,))
    assert not went_around((barrier,), (other,))
    assert not went_around((barrier,), (before,))
    assert not went_around((), (behind,))


def test_a_return_later_in_a_loop_around_the_barrier_counts() -> None:
    loop = "for (int i = 0; i < n; i++) { __syncthreads(); if (i > threadIdx.x) LEAVE; }"
    for leave, expected in (("return", False), ("break", True)):
        text = f"__global__ void k(int n) {{ {loop.replace('LEAVE', leave)} }}"
        assert went_around(spans(text, "__syncthreads();"), ()) == expected


@pytest.mark.parametrize(("leave", "expected"), [("return;", False), ("", True)])
def test_a_barrier_in_an_inlined_function_is_judged_with_its_callers(leave: str, expected: bool) -> None:
    text = (
        f"namespace own {{ __device__ void wait(int n) {{ if (n > 2) {{ {leave} }} __syncthreads(); }} }}\n"
        "__device__ void other() { return; }\n"
        "__global__ void k(int n) { own::wait(n); }"
    )
    assert went_around(spans(text, "__syncthreads();", "own::wait(n);"), ()) == expected


def test_only_a_kernels_own_text_is_judged() -> None:
    assert not went_around(spans("__device__ void wait() { __syncthreads(); }", "__syncthreads();"), ())
    assert not went_around(spans("#define WAIT __syncthreads();", "__syncthreads();"), ())
    assert went_around(spans("struct S { static __global__ void k() { __syncthreads(); } };", "__syncthreads();"), ())
