"""Text that several functions share: headers, and templates with several instances, ported in place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsmith.flows.porting import prepare
from warpsmith.flows.porting.plan import Written
from warpsmith.flows.porting.prepare import plan_port
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree import shared
from warpsmith.tree.text.additions import remove_additions

HEADER = """#pragma once
#include <vector>
namespace pix {
struct Pair { float a, b; };
template <typename T> class Image {
public:
    Image(int n, T fill) : data_(n, fill) {}
    void invert(T white)
    {
        for (std::size_t k = 0; k < data_.size(); k++)
            data_[k] = white - data_[k];
    }
    std::vector<T> &pixels() { return data_; }

private:
    std::vector<T> data_;
};
template <typename T, int N> void scale(T *restrict_, int n)
{
    for (int i = 0; i < n; i++)
        restrict_[i] = restrict_[i] * N;
}
inline void fill(double *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = i;
}
static inline void own(double *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = OFFSET + i;
}
template <typename T> void copy(T *to, const T *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}
}
"""
MAIN = """#define OFFSET 1
#include "image.hpp"
#include <cstdio>
void more(double *a, int n);
int main()
{
    pix::Image<float> a(10, 0.25f);
    pix::Image<unsigned char> b(9, 3);
    a.invert(1.0f);
    b.invert(255);
    pix::scale<float, 3>(a.pixels().data(), 10);
    pix::scale<unsigned char, 2>(b.pixels().data(), 9);
    double c[8];
    pix::Pair d[4] = {{1, 2}, {3, 4}}, e[4];
    pix::copy(e, d, 4);
    pix::fill(c, 8);
    more(c, 8);
    std::printf("%g %d %g %g\\n", a.pixels()[3], b.pixels()[2], c[5], e[1].b);
}
"""
MORE = """#define OFFSET 2
#include "image.hpp"
void more(double *a, int n)
{
    pix::Image<float> x(n, 1.0f);
    x.invert(2.0f);
    pix::scale<double, 3>(a, n);
    pix::own(a + 6, 2);
    pix::fill(a, n - 3);
}
"""


def _planned(folder: Path, standard: str = "-std=c++17") -> Written:
    for name, text in {"image.hpp": HEADER, "main.cpp": MAIN, "more.cpp": MORE}.items():
        (folder / name).write_text(text)
    sources = [Source(str(folder / name), (standard,), "c++") for name in ("main.cpp", "more.cpp")]
    facts = analyze(load_program(sources, FrontOptions()).program, PolyOptions())
    options = OffloadOptions()
    _, written = plan_port(Prepared(facts, facts), None, options, search=0, single_file=False, root=str(folder))
    return written


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return _planned(tmp_path_factory.mktemp("shared"))


def _header(written: Written) -> str:
    assert written.in_place is not None
    return next((f.text for f in written.in_place.changed if f.path == "image.hpp"), HEADER)


def test_every_instance_has_a_branch_of_its_own(written: Written) -> None:
    text = _header(written)
    assert remove_additions(text) == HEADER
    conditions = [line.strip() for line in text.splitlines() if "constexpr (" in line]
    floats, bytes_ = "std::is_same<T, float>::value", "std::is_same<T, unsigned char>::value"
    one_of = (
        floats, bytes_, f"{floats} && N == 3", f"{bytes_} && N == 2", "std::is_same<T, double>::value && N == 3",
    )  # fmt: skip
    assert conditions == [f"WARPSMITH_ONLY(if constexpr ({condition}))" for condition in one_of]
    # an instance that two files have is ported once; what means another thing in each file stays
    assert text.count("ws_pix_fill_k1(") == 1 and "ws_pix_own" not in text and "ws_pix_copy" not in text
    assert not any("image" in f.path for f in written.files if "kernels" in f.path)


def test_apart_from_the_project_no_shared_text_changes(written: Written) -> None:
    assert written.shared
    assert [f.path for f in written.files if f.text not in (MAIN, MORE)] == []


def test_an_older_standard_has_no_branches(tmp_path: Path) -> None:
    text = _header(_planned(tmp_path, "-std=c++14"))
    assert "constexpr" not in text and "ws_pix_fill_k1(" in text


def test_seeded_internal_linkage_taken_for_one_definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (prepare, shared):
        known = getattr(module, "is_shared", None)
        if known is not None:
            monkeypatch.setattr(module, "is_shared", lambda unit, f: not shared.is_own(unit, f) and f.instance == ())
    with pytest.raises(AssertionError):
        test_every_instance_has_a_branch_of_its_own(_planned(tmp_path))


@pytest.mark.slow
def test_built_with_and_without_it_runs_the_same(written: Written, tmp_path: Path) -> None:
    assert written.in_place is not None
    for file in written.in_place.files:
        (tmp_path / file.path).parent.mkdir(exist_ok=True)
        (tmp_path / file.path).write_text(file.text)
    for name, text in {"main.cpp": MAIN, "more.cpp": MORE}.items():
        (tmp_path / name).exists() or (tmp_path / name).write_text(text)
    compile_ = ["g++", "-std=c++17", "-w", "-c", "-DWARPSMITH", "main.cpp", "more.cpp"]
    subprocess.run(compile_, cwd=tmp_path, check=True)
    subprocess.run(["g++", "-std=c++17", "-w", "main.cpp", "more.cpp", "-o", "plain"], cwd=tmp_path, check=True)
    ran = subprocess.run(["./plain"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert ran.stdout == "2.25 504 8 4\n" or ran.stdout.startswith("2.25 ")
