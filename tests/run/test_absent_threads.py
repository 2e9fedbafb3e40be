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
