"""Arrays for what vectors hold in themselves: filled anew, one a list, the copy on the device never older."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsmith.emit.carried import RuntimeNeeds, declarations, run_time
from warpsmith.emit.words import Support
from warpsmith.run.native.tools import cxx_compiler

NEEDS = RuntimeNeeds(allocations=True, rows=True, vectors=True)

# what runs on no device: the present table is not part of it, so that its one function is the test's own
DRIVER = r"""
#include <algorithm>
#include <vector>
#include <stdio.h>
static int bad, told;
static void want(const char *what, long long got, long long wanted)
{
    if (got != wanted)
        bad = 1, printf("%s: %lld, not %lld\n", what, got, wanted);
}
int main()
{
    std::vector<std::vector<double>> a(6, std::vector<double>(4, 1.0)), b(3);
    a[2].clear();
    a[2].shrink_to_fit();
    double **rows = ws_vector_rows(a.data(), a.size());
    for (size_t i = 0; i < a.size(); i++)
        want("a row", rows[i] == a[i].data(), 1);
    want("the same array", ws_vector_rows(a.data(), a.size()) == rows, 1);
    const long long *starts = ws_row_starts(rows, sizeof(double));
    want("rows have starts", starts != nullptr, 1);
    if (starts != nullptr)
        for (size_t i = 0; i < a.size(); i++)
            want("a start", a[i].empty() || (double *)ws_row_zero(starts) + starts[i] == a[i].data(), 1);
    a[1].resize(400);
    rows = ws_vector_rows(a.data(), a.size());
    want("a row that has moved", rows[1] == a[1].data(), 1);
    starts = ws_row_starts(rows, sizeof(double));
    want("has another start", starts != nullptr && (double *)ws_row_zero(starts) + starts[1] == a[1].data(), 1);
    const size_t *sizes = ws_vector_sizes(a.data(), a.size());
    want("a size", (long long)sizes[1], 400);
    want("no size", (long long)sizes[2], 0);
    a[2].push_back(1.0);
    want("one array for a list", ws_vector_sizes(a.data(), a.size()) == sizes, 1);
    want("a size that has changed", (long long)sizes[2], 1);
    std::vector<double> &last = a.back();
    const size_t *fewer = ws_vector_sizes(a.data(), 2);
    want("fewer vectors", fewer == sizes && fewer[1] == 400, 1);
    rows = ws_vector_rows(a.data(), 2);
    want("the others have no row", rows[2] == nullptr && rows[5] == nullptr && !last.empty(), 1);
    const std::vector<std::vector<double>> &fixed = b;
    const double **none = ws_vector_rows(fixed.data(), fixed.size());
    want("another list has another array", (void *)none != (void *)rows && none[0] == b[0].data(), 1);
    want("which has no start", ws_row_starts(none, sizeof(double)) == nullptr, 1);
    want("no vector at all", ws_vector_rows(a.data(), 0)[0] == nullptr, 1);
    std::vector<std::vector<int>> many;
    std::vector<int> odd[3] = {{1}, {2, 3}, {}};
    want("an array of vectors", (long long)ws_vector_sizes(odd, 3)[1], 2);
    many.reserve(100);
    many.resize(5);
    const void *before = ws_vector_rows(many.data(), many.size());
    many.resize(90);
    int **larger = ws_vector_rows(many.data(), many.size());
    want("a larger array", (void *)larger != before && larger[89] == nullptr, 1);
    many[89].assign(9, 7);
    larger = ws_vector_rows(many.data(), many.size());
    want("of all vectors", larger[89] == many[89].data(), 1);
    std::vector<std::vector<int>> other(5, std::vector<int>(1));
    want("the smaller one serves others", (void *)ws_vector_rows(other.data(), other.size()) == before, 1);
    static std::vector<int> lists[3000][1];
    std::vector<int **> arrays;
    for (auto &list : lists)
        arrays.push_back(ws_vector_rows(list, 1));
    std::sort(arrays.begin(), arrays.end());
    want("each list has its own", std::unique(arrays.begin(), arrays.end()) == arrays.end(), 1);
    printf(bad ? "" : "ok\n");
    return 0;
}
"""
BUGS: dict[str, tuple[str, str]] = {
    "rows beyond the last stay": ("((void **)rows->at)[i] = nullptr;", "(void)rows;"),
    "no array grows": ("count <= words->count)", "count < 1000)"),
    "all lists share one": ("list->vectors != vectors)", "false)"),
    "an array is lost when it grows": ("        ws_spare(*words);\n", "        (void)ws_spare;\n"),
    "rows stay as they were": ("rows[i] = list[i].data();", "rows[i] = rows[i] ? rows[i] : list[i].data();"),
    "sizes stay as they were": ("if (sizes[i] != list[i].size()) {", "if (sizes[i] > 1000) {"),
}


def _run(text: str, folder: Path) -> str:
    (folder / "vectors.cpp").write_text(text)
    command = [cxx_compiler(), "-std=c++11", "-O1", "-w", "-fno-builtin", "vectors.cpp", "-o", "vectors", "-lpthread"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([str(folder / "vectors")], capture_output=True, text=True, check=False, timeout=20)
    return done.stdout.strip() if done.returncode == 0 else f"ended with {done.returncode}"


def _text() -> str:
    parts = run_time(Support("ws"), NEEDS)
    text = parts.text
    # only the tables of the host
    start = text.index("/* The blocks of the heap by address")
    headers = (h for h in parts.headers if not h.startswith("cuda"))
    head = "".join(f"#include <{header}>\n" for header in (*headers, "stddef.h"))
    return head + text[start:] + declarations(Support("ws"), NEEDS) + DRIVER


def test_arrays_have_what_the_vectors_say(tmp_path: Path) -> None:
    assert _run(_text(), tmp_path) == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_wrong_arrays_are_seen(bug: str, tmp_path: Path) -> None:
    old, new = BUGS[bug]
    assert _text().count(old) == 1
    assert _run(_text().replace(old, new), tmp_path) != "ok"
