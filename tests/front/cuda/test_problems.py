"""The parser's errors in a file of device code, and whom they hit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.test_kernels import load
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions


def test_errors_hit_the_functions_in_which_they_lie() -> None:
    unit = load("__global__ void a(int *x) { x[0] = nowhere; y = 1; }\n__global__ void b(int *x) { x[0] = 1; }\n")
    assert unit.kernels == ("b",) and len(unit.findings) == 1  # what follows the first error says little more
    (finding,) = unit.findings
    assert (finding.rule, finding.severity) == ("INP001", "error") and "nowhere" in finding.message


def test_what_many_functions_lack_is_said_once() -> None:
    body = "__global__ void {0}(int *x) {{ x[0] = nowhere; }}\n"
    (finding,) = load("".join(body.format(name) for name in "abcd")).findings
    assert "nowhere" in finding.message and "the same at 3 more places" in finding.help


def test_a_missing_header_is_a_warning_where_the_kernels_can_be_read() -> None:
    unit = load("#include <none/such.h>\n__global__ void a(int *x) { x[0] = 1; }\n")
    assert unit.kernels == ("a",) and [(f.rule, f.severity) for f in unit.findings] == [("INP002", "warning")]
    unit = load("#include <none/such.h>\n__global__ void a(thing *x) { x[0] = 1; }\n")
    assert unit.kernels == () and "error" in {f.severity for f in unit.findings}


def test_host_code_may_be_wrong() -> None:
    unit = load("__global__ void a(int *x) { x[0] = 1; }\nvoid host() { cublas_thing t; nothing(t); }\n")
    assert (unit.kernels, unit.findings) == (("a",), ())


def test_a_file_without_kernels_says_so() -> None:
    (finding,) = load("int main() { return 0; }\n").findings
    assert finding.severity == "note" and finding.message.endswith("has no kernel")


def test_a_comment_that_speaks_of_kernels_is_none() -> None:
    (finding,) = load("// times the kernel\nint main() { return std::missing(); }\n").findings
    assert finding.severity == "note" and finding.message.endswith("has no kernel")


def test_an_instance_that_cannot_be_made_is_named() -> None:
    text = "template <class T> __global__ void k(T *x) { x[0] = T(1); }\n"
    (finding,) = load(text).findings
    assert (finding.rule, finding.severity) == ("INP007", "warning") and "k" in finding.message
    found = load(text, kernels=("k<int>", "gone<int>", "k<int, 3>"))
    assert found.kernels == ("k<int>",)
    assert ["gone<int>" in f.message or "k<int, 3>" in f.message for f in found.findings] == [True] * len(
        found.findings
    )
    assert found.findings


def test_a_missing_header_of_a_file_without_kernels_is_no_error() -> None:
    unit = load("#include <none/such.h>\nint main() { return 0; }\n")
    assert [(f.rule, f.severity) for f in unit.findings] == [("INP002", "warning"), ("INP001", "note")]


LOOP = """__global__ void k(float *a) {{ a[threadIdx.x] = 1; }}
int main() {{
    size_t size = 4;
    for (int i = 0; i < 3; i++) {{
        float *d;
        cudaMalloc((void **)&d, size);
        k<<<200, 64>>>(d);
        cudaFree(d);
        {}
    }}
}}
"""


def test_a_loop_with_errors_in_it_is_not_said_to_repeat_anything() -> None:
    for line, repeats in (("", 1), ("std::cout << i;", 1), ("size = std::gone(i);", 0), ("size = absent[i];", 0)):
        assert len(load(LOOP.format(line)).repeats) == repeats, line


def test_errors_are_seen_however_the_path_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.cu").write_text("__global__ void a(int *x) { x[0] = nowhere; }\n")
    monkeypatch.chdir(tmp_path)
    for path in ("k.cu", "./k.cu", ".//k.cu", f"../{tmp_path.name}/k.cu", str(tmp_path / "k.cu")):
        unit = load_kernels(Source(path), FrontOptions())
        assert unit.kernels == () and "nowhere" in unit.findings[0].message, path
    loop = LOOP.format("size = absent[i];")
    (tmp_path / "loop.cu").write_text(loop)
    assert load_kernels(Source("./loop.cu"), FrontOptions()).repeats == ()
