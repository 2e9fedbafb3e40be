"""The errors of NVIDIA's compilers in generated text, as findings at their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.nvidia import has_nvrtc
from warpsmith.emit.files import OutputFile
from warpsmith.run.native import device_compile
from warpsmith.run.native.device_compile import compile_nvcc, compile_nvrtc, has_nvcc

KERNEL = "#include <math.h>\n__global__ void k(double *a) { a[0] = sqrt(a[1]); }\n"
# says what it was given for the one file, and refuses a text with "wrong" in it as nvcc does
NVCC = """#!/bin/sh
echo "$@" >> FOLDER/asked
for last; do true; done
if grep -q wrong "$(echo "$@" | sed 's/.* \\([^ ]*\\.cu\\) .*/\\1/')"; then SAY; exit 2; fi
touch "$last"
"""


@pytest.fixture
def nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "nvcc"
    say = 'echo "kernels.cu(2): error #20: identifier \\"wrong\\" is undefined" >&2'
    path.write_text(NVCC.replace("FOLDER", str(tmp_path)).replace("SAY", say))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return path


def test_each_file_with_kernels_is_compiled(nvcc: Path) -> None:
    assert has_nvcc()
    files = [OutputFile(name, KERNEL) for name in ("a.cu", "b.cuh", "c.c", "sub/d.cu")]
    assert compile_nvcc(files, ("-DX=1",)) is None
    asked = (nvcc.parent / "asked").read_text().splitlines()
    assert asked == ["-c -DX=1 a.cu -o a.cu.o", "-c -DX=1 sub/d.cu -o sub/d.cu.o"]


def test_the_first_bad_file_is_a_finding_at_its_line(nvcc: Path) -> None:
    finding = compile_nvcc([OutputFile("a.cu", KERNEL), OutputFile("kernels.cu", "int a;\nint b = wrong;\n")])
    assert finding is not None and finding.rule == "POR008"
    assert finding.message == 'the CUDA compiler refuses the kernels: identifier "wrong" is undefined'
    assert finding.span is not None and finding.span.text == "int b = wrong;"


@pytest.mark.parametrize(
    ("say", "said"),
    [
        ('echo "other.h(2): error: bad"', "other.h(2): error: bad"),
        ('echo "warning first"; echo "fatal error in ptxas"', "fatal error in ptxas"),
        ('echo "killed"', "killed"),
        ("true", "no message"),
    ],
)
def test_an_error_elsewhere_is_told_in_its_words(nvcc: Path, say: str, said: str) -> None:
    nvcc.write_text(NVCC.replace("FOLDER", str(nvcc.parent)).replace("SAY", say))
    finding = compile_nvcc([OutputFile("kernels.cu", "wrong")])
    assert finding is not None and finding.span is None
    assert finding.message == f"the CUDA compiler refuses the kernels: {said}"


def test_no_nvcc_on_the_path_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert not has_nvcc()


def test_nvrtc_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_compile, "load_nvrtc", lambda: None)
    with pytest.raises(ImportError, match="not installed"):
        compile_nvrtc(KERNEL)


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
def test_nvrtc_has_small_standard_headers_and_names_lines() -> None:
    assert compile_nvrtc(KERNEL) is None
    finding = compile_nvrtc(KERNEL + "__global__ void l() { wrong(); }\n", name="mine.cu")
    assert finding is not None and finding.span is not None
    assert (finding.span.file.path, finding.span.line) == ("mine.cu", 3) and "wrong" in finding.message
