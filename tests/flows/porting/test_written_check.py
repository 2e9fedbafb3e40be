"""Code that does not compile is not written: its loop stays, others are served, the reason names the construct."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.emit.files import OutputFile
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting import prepare, written_check
from warpsmith.flows.porting.plan import Written
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import Port

TWO = """\
double a[1000], b[1000];
void f(int n) {
    for (int i = 0; i < n; i++)
        a[i] = 2.0 * i;
}
void g(int n) {
    for (int i = 0; i < n; i++)
        b[i] = 3.0 * i;
    for (int j = 0; j < n; j++)
        b[j] += a[j] * 5.0;
}
"""


def _port(text: str, folder: Path, *, root: bool = False) -> PortResult:
    file = folder / "two.c"
    file.write_text(text)
    return port([str(file)], PortOptions(verify=False, root=str(folder) if root else None))


def _reasons(result: PortResult) -> dict[str, str]:
    assert result.plan is not None
    return {refusal.loop: refusal.reason.text for refusal in result.plan.refusals}


def _text(result: PortResult, suffix: str) -> str:
    return next(file.text for file in result.files if file.path.endswith(suffix))


@pytest.mark.parametrize("root", [False, True])
def test_what_compiles_is_written_whole(root: bool, tmp_path: Path) -> None:
    result = _port(TWO, tmp_path, root=root)
    assert not _reasons(result)
    assert _text(result, ".cu").count("__global__") == 3


def test_a_header_that_stays_includes_the_one_that_changes(tmp_path: Path) -> None:
    filling = "template <class T> void fill(T *p, int n) { for (int i = 0; i < n; i++) p[i] = T(2 * i); }"
    (tmp_path / "changed.hpp").write_text(f"#pragma once\n{filling}\n")
    (tmp_path / "stays.hpp").write_text('#pragma once\n#include "changed.hpp"\n')
    body = "{ fill(a, 1000); for (int k = 0; k < 1000; k++) a[k] += 1; return a[999] != 1999; }"
    main = f'#include "changed.hpp"\n#include "stays.hpp"\ndouble a[1000];\nint main() {body}\n'
    file = tmp_path / "main.cpp"
    file.write_text(main)
    result = port([str(file)], PortOptions(verify=False, root=str(tmp_path)))
    assert not _reasons(result) and result.in_place is not None
    assert "changed.hpp" in {made.path for made in result.in_place.files}


# what stands in a kernel file or a host file: seeded as if the printer had written it
SEEDED = {
    "a kernel": (".cu", "3.0 * i", "3.0 * i_lost", {"g/i"}, "`i_lost` is not declared"),
    "a launcher": (".cu", "ws_g_k2_kernel<<<", "ws_g_k2_lost<<<", {"g/j"}, "`ws_g_k2_lost`"),
    "all kernels": (".cu", "#include <stdio.h>", "lost stdio;", {"f/i", "g/i", "g/j"}, "`lost`"),
    "a call": (".c", "ws_f_1(", "ws_f_1(lost, ", {"f/i"}, "`lost` is not declared"),
    "a later call": (".c", "ws_g_1(", "ws_g_1(lost, ", {"g/i"}, "`lost` is not declared"),
    "a generated call": (".cu", "    ws_f_k1(a_gpu", "    ws_f_k1(a_lost", {"f/i"}, "`a_lost`"),
    "a fused token": (".cu", "a_gpu[j] * 5.0", "a_gpu[j]/*5.0", {"g/j"}, "does not compile"),
}
_QUICK = ("a later call", "a generated call", "a fused token")


@pytest.mark.parametrize("name", [n if n in _QUICK else pytest.param(n, marks=pytest.mark.slow) for n in SEEDED])
def test_a_loop_whose_text_is_refused_stays_and_the_others_are_served(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suffix, good, bad, lost, words = SEEDED[name]
    written = vars(prepare)["writable_port"]

    def seeded(prepared: Prepared, *arguments: object, **named: object) -> Written:
        made = written(prepared, *arguments, **named)
        names = {fragment.region for fragment in made.port.plan.fragments}
        broken = (
            OutputFile(f.path, f.text.replace(good, bad) if f.path.endswith(suffix) and lost <= names else f.text)
            for f in made.files
        )
        return Written(made.port, tuple(broken), made.reference, made.candidate, refused=made.refused)

    monkeypatch.setattr(prepare, "writable_port", seeded)
    result = _port(TWO, tmp_path)
    reasons = _reasons(result)
    assert set(reasons) == lost
    assert all(words in text for text in reasons.values())
    assert all(bad not in file.text for file in result.files)


def test_an_error_in_the_text_of_kernels_is_that_of_the_one_above_it(tmp_path: Path) -> None:
    result = _port(TWO, tmp_path)
    assert isinstance(result.ported, Port) and result.plan is not None
    text = _text(result, ".cu")
    for fragment in result.plan.fragments:
        place = text.index(f"{fragment.kernel.name}_kernel(")
        assert list(written_check._kernel_at(text, place, result.plan.fragments)) == [fragment]
    assert not written_check._kernel_at(text, 0, result.plan.fragments)


LOCAL = """\
void f(void) {
    enum { M = 100, K = 3 };
    enum color { RED, BLUE = 4 } c = BLUE;
    typedef float real;
    struct point { int x; enum color c; };
    struct point p[M];
    real r[M], z[M][K];
#define TWICE(v) ((v) * 2)
    for (int i = 0; i < M; i++) {
        p[i].x = TWICE(i);
        p[i].c = i % K;
        r[i] = p[i].x + c;
        for (int j = 0; j < K; j++)
            z[i][j] = r[i] + j;
    }
#undef TWICE
#define TWICE(v) ((v) + 2)
    for (int j = 0; j < M; j++)
        r[j] = TWICE(j) + sizeof(real) + z[j][1];
#undef TWICE
}
typedef double width;
void g(width *restrict v) {
    enum { M = 50 };
    for (int i = 0; i < M; i++)
        v[i] = M;
}
void h(float *restrict v, int n) {
    typedef float width;
    for (int k = 0; k < n; k++)
        v[k] = (width)k;
}
"""


def test_what_a_function_declares_reaches_its_kernels(tmp_path: Path) -> None:
    result = _port(LOCAL, tmp_path)
    text = _text(result, ".cu")
    assert set(_reasons(result)) == {"h/k"}
    assert "`width`, which is declared in this function, and otherwise elsewhere" in _reasons(result)["h/k"]
    assert text.count("__global__") == 3
    for definition in ("struct point { int x; enum color c; };", "typedef float real;", "typedef double width;"):
        assert text.count(definition) == 1
    assert "(*z_gpu)[3]" in text and "v_gpu[i] = 50" in text
    assert "j + 2" in text
    assert "TWICE" not in text
