"""MEM013: what loops of host code copy and allocate anew; judged by running the same host code, copy by copy."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.kernels.units import KernelFile
from warpsmith.report.analysis.model import AnalysisReport
from warpsmith.report.rules import load_rules
from warpsmith.settings.read import Wanted, read_settings

FILE = Path(__file__).parents[2] / "transfers.cu"
CHECK = "#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) return; } while (0)\n"
# The run time of CUDA as far as copies go: the device is the host, and every copy and allocation says its line, how
# much it is, and whether the bytes were there already.
RUN_TIME = r"""
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define __global__
#define __device__
#define __constant__
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
static struct { int x; } threadIdx;
static cudaError_t copied(int line, void *to, const void *from, size_t n)
{
    printf("%d %p %zu %d\n", line, to, n, memcmp(to, from, n) == 0);
    memmove(to, from, n);
    return cudaSuccess;
}
static cudaError_t allocated(int line, void **to, size_t n)
{
    printf("%d 0 %zu 1\n", line, n);
    *to = calloc(1, n);
    return cudaSuccess;
}
#define cudaMemcpy(to, from, n, kind) copied(__LINE__, to, from, n)
#define cudaMemcpyToSymbol(to, from, n) copied(__LINE__, to, from, n)
#define cudaMalloc(to, n) allocated(__LINE__, (void **)(to), n)
static void cudaFree(void *p) { free(p); }
#define cudaMemset memset
"""


def _report(text: str) -> AnalysisReport:
    settings = read_settings(Wanted({"min-certainty": "heuristic"}, files=False, environment=False))
    report = explain([KernelFile("host.cu", "cuda", text=text)], ExplainOptions(settings))
    assert not [one.message for one in report.diagnostics if one.severity == "error"]
    return report


def _told(text: str) -> dict[int, str]:
    return {
        one.finding.span.line: one.finding.certainty
        for one in _report(text).findings
        if one.finding.rule == "MEM013" and one.finding.span is not None
    }


def _marked(mark: str) -> dict[int, str]:
    lines = enumerate((CHECK + FILE.read_text()).splitlines(), start=1)
    return {number: found[1] for number, line in lines if (found := re.search(rf"// {mark}$", line))}


def _run(directory: Path) -> dict[int, list[tuple[str, int, bool]]]:
    """Run every function of the file for three iterations; return what each line copied: where, how much, the same."""
    text = re.sub(r"(\w+)<<<[^>]*>>>\(", r"for (threadIdx.x = 0; threadIdx.x < 8; threadIdx.x++) \1(", FILE.read_text())
    calls = []
    for name, parameters in re.findall(r"^void (\w+)\((.*)\)\n\{", text, re.MULTILINE):
        values = {"float **d": "blocks", "int n": "8", "int from": "2", "int steps": "3"}
        given = [values.get(one, f"data + {16 * k}") for k, one in enumerate(parameters.split(", "))]
        calls.append(f"    for (int i = 0; i < 64; i++) data[i] = 7 * i + 1;\n    {name}({', '.join(given)});")
    main = "static float data[64], *blocks[8];\nint main()\n{\n" + "\n".join(calls) + "\n}\n"
    source = directory / "host.cpp"
    source.write_text(RUN_TIME + "#line 1\n" + CHECK + text + main)
    subprocess.run(["g++", "-w", "-O1", str(source), "-o", str(directory / "host")], check=True)
    done = subprocess.run([str(directory / "host")], check=True, capture_output=True, text=True)
    seen: dict[int, list[tuple[str, int, bool]]] = {}
    for line, place, size, same in map(str.split, done.stdout.splitlines()):
        seen.setdefault(int(line), []).append((place, int(size), same == "1"))
    return seen


def test_it_speaks_where_it_is_expected_and_nowhere_else() -> None:
    assert _told(CHECK + FILE.read_text()) == _marked("MEM013 (\\w+)")


def test_what_is_proven_is_seen_in_a_run_and_near_misses_differ(tmp_path: Path) -> None:
    seen = _run(tmp_path)
    lines = (CHECK + FILE.read_text()).splitlines()
    proven = [line for line, certainty in _marked("MEM013 (\\w+)").items() if certainty == "proven"]
    for line in proven:
        first, *others = seen[line]
        assert len(others) == 2
        assert all(one[:2] == first[:2] for one in others), lines[line - 1]
        if "DeviceToHost" not in lines[line - 1]:
            assert all(same for _, _, same in others), lines[line - 1]
    for line in _marked("(differs)"):
        first, *others = seen[line]
        assert any(one[:2] != first[:2] or not one[2] for one in others), lines[line - 1]
    assert len(proven) >= 7


def test_the_conditions_are_named() -> None:
    found = {
        one.finding.span.line: " ".join(one.finding.assumptions)
        for one in _report(CHECK + FILE.read_text()).findings
        if one.finding.rule == "MEM013" and one.finding.span is not None and one.finding.assumptions
    }
    texts = list(found.values())
    for word in (
        "`elsewhere` changes neither `h`",
        "through `log`",
        "by another name",
        "`elsewhere` does not read `h`",
    ):
        assert any(word in text for text in texts), word


@pytest.mark.parametrize("kind", ["bad", "good"])
def test_the_page_s_examples(kind: str) -> None:
    rule = load_rules()["MEM013"]
    assert bool(_told(rule.example if kind == "bad" else rule.good)) == (kind == "bad")
