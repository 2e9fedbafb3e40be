"""Files of device code before they are parsed: their language, and the parser's options."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.cuda.source import DeviceInput, device_arguments, read_device_input
from warpsmith.front.inputs import BYTES_A_NODE, Source


def arguments(*given: str, language: str = "cuda", plain: bool = False) -> list[str]:
    made = DeviceInput(SourceFile("k.cu", ""), "cuda" if language == "cuda" else "opencl", given)
    return device_arguments(made, plain=plain)


def test_what_cannot_be_used_says_why(tmp_path: Path) -> None:
    def said(source: Source, limit: int = 1000) -> str:
        made = read_device_input(source, limit)
        assert isinstance(made, Finding) and made.help
        return made.message

    assert said(Source(str(tmp_path / "k.cu"))).endswith("does not exist")
    assert said(Source(str(tmp_path))).endswith("is a directory")
    path = tmp_path / "k.c"
    path.write_text("x")
    assert said(Source(str(path))).endswith("the suffix .c is none of device code")
    assert said(Source("k.cu", (), None, "a\0")).endswith("it has zero bytes")
    assert said(Source("k.cl", (), None, " \n")).endswith("is empty")
    assert "more than the limit" in said(Source("k.cu", (), None, "x" * (BYTES_A_NODE + 1)), 1)
    for name, language, wanted in (("k.CU", None, "cuda"), ("k.ocl", None, "opencl"), ("k.c", "opencl", "opencl")):
        made = read_device_input(Source(name, (), language, "x"), 1000)
        assert isinstance(made, DeviceInput) and made.language == wanted


@pytest.mark.parametrize(
    ("given", "gpu"),
    [((), 80), (("-arch=sm_70",), 70), (("-arch", "sm_61"), 61), (("-gencode", "arch=compute_75,code=sm_86"), 86),
     (("-arch=sm_120",), 90), (("-arch=sm_35",), 50), (("-arch=sm_88",), 87), (("-DN=sm_70",), 80)],
)  # fmt: skip
def test_the_newest_architecture_that_the_parser_knows(given: tuple[str, ...], gpu: int) -> None:
    assert f"--cuda-gpu-arch=sm_{gpu}" in arguments(*given)


def test_options_of_text_reach_the_parser() -> None:
    made = arguments("-I", "inc", "-DN=2", "--std", "c++20", "-O3", "-lineinfo")
    assert {"-Iinc", "-DN=2", "-std=c++20"} <= set(made) and not {"-O3", "-lineinfo", "-std=gnu++17"} & set(made)
    assert "-std=gnu++17" in arguments() and "-nostdinc++" in arguments(plain=True) and "-nostdinc++" not in arguments()
    cl = arguments("-cl-std=CL1.2", "-std=c99", "-DN=2", language="opencl")
    assert cl[:2] == ["-x", "cl"] and "-cl-std=CL1.2" in cl and "-DN=2" in cl and "-std=c99" not in cl
    assert "-cl-std=CL2.0" in arguments(language="opencl")
