"""Every rule about kernels speaks where it should, and nowhere else: small kernels that carry their expectations.

    // launch: --block 128                   how the next kernel is launched
    __global__ void MEM001_true_stride(…)    RULE_true_… or RULE_near_…; only this rule is looked at
    …                          // MEM001     a finding on this line

All kernels of one file are read at once; the page of a rule (`warpsmith explain`) is a kernel of this kind as well.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from warpsmith.flows.explain import ExplainOptions, explain
from warpsmith.kernels.shape import dim_of
from warpsmith.kernels.units import KernelFile
from warpsmith.report.analysis.model import AnalysisReport
from warpsmith.report.rules import KERNEL_FAMILIES, Rule, load_rules
from warpsmith.settings.model import KernelSettings, Setting, Settings
from warpsmith.settings.read import Wanted, read_settings

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.cu"))
KERNEL = re.compile(
    r"// launch: (?P<launch>.*)\n(?:.*\n)??.*__global__.*?\b(?P<name>[A-Z]{3}\d{3}_(?:true|near)_\w+)\("
)
PAGES = [rule for rule in load_rules().values() if rule.family in KERNEL_FAMILIES and rule.example]
PAGES = [rule for rule in PAGES if rule.code != "MEM013"]
NO_FIXTURE = {"MEM013", "OCC006", "OCC007"}
"""Rules of what ptxas says, and of PTX: test_rules_of_ptx.py; of host code: test_transfers.py."""


def _settings(kernels: tuple[KernelSettings, ...]) -> Settings:
    flags: dict[str, Setting] = {"min-certainty": "heuristic", "runs": 0}
    found = read_settings(Wanted(flags, files=False, environment=False))
    return Settings(found.values, found.origins, found.root, kernels=kernels)


def _launch(pattern: str, options: str) -> KernelSettings:
    words = shlex.split(options)
    given = dict(zip(words[::2], words[1::2], strict=True))
    block, grid, assume = given.get("--block"), given.get("--grid"), given.get("--assume")
    return KernelSettings(
        pattern,
        None if block is None else dim_of(block, "--block"),
        None if grid is None else dim_of(grid, "--grid"),
        assume=() if assume is None else (assume,),
    )


@cache
def _report(path: Path) -> AnalysisReport:
    kernels = tuple(_launch(found["name"], found["launch"]) for found in KERNEL.finditer(path.read_text()))
    assert len(kernels) == path.read_text().count("// launch:")
    report = explain([KernelFile(str(path))], ExplainOptions(_settings(kernels)))
    assert not report.diagnostics, report.diagnostics[0].message
    return report


@cache
def _expected(path: Path) -> Mapping[str, list[tuple[str, int]]]:
    """Return for each kernel of a file what is expected of it: (rule, line)."""
    expected: dict[str, list[tuple[str, int]]] = {}
    name = ""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if found := re.search(r"\b([A-Z]{3}\d{3}_(?:true|near)_\w+)\(", line):
            name = found[1]
            expected[name] = []
        if found := re.search(r"// ([A-Z]{3}\d{3})$", line):
            expected[name].append((found[1], number))
    return expected


def _cases() -> list[tuple[Path, str]]:
    return [(path, name) for path in FILES for name in _expected(path)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_rule_speaks_where_it_is_expected_and_nowhere_else(path: Path) -> None:
    report = _report(path)
    wrong = []
    for name, expected in _expected(path).items():
        rule = name[:6]
        found = {
            (one.finding.rule, one.finding.span.line)
            for one in report.findings
            if one.kernel == name and one.finding.rule == rule and one.finding.span is not None
        }
        if found != set(expected):
            wrong.append(f"{name}: expected {sorted(expected)}, found {sorted(found)}")
    assert not wrong, "\n".join(wrong)


def test_each_rule_has_three_kernels_of_each_kind() -> None:
    count = Counter(name[:11] for _, name in _cases())
    rules = {rule.code for rule in load_rules().values() if rule.family in KERNEL_FAMILIES} - NO_FIXTURE
    few = [f"{code}_{kind}" for code in sorted(rules) for kind in ("true", "near") if count[f"{code}_{kind}"] < 3]
    assert not few
    assert all(expected or "_near_" in name for path in FILES for name, expected in _expected(path).items())


@cache
def _pages() -> AnalysisReport:
    """Return what is found in the examples of all pages, each in a namespace of its own."""
    parts: list[str] = []
    kernels: list[KernelSettings] = []
    for rule in PAGES:
        for kind, text, launch in (("bad", rule.example, rule.launch), ("good", rule.good, _good_launch(rule))):
            name = f"{kind}_{rule.code}"
            body = re.sub(r"\bk\(", f"{name}_k(", text)
            parts.append(f"namespace {name} {{\n{body}\n}}\n#undef LOAD\n#undef KEEP\n#undef EACH\n")
            kernels.append(_launch(f"{name}_k", re.sub(r"--min-certainty \w+", "", launch)))
    file = KernelFile("pages.cu", "cuda", text="".join(parts))
    report = explain([file], ExplainOptions(_settings(tuple(kernels))))
    assert not report.diagnostics, report.diagnostics[0].message
    return report


def _good_launch(rule: Rule) -> str:
    return rule.good_launch or rule.launch


@pytest.mark.parametrize("rule", PAGES, ids=lambda rule: rule.code)
def test_the_examples_of_a_page_are_what_it_says(rule: Rule) -> None:
    found = {(one.kernel.removesuffix("_k"), one.finding.rule) for one in _pages().findings}
    assert (f"bad_{rule.code}", rule.code) in found
    assert (f"good_{rule.code}", rule.code) not in found


ARRAYS = """
__global__ void table(int *a) { const int v[4] = {31, 28, 31, 30}; a[threadIdx.x] = v[a[threadIdx.x] & 3]; }
__global__ void ring(float *a, int n) { float v[4] = {}; for (int t = 0; t < n; t++) v[t & 3] += a[t]; a[0] = v[0]; }
__global__ void picked(float *a, int n) { float v[16]; v[n] = a[0]; a[threadIdx.x] = v[3]; }
struct Letters { char letter[64]; };
__global__ void given(char *a, Letters letters) { a[threadIdx.x] = letters.letter[threadIdx.x & 63]; }
"""
LOOPS = """
__global__ void flag(float *y, const float *x) {
    __shared__ bool found;
    volatile bool *stop = &found;
    if (threadIdx.x == 0) found = false;
    __syncthreads();
    float sum = 0.0f;
    for (int j = 0; j < 64 && !*stop; j++) {
        sum += x[j + threadIdx.x];
        if (sum > 9.0f) *stop = true;
    }
    y[threadIdx.x] = sum;
}
__global__ void flags(float *y, const float *x) {
    __shared__ bool found[256];
    volatile bool *stop = found;
    found[threadIdx.x] = false;
    __syncthreads();
    float sum = 0.0f;
    for (int j = 0; j < 64 && !stop[threadIdx.x]; j++) {
        sum += x[j + threadIdx.x];
        if (sum > 9.0f) stop[255 - threadIdx.x] = true;
    }
    y[threadIdx.x] = sum;
}
"""


def test_arrays_that_no_compiler_can_keep_in_registers_are_told_without_being_asked() -> None:
    report = explain([KernelFile("a.cu", "cuda", text=ARRAYS)], ExplainOptions(_settings(())))
    sure = {one.kernel: one.finding.certainty for one in report.findings if one.finding.rule == "MEM012"}
    assert {name: sure.get(name) for name in ("table", "ring", "picked", "given")} == {
        "table": "heuristic", "ring": "conditional", "picked": "conditional", "given": "heuristic",
    }  # fmt: skip


def test_a_flag_that_all_lanes_read_ends_their_loop_together() -> None:
    report = explain([KernelFile("a.cu", "cuda", text=LOOPS)], ExplainOptions(_settings(())))
    found = {one.kernel: one.finding.certainty for one in report.findings if one.finding.rule == "DIV003"}
    assert found == {"flag": "heuristic", "flags": "conditional"}


PADDED = """
__global__ void unpadded(float *a) { __shared__ float s[16][17]; int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = a[y * 16 + x]; __syncthreads(); a[y * 16 + x] = s[y][x]; }
__global__ void columns(float *a) { __shared__ float s[64][64]; int x = threadIdx.x;
    s[x][0] = a[x]; __syncthreads(); a[x] = s[x][0]; }
"""


def test_advice_about_rows_was_tried_on_the_addresses() -> None:
    kernels = (_launch("unpadded", "--block 16,16"), _launch("columns", "--block 64"))
    report = explain([KernelFile("p.cu", "cuda", text=PADDED)], ExplainOptions(_settings(kernels)))
    helps = {one.kernel: one.finding.help[0] for one in report.findings if one.finding.rule == "MEM010"}
    assert helps["unpadded"] == "rows of 64 bytes in place of 68 have no conflict: leave the padding out"
    assert (
        helps["columns"]
        == "lanes 260 bytes apart in place of 256 have no conflict: pad rows, or records, by one element"
    )
