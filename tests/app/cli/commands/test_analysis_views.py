"""The views of `analyze` and `simulate`: grouped findings, pictures, every form; and what they take for granted."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

KERNELS = """\
#define AT(a, i) a[(i) * 64]
template <typename T>
__global__ void spread(T *out, const T *in)
{
    int t = threadIdx.x;
    out[t * 32] = AT(in, t);
    out[t * 32 + 1] = 0;
}
template __global__ void spread<float>(float *, const float *);
template __global__ void spread<int>(int *, const int *);

__global__ void tiled(float *out, const float *in, int n)
{
    __shared__ float tile[16][32];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * n + x];
    __syncthreads();
    out[y * n + x] = tile[x][y];
}

__global__ void joined(int *out, int n)
{
    int v;
    if (threadIdx.x < 5)
        v = 1;
    else
        v = 2;
    if (v > 1)
        out[threadIdx.x] = v + n;
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNELS)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run_guarded(warpsmith, [*arguments])
    return capsys.readouterr().out


def analyzed(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    return said(capsys, "analyze", "k.cu", "--isolated", *options)


def test_one_cause_is_told_once_and_what_costs_most_comes_first(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = analyzed(capsys)
    assert out.count("warning[MEM001]") == 1
    assert "k.cu:6:5: warning[MEM001] uncoalesced store to out: 32 sectors per warp request, 4 would do" in out
    assert "= kernels: spread<float>, spread<int>" in out
    assert "= also: the same, line 7" in out
    assert "= also: uncoalesced load of in: 32 sectors per warp request, 4 would do, line 6" in out
    # carets under what is accessed, not under the whole assignment; of a macro, under its use
    assert "    out[t * 32] = AT(in, t);\n  |     ^^^^^^^^^^^ 128 bytes between neighboring lanes" in out
    assert out.index("[MEM010]") < out.index("[MEM001]") < out.index("\nkernel ")
    full = analyzed(capsys, "--evidence", "full", "--sort", "line", "--group-by", "kernel")
    assert full.count("warning[MEM001]") == 6
    assert full.index("[MEM001]") < full.index("[MEM010]")
    assert "--- kernel spread<int>: 3 findings\n" in full


def test_a_block_that_nobody_said_is_one_that_the_kernel_can_have(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(analyzed(capsys, "--json"))
    blocks = {kernel["name"]: (kernel["block"], bool(kernel["assumed"])) for kernel in found["kernels"]}
    assert blocks["tiled"] == ([16, 16, 1], True)
    assert blocks["joined"] == ([256, 1, 1], True)
    assert not [one for one in found["findings"] if one["severity"] == "error"]
    # said, it is the user's error
    found = json.loads(analyzed(capsys, "--json", "--kernel", "tiled", "--block", "32,8"))
    wrong = [one for one in found["findings"] if one["severity"] == "error"]
    assert wrong
    assert {one["rule"] for one in wrong} <= {"MEM020", "SYN002"}


LAUNCHES = {
    "dim3 b(16, 4); K<<<1, b>>>(a);": [16, 4, 1],
    "dim3 b(16, 4), g(n / b.x); K<<<g, b>>>(a);": [16, 4, 1],
    "dim3 b; b.x = 32; K<<<1, b>>>(a);": [32, 1, 1],
    "dim3 b(16, 4); if (n) b = dim3(8, 8); K<<<1, b>>>(a);": None,
    "dim3 b(16, 4); set(b); K<<<1, b>>>(a);": None,
    "dim3 b(16, 4); for (; n; n--) { K<<<1, b>>>(a); b.x++; }": None,
    "int t = 64; if (n) t = 128; K<<<1, t>>>(a);": None,
}


def test_a_shape_that_may_be_several_is_not_known(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "void set(dim3 &d);\n"
    for number, host in enumerate(LAUNCHES):
        text += f"__global__ void k{number}(float *a) {{ a[threadIdx.x] = 1; }}\n"
        text += f"void f{number}(float *a, int n) {{ {host.replace('K', f'k{number}')} }}\n"
    Path("k.cu").write_text(text)
    found = json.loads(analyzed(capsys, "--json"))["kernels"]
    assert [None if kernel["assumed"] else kernel["block"] for kernel in found] == list(LAUNCHES.values())


def test_words_are_those_of_the_language(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.cl").write_text(
        "__kernel void a(__global int *out) { __local int s[64]; s[get_local_id(0)] = 1; out[0] = s[0]; }\n"
        "__kernel void b(__global int *out) { __local int s[64]; s[get_local_id(0)] = 1;\n"
        "  out[get_global_id(0) * 64] = s[2 * get_local_id(0)]; }\n"
    )
    found = json.loads(said(capsys, "analyze", "k.cl", "--isolated", "--block", "32", "--json"))
    text = json.dumps(found)
    assert "get_local_id(0)" in text
    assert not re.search(r"\b(tid|ctaid)\.x|threadIdx|\bs\.2\b|%value", text)
    assert {access["variable"] for access in found["accesses"]} == {"s", "out"}


def test_forms_for_machines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forms = ("github", "csv=k.csv", "junit=k.xml", "markdown=k.md")
    options = [word for form in forms for word in ("--format", form)]
    hub = analyzed(capsys, "--fail-on", "warning", *options).splitlines()
    assert hub[0].startswith("::warning file=k.cu,line=6,col=5,endLine=6,endColumn=15,title=MEM001 ")
    assert "%0Akernel: spread<float>, spread<int>" in hub[0]
    rows = list(csv.DictReader(io.StringIO(Path("k.csv").read_text())))
    assert [row["rule"] for row in rows if row["kernel"] == "tiled" and row["severity"] == "warning"] == ["MEM010"] * 2
    tree = ElementTree.fromstring(Path("k.xml").read_bytes())
    cases = {one.get("name"): [bad.get("type") for bad in one.iter("failure")] for one in tree.iter("testcase")}
    assert cases == {
        "spread<float>": ["MEM001"] * 3,
        "spread<int>": ["MEM001"] * 3,
        "tiled": ["MEM010"] * 2,
        "joined": [],
    }
    assert tree.get("failures") == "8"
    marks = Path("k.md").read_text()
    assert "- **warning** `MEM010` `k.cu:18` shared-memory bank conflict" in marks
    assert "| `tiled` | a100 | 16x16? |" in marks


def test_sarif_names_families_and_weaknesses_and_keeps_its_fingerprints(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--format", "sarif", "--block", "32,8")
    (run,) = json.loads(analyzed(capsys, *options))["runs"]
    taxa = {one["name"]: [taxon["id"] for taxon in one["taxa"]] for one in run["taxonomies"]}
    assert {"MEM"} <= set(taxa["warpsmith"])
    assert set(taxa["CWE"]) <= {"119", "362"}
    marks = [one["partialFingerprints"] for one in run["results"]]
    Path("k.cu").write_text("\n// moved\n\n" + KERNELS.replace("    int t =", "\n    int t ="))
    (moved,) = json.loads(analyzed(capsys, *options))["runs"]
    assert sorted(map(str, marks)) == sorted(str(one["partialFingerprints"]) for one in moved["results"])
    assert len(set(map(str, marks))) == len(marks)


# --- pictures


def test_a_page_has_lines_and_graphs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = analyzed(capsys, "--format", "html")
    rows = dict(re.findall(r'<tr><td class="n number">(\d+)</td>(.*?)</tr>', page, re.DOTALL))
    assert '<td class="heat h4">32/4</td>' in rows["6"]
    assert '<td class="heat h4">16-way</td>' in rows["18"]
    assert '<td class="heat h4">lanes part</td>' in rows["24"]
    assert "2 banks touched" in page
    pictures = re.findall(r'<svg[^>]*class="diagram".*?</svg>', page, re.DOTALL)
    control, data, gated = (one for one in pictures if " of joined:" in one)
    assert control.count(">lanes part</text>") == 1
    assert control.count(">lanes meet again; lanes part</text>") == 1
    # v is one of two constants: by data alone it does not follow from the thread, by the way a thread came it does
    assert _marked(data) == {"threadIdx.x", "threadIdx.x &lt; 5"}
    assert _marked(gated) == {"threadIdx.x", "threadIdx.x &lt; 5", "φ v", "v &gt; 1"}
    assert (data.count('class="predicate"'), gated.count('class="predicate"')) == (0, 1)
    assert not _ASKS.search(page)


_ASKS = re.compile(r"(?:src|href)=|url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)")


def _marked(picture: str) -> set[str]:
    groups = re.findall(r'<g class="node divergent">(.*?)</g>', picture)
    return {re.findall(r">([^<]+)</text>", group)[0] for group in groups}


def test_a_run_is_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ("simulate", "k.cu", "--kernel", "joined", "--block", "64", "--arg", "n=1", "--arg", "out=zeros:i32[64]")
    text = said(capsys, *run, "--timeline", "html=run.html")
    assert "branches that part warps" in text
    page = Path("run.html").read_text()
    assert 'class="part"><title>lanes 5 to 31</title>' in page
    assert not _ASKS.search(page)
    assert said(capsys, *run, "--timeline", "svg").startswith("<svg ")
    trace = json.loads(said(capsys, *run, "--timeline", "perfetto"))["traceEvents"]
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for event in trace:
        if event["ph"] == "X":
            tracks.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    assert set(tracks) == {(0, 0), (0, 1)}
    assert all(before[1] == after[0] for track in tracks.values() for before, after in pairwise(track))
    masks = {event["args"]["mask"] for event in trace if event["ph"] == "X"}
    assert masks >= {"0x0000001f", "0xffffffe0", "0xffffffff"}
