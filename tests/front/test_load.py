from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.front.conftest import Load, found, function
from tests.sampling import one_in
from warpsmith.base.errors import InputError
from warpsmith.base.findings import render_finding
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import For, Verbatim, VerbatimExpr, While
from warpsmith.tree.walk import walk

GOOD = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; }\n"


def refusal(path: Path, options: FrontOptions | None = None) -> tuple[str, str]:
    with pytest.raises(InputError) as caught:
        load_program([str(path)], options or FrontOptions())
    assert "Traceback" not in str(caught.value)
    first = caught.value.findings[0]
    assert first.help
    return first.rule, first.message


@pytest.mark.parametrize("option", ["-I", "-isystem", "-iquote", "-idirafter"])
def test_options_whose_value_is_a_word_of_its_own_reach_the_parser(option: str, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "size.h").write_text("enum { N = 7 };\n")
    path = tmp_path / "case.c"
    path.write_text('#include "size.h"\ndouble a[N];\n' + GOOD)
    folder = str(tmp_path / "here")
    assert not load_program([str(path)], FrontOptions(arguments=(option, folder))).findings
    refusal(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "is empty"), (b" \n\t\n", "is empty"), (b"int x;\0\1", "is not a text file: it has zero bytes")],
)
def test_files_that_are_no_source(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "case.c"
    path.write_bytes(content)
    rule, message = refusal(path)
    assert rule == "INP001"
    assert said in message


def test_paths_that_are_no_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.c")[1].endswith("does not exist")
    assert refusal(tmp_path)[1].endswith("is a directory")
    (tmp_path / "case.f90").write_text("end")
    assert "says no language" in refusal(tmp_path / "case.f90")[1]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_read_permission(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(GOOD)
    path.chmod(0)
    assert "cannot be read" in refusal(path)[1]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("int f(void) { return y; }", "1:22", "`y` is not declared"),
        ("int f(void) { return 1 }", "1:23", "a `;` is missing after return statement"),
        ("real f(void);", "1:1", "`real` is not a type that is known here"),
        ("int f(int a) { return a +; }", "1:26", "a value is missing here, or something here does not belong"),
    ],
)
def test_syntax_errors_have_their_place_and_plain_words(load: Load, text: str, place: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load(text)
    first = caught.value.findings[0]
    assert (first.rule, first.message) == ("INP001", said)
    assert str(first.span).endswith(f"case.c:{place}")
    assert "^" in render_finding(first)


def test_a_missing_header_is_named_with_the_option_that_finds_it(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "there.h").write_text("typedef double real;\n")
    path = tmp_path / "case.c"
    path.write_text('#include "there.h"\n#include <nowhere.h>\nreal f(real x) { return x; }\n')
    with pytest.raises(InputError) as caught:
        load_program([str(path)], FrontOptions())
    first, second = caught.value.findings
    assert (first.rule, first.message) == ("INP002", "the header there.h is not found")
    assert first.help == (f"it is in {tmp_path}/include: add -I {tmp_path}/include",)
    assert second.help == ("name the folder that holds nowhere.h with -I DIR",)
    path.write_text('#include "there.h"\nreal f(real x) { return x; }\n')
    loaded = load_program([str(path)], FrontOptions(("-I", str(tmp_path / "include"))))
    assert [Path(h).name for h in loaded.program.units[0].headers] == ["there.h"]


def test_good_files_are_loaded_beside_bad_ones(tmp_path: Path) -> None:
    (tmp_path / "good.c").write_text(GOOD)
    (tmp_path / "bad.c").write_text("int f( {")
    paths = [str(tmp_path / name) for name in ("none.c", "bad.c", "good.c")]
    loaded = load_program(paths, FrontOptions())
    assert [f.symbol.name for _, f in loaded.program.functions()] == ["f"]
    assert {f.severity for f in loaded.findings} == {"error"}
    assert "does not exist" in loaded.findings[0].message


def test_options_reach_the_parser(load: Load) -> None:
    text = "#if defined(A) && !defined(__linux__)\nvoid f(int n) { int typeof = SIZE; }\n#endif\n"
    loaded = load(text, "-DA", "-D", "SIZE=3", "-U__linux__", "--std", "c99")
    assert function(loaded).symbol.name == "f"
    assert loaded.program.units[0].arguments == ("-DA", "-D", "SIZE=3", "-U__linux__", "--std", "c99")


def test_openmp_loops_stay_visible_whatever_the_options(load: Load) -> None:
    loaded = load(f"#include <omp.h>\n#pragma omp declare simd\n{GOOD}", "-fopenmp", "-O2")
    assert found(function(loaded), For)


def test_the_node_limit_is_stated(load: Load, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(GOOD)
    rule, message = refusal(path, FrontOptions(node_limit=20))
    assert (rule, "20 syntax tree nodes" in message) == ("INP003", True)
    path.write_text("/*" + " " * 10_000_000 + "*/\n" + GOOD)
    rule, message = refusal(path)
    assert (rule, "400,000 syntax tree nodes" in message) == ("INP003", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    one_in(
        2,
        [
            "return " + "+".join(["a"] * 5000) + ";",
            "{" * 200 + "a++;" + "}" * 200,
            "if (a) " * 2000 + "a++;",
            " else ".join(f"if (a == {i}) a = {i};" for i in range(400)),
        ],
    ),
    ids=["operators", "blocks", "ifs", "else-ifs"],
)
def test_deep_nesting_is_boxed_with_a_warning(load: Load, body: str) -> None:
    loaded = load(f"int f(int a) {{ {body} return 0; }}")
    assert {(f.rule, f.severity) for f in loaded.findings} == {("INP003", "warning")}
    boxes = [n for n in walk(function(loaded)) if isinstance(n, Verbatim | VerbatimExpr)]
    assert all("nested more than 150 deep" in make_opaque.reason for make_opaque in boxes)
    assert boxes


@pytest.mark.parametrize("body", ["{" * 500 + "}" * 500, "return " + "(" * 500 + "a" + ")" * 500 + ";"])
def test_nesting_beyond_the_parsers_own_limit_is_a_finding(load: Load, body: str) -> None:
    with pytest.raises(InputError) as caught:
        load(f"int f(int a) {{ {body} }}")
    (finding,) = caught.value.findings
    assert (finding.rule, finding.message) == ("INP003", "brackets are nested more than 256 deep")


def test_cxx_and_cuda_files_are_loaded_as_far_as_they_are_c(load: Load) -> None:
    loaded = load(
        "template <class T> T sq(T x) { return x * x; }\nclass C { int v; };\n"
        'extern "C" void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 0; }\n'
        "void g(int &r) { for (int i = 0; i < r; i++) r--; try { throw 1; } catch (...) {} auto h = [] { return 1; };"
        " }\n",
        name="case.cpp",
    )
    assert loaded.program.units[0].language == "c++"
    assert isinstance(function(loaded).body.statements[0], For)
    assert isinstance(function(loaded, "g").body.statements[0], While)
    loaded = load(
        "__global__ void k(int *a) { a[threadIdx.x] = 0; } void f(int *a) { k<<<1, 32>>>(a); }", name="case.cu"
    )
    (make_opaque,) = [n for n in walk(function(loaded)) if isinstance(n, VerbatimExpr)]
    assert (make_opaque.reason, make_opaque.calls, make_opaque.text) == ("a kernel launch", True, "k<<<1, 32>>>(a)")
