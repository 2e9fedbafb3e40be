"""Kernels of the corpus as Brook+: how many there are, that they compute the same, and why others are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Struct

from tests.targets.brook.agree import brook_agrees, kernels_with_trees, written
from tests.targets.brook.programs import random_agrees
from warpsmith.base.errors import InputError
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.targets.brook import writing
from warpsmith.targets.brook.export import _Exporter, write_brook
from warpsmith.targets.brook.places import StreamPlaces


def brook(text: str) -> str:
    """Return the kernel of a CUDA text as Brook+."""
    unit = read_unit(KernelFile("k.cu", text=text))
    assert isinstance(unit, KernelUnit) and not unit.findings
    (kernel,) = (one for one in unit.functions if one.device is not None and one.device.kernel)
    return write_brook(kernel, unit.functions)


def corpus() -> dict[tuple[str, str], str]:
    """Return the kernels that are written, with their texts; the others are refused with a line."""
    found: dict[tuple[str, str], str] = {}
    for path, name in kernels_with_trees():
        try:
            found[path, name] = written(path, name)
        except InputError as error:
            (finding,) = error.findings
            assert finding.rule == "TGT001" and finding.span is not None
    return found


WRITTEN: Final = corpus()


def test_many_kernels_of_the_corpus_are_written() -> None:
    assert len(WRITTEN) >= 29


@pytest.mark.parametrize("name", ["cl_saxpy", "convolution_2d", "collatz", "black_scholes", "spmv_ell", "bits"])
def test_a_kernel_of_the_corpus_computes_the_same(name: str) -> None:
    (found,) = ((path, text) for (path, one), text in WRITTEN.items() if one == name)
    assert brook_agrees(found[0], name, found[1]) in ("", "the launch in a square has no meaning")


@pytest.mark.slow
def test_all_kernels_of_the_corpus_compute_the_same() -> None:
    said = [brook_agrees(path, name, text) for (path, name), text in WRITTEN.items()]
    assert said.count("") >= 28 and not [one for one in said if "differs" in one]


HERE = "int i = blockIdx.x * blockDim.x + threadIdx.x; "


def test_what_is_not_written_everywhere_has_a_stream_of_what_was_there() -> None:
    text = brook(f"__global__ void k(float *out, const float *in, int n) {{ {HERE}if (i < n) out[i] = in[i] * 2; }}")
    assert text.splitlines() == [
        "kernel void k(float out_before<>, out float out_<>, float in[], int n)",
        "{",
        "    out_ = out_before;",
        "    int i = instance().x;",
        "    if ((i < n))",
        "        out_ = (in[i] * 2);",
        "}",
    ]


def test_what_is_written_first_has_none() -> None:
    text = brook(f"__global__ void k(float *o, float s) {{ {HERE}o[i] = s * i; o[i] += 1; }}")
    lines = ("{", "    int i = instance().x;", "    o = (s * i);", "    o += 1;", "}")
    assert text.splitlines() == ["kernel void k(out float o<>, float s)", *lines]


def test_what_is_read_before_it_is_written_has_a_stream() -> None:
    text = brook(f"__global__ void k(float *o, int n) {{ {HERE}n = o[i] > 1; o[i] = n; }}")
    assert "o = o_before;" in text


@pytest.mark.parametrize("seed", range(24))
def test_random_kernels_compute_the_same(seed: int) -> None:
    assert random_agrees(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 600, 100))
def test_many_random_kernels_compute_the_same(first: int) -> None:
    assert [seed for seed in range(first, first + 100) if not random_agrees(seed)] == []


def test_names_that_brook_has_are_others_and_none_is_taken_twice() -> None:
    text = brook(f"__global__ void k(float *o, float kernel, float kernel_) {{ {HERE}o[i] = kernel - kernel_; }}")
    assert "float kernel__, float kernel_)" in text and "o = (kernel__ - kernel_);" in text


def test_an_assignment_in_an_expression_keeps_its_place() -> None:
    text = brook(f"__global__ void k(int *o, int n) {{ {HERE}int a, b = 1; o[i] = n + (a = b += 2) * a; }}")
    assert "o = (n + ((a = (b += 2)) * a));" in text


def test_functions_come_along_and_macros_are_written_out() -> None:
    text = brook(
        "#define TWICE(x) ((x) + (x))\n__device__ float half(float x) { return x / 2; }\n"
        f"__global__ void k(float *o) {{ {HERE}o[i] = TWICE(half(i)); }}"
    )
    assert text.startswith("kernel float half(float x)\n{\n    return (x / 2);\n}\n\nkernel void k(out float o<>)")
    assert "o = (half(i) + half(i));" in text


def test_arrays_of_two_axes_have_the_width_of_the_domain() -> None:
    below = "int j = blockIdx.y * blockDim.y + threadIdx.y; "
    text = brook(f"__global__ void k(float *o, int w) {{ {HERE}{below}o[j * w + i] = j; }}")
    assert text.startswith("// the out streams are as wide as w\n") and "int j = instance().y;" in text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("o[i + 1] = 1;", "o is written at another place than the thread's own"),
        ("o[n] = 1;", "o is written at another place than the thread's own"),
        ("o[i] = o[i + 1];", "o is written by the threads, and read at another place than the own"),
        ("__shared__ float s[32]; s[threadIdx.x] = 1; o[i] = s[0];", "no array of the launch"),
        ("__syncthreads(); o[i] = 1;", "Brook+ has no __syncthreads"),
        ("o[i] = 0.1;", "this is a double that no float is"),
        ("long long j = i; o[i] = j;", "j is long long"),
        ("o[i] = sinf(n);", "Brook+ has no sinf"),
        ("o[i] = threadIdx.x;", "Brook+ has no"),
        ("float *p = o; p[i] = 1;", "no array of the launch"),
        ("atomicAdd(&o[i], 1.0f);", "Brook+ has no"),
        ("", "k writes to no element of its own"),
        ("i = 3; o[i] = 1;", "o is written at another place than the thread's own"),
    ],
)
def test_what_brook_has_not_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        brook(f"__global__ void k(float *o, int n) {{\n{HERE}\n{body} }}")
    (finding,) = caught.value.findings
    assert message in finding.message and finding.span is not None


class WriterBug(Struct, frozen=True):
    """`name` of `owner` is replaced by what `make` makes of it."""

    title: str
    owner: Any
    name: str
    make: Callable[[Any], Any]


BUGS: Final = (
    WriterBug("elements stay nowhere", _Exporter, "_stays", lambda real: lambda self, symbol: False),
    WriterBug("every gather is read at 0", writing.BrookWriter, "text", lambda real: _first_element(real)),
    WriterBug("the other axis is the thread's place", writing.BrookWriter, "_place", lambda real: _other_axis(real)),
    WriterBug("a conditional has its values swapped", writing.BrookWriter, "_operator", lambda real: _swapped(real)),
    WriterBug("every place is the own", StreamPlaces, "is_own", lambda real: lambda self, access: True),
)


def _first_element(real: Any) -> Any:
    return lambda self, e: real(self, e).replace("[i]", "[0]")


def _other_axis(real: Any) -> Any:
    return lambda self, e, axis: real(self, e, {"x": "y", "y": "x"}[axis])


def _swapped(real: Any) -> Any:
    return lambda self, e: real(self, e).replace("<", ">")


@pytest.mark.parametrize("bug", BUGS, ids=lambda one: one.title)
def test_bugs_in_the_writer_are_seen(bug: WriterBug, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bug.owner, bug.name, bug.make(getattr(bug.owner, bug.name)))
    assert any(_shows(path, name) for path, name in kernels_with_trees())


def _shows(path: str, name: str) -> bool:
    try:
        text = written(path, name)
        return "differs" in brook_agrees(path, name, text)
    except InputError:
        return False
    except AssertionError:
        return True


def test_the_command_has_it(tmp_path: Path) -> None:
    from warpsmith.flows.lower import lower_to

    manual = Path(__file__).parents[3] / "examples" / "manual"
    (column,) = lower_to(KernelFile(str(manual / "countdown.cu")), "", ("brook",)).columns
    assert column.listing is not None and "kernel void countdown(" in column.listing.text
    with pytest.raises(InputError, match="no text of CUDA or OpenCL"):
        lower_to(KernelFile(str(manual.parent / "kernels" / "saxpy.ptx")), "", ("brook",))
