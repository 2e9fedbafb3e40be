"""`warpsmith analyze` and its neighbors: every form, every exit code, broken input, and what silences findings."""

from __future__ import annotations

import io
import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.report.port.json import schema
from warpsmith.run.native import ptxas

PTX = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry scattered(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 64;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
.visible .entry fine(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
"""
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "k.ptx").write_text(PTX)
    return tmp_path


def run(*arguments: str) -> int:
    return run_guarded(warpsmith, arguments)


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, list[dict[str, object]]]]:
    code = run("analyze", *arguments, "--json")
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema())
    return code, found


def codes(found: dict[str, list[dict[str, object]]]) -> list[object]:
    return [finding["rule"] for finding in found.get("findings", [])]


# --- the faces


def test_text_shows_the_line_the_evidence_and_the_kernels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analyze", "k.ptx", "--block", "64") == 0
    out = capsys.readouterr().out
    assert "k.ptx:13:5: warning[MEM001] uncoalesced store to out: 32 sectors per warp request, 4 would do" in out
    assert "13 |     st.global.u32 [%rd4], %r1;" in out
    assert "   |     ^^^^^^^^^^^^^^^^^^^^^^^^^" in out
    assert "lane 0: byte +0, sector 0; lane 1: byte +64, sector 2" in out
    assert "not a measurement" in out
    assert "Found 1 warning in 2 kernels" in out
    assert out.index("certainty:") < out.index("help:") < out.index("kernel ")
    assert any(line.split()[:4] == ["fine", "a100", "64", "8*"] for line in out.splitlines())


def test_every_form_at_once_one_run_many_outputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forms = ["text=t.txt", "json=t.json", "jsonl=t.jsonl", "sarif=t.sarif", "html=t.html", "concise"]
    assert run("analyze", "k.ptx", "--block", "64", *(word for form in forms for word in ("--format", form))) == 0
    assert capsys.readouterr().out.startswith("k.ptx:13:5: MEM001 warning ")
    jsonschema.validate(json.loads(Path("t.json").read_text()), schema())
    parts = json.loads((Path(__file__).parents[3] / "report" / "sarif_parts.json").read_text())
    log = json.loads(Path("t.sarif").read_text())
    jsonschema.validate(log, parts)
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "k.ptx", "uriBaseId": "ROOT"}
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 13
    lines = [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]
    assert [line["type"] for line in lines] == ["kernel", "kernel", "finding", "end"]
    assert result["partialFingerprints"]["warpsmith/v1"] == lines[2]["fingerprint"]
    assert "warning[MEM001]" in Path("t.txt").read_text()


class _Page(HTMLParser):
    """Notes what a page asks for, and its open tags."""

    def __init__(self) -> None:
        super().__init__()
        self.asks: list[str] = []
        self.open: list[str] = []
        self.articles = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.asks += [f"{tag} {name}={value}" for name, value in attrs if name in ("src", "href", "action", "data")]
        self.articles += tag == "article"
        if tag not in ("meta", "link", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_one_file_that_asks_nobody(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.ptx").write_text(PTX.replace("st.global.u32 [%rd4], %r1;", "st.global.u32 [%rd4], %r1; // <b>&"))
    assert run("analyze", "k.ptx", "--block", "64", "--format", "html") == 0
    out = capsys.readouterr().out
    page = _Page()
    page.feed(out)
    assert not page.asks
    assert not page.open
    assert page.articles == 1
    assert "default-src 'none'" in out
    assert "<mark>st.global.u32 [%rd4], %r1</mark>;" in out
    assert "// &lt;b&gt;&amp;" in out
    assert out.count('class="on"') == 32
    assert "lanes 0 to 31 from left to right; 32 sectors touched" in out


# --- which findings


@pytest.mark.parametrize(
    ("options", "code", "rules"),
    [
        ((), 0, ["MEM001"]),
        (("--fail-on", "warning"), 1, ["MEM001"]),
        (("--fail-on", "never"), 0, ["MEM001"]),
        (("--ignore", "MEM"), 0, []),
        (("--ignore", "MEM", "--extend-select", "MEM001"), 0, ["MEM001"]),
        (("--select", "DIV,SYN"), 0, []),
        (("--select", "uncoalesced-global-access"), 0, ["MEM001"]),
        (("--kernel", "fine"), 0, []),
        (("--kernel", "sca*"), 0, ["MEM001"]),
        (("--block", "1024,2", "--kernel", "fine", "--select", "OCC"), 1, ["OCC004"]),
    ],
)
def test_what_is_selected(
    folder: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], code: int, rules: list[str]
) -> None:
    block = () if "--block" in options else ("--block", "64")
    found_code, found = document(capsys, "k.ptx", *block, *options)
    assert (found_code, codes(found)) == (code, rules)


def test_several_devices_are_told_once_where_they_agree(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = document(capsys, "k.ptx", "--block", "64", "--device", "sm_80", "--device", "h100")
    assert [finding["devices"] for finding in found["findings"]] == [["a100", "h100"]]
    assert [kernel["device"] for kernel in found["kernels"]] == ["a100", "h100", "a100", "h100"]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--kernel", "scatered"), "did you mean 'scattered'?"),
        (("--arg", "m=3"), "no kernel has a parameter called 'm'"),
        (("--arg", "n"), "--arg takes NAME=NUMBER"),
        (("--assume", "n is even"), "not of a form that is known"),
        (("--block", "0"), "--block takes one to three numbers"),
        (("--device", "sm_08"), "there is no device 'sm_08'"),
        (("--select", "MEN001"), "did you mean MEM0"),
        (("--format", "yaml"), "no format is called 'yaml'"),
        (("--format", "json", "--format", "sarif"), "several formats for one output"),
        (("--blok", "3"), "--block"),
        (("--baseline", "none.json"), "cannot be read"),
    ],
)
def test_what_was_mistyped_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], word: str
) -> None:
    assert run("analyze", "k.ptx", *options) == 2
    assert word in capsys.readouterr().err


def test_standard_input_has_a_name(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PTX.encode())))
    assert run("analyze", "-", "--stdin-filename", "pipe.ptx", "--block", "64", "--format", "concise") == 0
    assert capsys.readouterr().out.startswith("pipe.ptx:13:5: MEM001")


# --- PTX alone

_LOADS = """\
    ld.global.f32 %f1, [%rd2];
    ld.global.f32 %f2, [%rd2];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd2], %f3;
"""
_CALL = """\
    { .param .b32 p; st.param.b32 [p], %r1; .param .b32 q; call.uni (q), helper, (p); ld.param.b32 %r2, [q]; }
    st.global.u32 [%rd2], %r2;
"""
_LOCAL = """\
    mul.wide.u32 %rd3, %r1, 4;
    mov.u64 %rd4, depot;
    add.s64 %rd5, %rd4, %rd3;
    st.local.u32 [%rd5], %r1;
    ld.local.u32 %r2, [depot+4];
    st.global.u32 [%rd2], %r2;
"""
_SWITCH = """\
    ld.global.u32 %r2, [%rd2];
    T: .branchtargets A, B, C;
    brx.idx %r2, T;
    A: st.global.u32 [%rd2], 1; bra E;
    B: st.global.u32 [%rd2+4], 2; bra E;
    C: st.global.u32 [%rd2+8], 3;
    E:
"""
_MASKED = """\
    and.b32 %r2, %r1, 7;
    setp.ne.u32 %p1, %r2, 0;
    mov.b32 %r3, 0;
    @%p1 bra E;
    shfl.sync.down.b32 %r3, %r1, 1, 31, 0xffffffff;
    E:
    st.global.u32 [%rd2], %r3;
"""


@pytest.mark.parametrize(
    ("body", "rule", "certainty"),
    [
        (_LOADS, "MEM006", "proven"),
        (_CALL, "OCC007", "proven"),
        (_LOCAL, "MEM012", "proven"),
        (_SWITCH, "DIV006", "conditional"),
        (_MASKED, "SYN005", "proven"),
    ],
)
def test_what_only_ptx_has(
    folder: Path, capsys: pytest.CaptureFixture[str], body: str, rule: str, certainty: str
) -> None:
    text = f"""{HEAD}
.func (.param .b32 r) helper(.param .b32 x) {{ .reg .b32 %a; ld.param.b32 %a, [x]; st.param.b32 [r], %a; ret; }}
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p<3>; .reg .b32 %r<5>; .reg .f32 %f<5>; .reg .b64 %rd<8>; .local .align 4 .b8 depot[512];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd7, %r1, 4;
    cvta.to.global.u64 %rd2, %rd1;
    add.s64 %rd2, %rd2, %rd7;
{body}
    ret;
}}
"""
    Path("one.ptx").write_text(text)
    _, found = document(capsys, "one.ptx", "--block", "64", "--select", rule)
    assert not found["diagnostics"]
    assert [(one["rule"], one["certainty"]) for one in found["findings"]] == [(rule, certainty)]


_PTXAS = """#!/bin/sh
echo "ptxas info    : Compiling entry function 'scattered' for 'sm_80'" >&2
echo "    48 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads" >&2
echo "ptxas info    : Used 200 registers, 16 bytes smem, 364 bytes cmem[0]" >&2
echo "ptxas info    : Compiling entry function 'fine' for 'sm_80'" >&2
echo "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" >&2
echo "ptxas info    : Used 10 registers, 360 bytes cmem[0]" >&2
"""


def test_registers_are_exact_where_ptxas_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "ptxas").write_text(_PTXAS)
    (folder / "bin" / "ptxas").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    _, found = document(capsys, "k.ptx", "--block", "256", "--ptxas", "--select", "OCC")
    assert codes(found) == ["OCC001", "OCC005", "OCC006"]
    assert [one["certainty"] for one in found["findings"]] == ["proven"] * 3
    resources = [kernel["resources"] for kernel in found["kernels"]]
    assert [(one["registers"], one["spill_bytes"], one["source"]) for one in resources] == [  # type: ignore[index]
        (200, 32, "ptxas"), (10, 0, "ptxas"),
    ]  # fmt: skip
    monkeypatch.setattr(ptxas, "find_tool", lambda name: None)
    _, found = document(capsys, "k.ptx", "--block", "256", "--ptxas", "--select", "OCC")
    assert codes(found) == []
    assert "ptxas is not installed" in str(found["diagnostics"][0]["message"])


# --- input that is broken


def test_one_bad_file_of_two_is_incomplete_and_the_other_is_served(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.ptx").write_text("")
    code, found = document(capsys, "k.ptx", "empty.ptx", "missing.ptx", "--block", "64")
    assert str(found["status"]) == "incomplete"
    assert (code, codes(found)) == (3, ["MEM001"])
    assert len(found["diagnostics"]) == 2
    assert document(capsys, "k.ptx", "empty.ptx", "--block", "64", "--fail-on", "warning")[0] == 1
    assert document(capsys, "k.ptx", "empty.ptx", "--block", "64", "--allow-incomplete")[0] == 0


def test_a_folder_is_searched_and_an_empty_one_is_no_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "src" / "deep").mkdir(parents=True)
    assert document(capsys, "src")[0] == 0
    assert run("analyze", "src", "--require-input") == 2
    (folder / "src" / "deep" / "k.ptx").write_text(PTX)
    capsys.readouterr()
    assert codes(document(capsys, "src", "--block", "64")[1]) == ["MEM001"]


def test_an_error_of_ours_leaves_the_other_kernels(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(facts: KernelFacts) -> object:
        if facts.kernel == "fine":
            raise ZeroDivisionError
        return judge(facts)

    monkeypatch.setattr("warpsmith.flows.explaining.explain_file.judge", broken)
    code, found = document(capsys, "k.ptx", "--block", "64")
    assert (code, codes(found)) == (70, ["MEM001"])
    assert "fine cannot be analyzed" in str(found["diagnostics"][0]["message"])


def test_a_kernel_that_takes_too_long_is_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(facts: KernelFacts) -> object:
        while True:
            pass

    monkeypatch.setattr("warpsmith.flows.explaining.explain_file.judge", endless)
    code, found = document(capsys, "k.ptx", "--kernel", "fine", "--timeout", "0.2")
    assert code == 124
    assert "took longer than 0.2 s" in str(found["diagnostics"][0]["message"])


# --- what silences findings


def _commented(comment: str, line: str = "    st.global.u32") -> str:
    return PTX.replace(line, f"    // warpsmith: {comment}\n{line}", 1)


@pytest.mark.parametrize(
    ("text", "shown", "why"),
    [
        (_commented("ignore[MEM001] rows are short"), [], "rows are short"),
        (_commented("ignore[MEM] rows are short"), [], "rows are short"),
        (_commented("ignore[uncoalesced-global-access] so"), [], "so"),
        (_commented("ignore[MEM001]"), ["SUP002"], ""),
        (_commented("ignore[DIV001] why not"), ["SUP001", "MEM001"], None),
        (_commented("ignore[MEM0O1] typo"), ["SUP001", "MEM001"], None),
        (_commented("ignore-kernel[MEM001] old", ".visible .entry"), [], "old"),
        (PTX.replace(".visible .entry fine", "// warpsmith: ignore-kernel[MEM001] x\n.visible .entry fine"),
         ["MEM001", "SUP001"], None),
        ("/* warpsmith: ignore-file[ALL] generated */\n" + PTX, [], "generated"),
        (PTX.replace("%r1;\n    ret", "%r1; // warpsmith: ignore[MEM001] here\n    ret", 1), [], "here"),
        (PTX.replace("    mov", "    // warpsmith: ignore[MEM001] too far\n    mov", 1), ["SUP001", "MEM001"], None),
    ],
)  # fmt: skip
def test_suppressions(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, shown: list[str], why: str | None
) -> None:
    Path("k.ptx").write_text(text)
    _, found = document(capsys, "k.ptx", "--block", "64", "--show-suppressed")
    assert codes(found) == shown
    kept = found.get("kept_back", [])
    assert [one["hidden"] for one in kept] == ([] if why is None else [{"by": "suppressed", "reason": why}])


def test_a_comment_is_of_no_use_only_where_its_rules_were_looked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("k.ptx").write_text(_commented("ignore[DIV001] why not", ".visible .entry"))
    assert "SUP001" in codes(document(capsys, "k.ptx", "--block", "64")[1])
    assert codes(document(capsys, "k.ptx", "--block", "64", "--select", "SUP")[1]) == []
    assert codes(document(capsys, "k.ptx", "--block", "64", "--kernel", "fine")[1]) == []
    for ignored in ("ALL", "DIV", "SUP"):
        Path("warpsmith.toml").write_text(f'[per-file-ignores]\n"*.ptx" = ["{ignored}"]\n')
        assert "SUP001" not in codes(document(capsys, "k.ptx", "--block", "64")[1])


def test_a_baseline_survives_moved_lines_and_other_registers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("baseline", "write", "k.ptx", "--block", "64") == 0
    assert run("baseline", "check", "k.ptx", "--block", "64") == 0
    moved = PTX.replace(".visible", "// a comment\n\n.visible").replace("%rd4", "%rd5").replace("<5>", "<9>")
    Path("k.ptx").write_text(moved)
    capsys.readouterr()
    assert run("baseline", "check", "k.ptx", "--block", "64") == 0
    assert "0 new findings, 1 known" in capsys.readouterr().out
    arguments = ("k.ptx", "--block", "64", "--baseline", "warpsmith-baseline.json", "--fail-on", "warning")
    assert document(capsys, *arguments)[0] == 0
    assert document(capsys, *arguments, "--no-baseline")[0] == 1
    Path("k.ptx").write_text(moved.replace("mul.wide.u32 %rd3, %r1, 4;", "mul.wide.u32 %rd3, %r1, 128;"))
    assert run("baseline", "check", "k.ptx", "--block", "64") == 1
    assert "fine" in capsys.readouterr().out
    Path("k.ptx").write_text(moved.replace("64;", "4;"))
    _, found = document(capsys, *arguments)
    assert codes(found) == ["BAS001"]
    assert run("baseline", "prune", "k.ptx", "--block", "64") == 0
    capsys.readouterr()
    assert run("baseline", "show") == 0
    assert capsys.readouterr().out == "warpsmith-baseline.json: 0 findings\n"


def test_a_broken_baseline_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.json").write_text("{}")
    code, found = document(capsys, "k.ptx", "--baseline", "b.json")
    assert code == 2
    assert "is not a baseline" in str(found["diagnostics"][0]["message"])


# --- configuration


def test_the_file_says_how_kernels_are_launched_and_what_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("warpsmith.toml").write_text(
        'fail-on = "note"\n[rules.severity]\nMEM001 = "error"\n[kernels."sca*"]\nblock = [100]\n'
        '[per-file-ignores]\n"gen/**" = ["ALL"]\n'
    )
    code, found = document(capsys, "k.ptx", "--kernel", "scattered")
    assert (code, codes(found)) == (1, ["OCC002", "MEM001"])
    assert found["findings"][1]["severity"] == "error"
    assert document(capsys, "k.ptx", "--kernel", "scattered", "--block", "64", "--fail-on", "never")[0] == 0
    Path("gen").mkdir()
    Path("gen/k.ptx").write_text(PTX)
    assert codes(document(capsys, "gen")[1]) == []
    assert codes(document(capsys, "gen", "--isolated")[1]) == ["MEM001"]


def test_config_shows_where_a_value_comes_from(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("config", "init") == 0
    assert run("config", "init") == 2
    monkeypatch.setenv("WARPSMITH_MIN_CERTAINTY", "proven")
    capsys.readouterr()
    assert run("config", "show", "--origin") == 0
    out = capsys.readouterr().out
    assert 'min-certainty = "proven"    # WARPSMITH_MIN_CERTAINTY' in out
    assert f'fail-on = "error"    # {folder}/warpsmith.toml' in out
    assert run("config", "schema") == 0
    assert "min-certainty" in capsys.readouterr().out


def test_rules_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rules") == 0
    out = capsys.readouterr().out
    assert all(family in out for family in ("DIV001", "MEM001", "SYN001", "OCC001", "ARI001"))
    assert "POR001" not in out
    assert run("rules", "MEM", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema())
    assert {rule["code"][:3] for rule in found["rules"]} == {"MEM"}
    assert run("explain", "MEM001") == 0
    page = capsys.readouterr().out
    assert "How to silence" in page
    assert "For example" in page
    assert run("rules", "XYZ") == 2


def test_a_chain_leads_from_the_condition_to_its_source(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "chain.cu").write_text(
        "__global__ void chain(int *out, const int *in)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    int last = in[i];\n    for (int k = 0; k < last; k++)\n        out[i] += k;\n}\n"
    )
    run_guarded(warpsmith, ["analyze", "chain.cu", "--block", "64", "--isolated", "--select", "DIV003"])
    (because,) = [line for line in capsys.readouterr().out.splitlines() if "because" in line]
    steps = because.split(": ", 1)[1].split(" <- ")
    assert steps[0] == "`k < last` (line 5)"
    assert "`in[i]` (line 4)" in steps
    assert steps[-1] == "`threadIdx.x` (line 3)"


TURNED = """__global__ void turned(int n, const float *a, float *b) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) b[j * n + i] = a[i * n + j];
}
"""
LAUNCHED = ("--arg", "n=1024", "--block", "32,8", "--grid", "32,128", "--device", "v100")


def test_times_are_predicted_where_they_are_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.cu").write_text(TURNED)
    run("analyze", "t.cu", *LAUNCHED, "--metrics", "--what-if", "blocks")
    out = capsys.readouterr().out
    assert "predicted time" in out and "counts are exact" in out
    assert "turned (v100): other blocks" in out and "32x8 (as launched)" in out
    run("analyze", "t.cu", *LAUNCHED)
    assert "predicted" not in capsys.readouterr().out


def test_predicted_times_are_in_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.cu").write_text(TURNED)
    found = [document(capsys, "t.cu", *more, "--metrics")[1]["kernels"][0]["predicted"] for more in (LAUNCHED, ())]
    known, lacking = (dict(one) for one in found if isinstance(one, dict))
    assert known["label"] == "predicted" and known["exact"] and known["seconds"] > 0
    assert lacking["lacks"] == ["the grid (--grid)"] and "seconds" not in lacking
