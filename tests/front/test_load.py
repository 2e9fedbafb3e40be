from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.front.conftest import Load, found, function
from warpsmith.base.errors import InputError
from warpsmith.base.findings import render_finding
from warpsmith.front.clang import process
from warpsmith.front.clang.wire import Dump
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import For, GlobalDecl, Name, Other, Verbatim, VerbatimExpr, While
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


def test_a_crash_of_the_worker_is_a_finding_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in worker answers nothing and dies by a signal where a file is called crash.c."""
    real = process.worker_command()
    code = (
        "import marshal, os\n"
        "given = marshal.loads\n"
        "def loads(data):\n"
        "    if 'crash.c' in str(given(data)): os.kill(os.getpid(), 11)\n"
        "    return given(data)\n"
        "marshal.loads = loads\n" + real[-1]
    )
    monkeypatch.setattr(process, "worker_command", lambda: [*real[:-1], code])
    for name in ("crash.c", "good.c"):
        (tmp_path / name).write_text(GOOD)
    loaded = load_program([str(tmp_path / "crash.c"), str(tmp_path / "good.c")], FrontOptions())
    assert [Path(unit.file.path).name for unit in loaded.program.units] == ["good.c"]
    (finding,) = loaded.findings
    assert finding.rule == "INP004"
    assert "the parser crashed on" in finding.message
    assert "signal 11" in finding.message


def test_the_worker_is_kept_while_it_sees_what_we_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are those of the folder that we are in, and headers those that the environment names."""
    for name in ("one", "two"):
        (tmp_path / name / "include").mkdir(parents=True)
        (tmp_path / name / "case.c").write_text(f'#include "own.h"\n{GOOD.replace(" f(", f" {name}(")}')
        (tmp_path / name / "include" / "own.h").write_text("")
    workers = set()
    for name in ("one", "two"):
        monkeypatch.chdir(tmp_path / name)
        monkeypatch.setenv("CPATH", str(tmp_path / name / "include"))
        for _ in range(2):
            loaded = load_program(["case.c"], FrontOptions())
            assert function(loaded, name).symbol.name == name
            assert loaded.program.units[0].headers == (str(tmp_path / name / "include" / "own.h"),)
            worker = process._parser()._worker
            assert worker is not None
            workers.add(worker._process.pid)
    assert len(workers) == 2


def test_a_worker_that_was_ended_while_it_waited_crashed_on_nothing(load: Load) -> None:
    load(GOOD)
    worker = process._parser()._worker
    assert worker is not None
    worker._process.kill()
    worker._process.wait()
    assert function(load(GOOD)).symbol.name == "f"


def test_an_answer_that_came_too_late_is_not_that_to_the_next_question(tmp_path: Path) -> None:
    path = tmp_path / "case.c"

    def asked(text: str, seconds: float) -> Dump | process.Failed:
        path.write_text(text)
        (answer,) = process.parse_files([(str(path), ["-x", "c"], None, 1_000_000, False)], seconds)
        return answer

    assert isinstance(asked(GOOD, 60), Dump)
    long = "".join(GOOD.replace(" f(", f" f{number}(") for number in range(10_000))
    assert asked(long, 0.02) == process.Failed("time-out")
    answer = asked(GOOD.replace(" f(", " g("), 60)
    assert isinstance(answer, Dump)
    assert [row[1] for row in answer.declared if row[1] in ("f", "g", "f0")] == ["g"]


def test_what_the_parser_really_crashes_on_is_a_finding(load: Load) -> None:
    with pytest.raises(InputError) as caught:
        load("int f(int a) { return " + "- " * 100_000 + "a; }")
    assert caught.value.findings[0].rule == "INP004"


def test_a_worker_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "worker_command", lambda: [sys.executable, "-c", "import time; time.sleep(60)"])
    path = tmp_path / "case.c"
    path.write_text(GOOD)
    rule, message = refusal(path, FrontOptions(timeout_s=0.3))
    assert rule == "INP009"
    assert message.endswith("was not parsed within 0.3 s")


def test_the_node_limit_is_stated(load: Load, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(GOOD)
    rule, message = refusal(path, FrontOptions(node_limit=20))
    assert (rule, "20 syntax tree nodes" in message) == ("INP003", True)
    path.write_text("/*" + " " * 10_000_000 + "*/\n" + GOOD)
    rule, message = refusal(path)
    assert (rule, "400,000 syntax tree nodes" in message) == ("INP003", True)


@pytest.mark.parametrize(
    "body",
    [
        "return " + "+".join(["a"] * 5000) + ";",
        "{" * 200 + "a++;" + "}" * 200,
        "if (a) " * 2000 + "a++;",
        " else ".join(f"if (a == {i}) a = {i};" for i in range(400)),
    ],
    ids=["operators", "blocks", "ifs", "else-ifs"],
)
def test_deep_nesting_is_boxed_with_a_warning(load: Load, body: str) -> None:
    loaded = load(f"int f(int a) {{ {body} return 0; }}")
    assert {(f.rule, f.severity) for f in loaded.findings} == {("INP003", "warning")}
    boxes = [n for n in walk(function(loaded)) if isinstance(n, Verbatim | VerbatimExpr)]
    assert all("nested more than 150 deep" in box.reason for box in boxes)
    assert boxes


@pytest.mark.parametrize("body", ["{" * 500 + "}" * 500, "return " + "(" * 500 + "a" + ")" * 500 + ";"])
def test_nesting_beyond_the_parsers_own_limit_is_a_finding(load: Load, body: str) -> None:
    with pytest.raises(InputError) as caught:
        load(f"int f(int a) {{ {body} }}")
    (finding,) = caught.value.findings
    assert (finding.rule, finding.message) == ("INP003", "brackets are nested more than 256 deep")


def test_several_files_are_one_program(tmp_path: Path) -> None:
    (tmp_path / "shared.h").write_text("extern double table[];\nstatic int twice(int x) { return 2 * x; }\n")
    start = '#include "shared.h"\nstatic int help(void) { return 1; }\nstatic int k;\n'
    (tmp_path / "a.c").write_text(
        f"{start}double table[8];\nint f(void) {{ table[0] = 1; return help() + k + twice(k); }}\n"
    )
    (tmp_path / "b.c").write_text(f"{start}int f(void); int g(void) {{ table[1] = 2; return help() + f() + k; }}\n")
    program = load_program([str(tmp_path / "a.c"), str(tmp_path / "b.c")], FrontOptions()).program
    functions = [(f.symbol.name, f.static) for _, f in program.functions()]
    assert functions == [("twice", True), ("help", True), ("f", False), ("twice", True), ("help", True), ("g", False)]
    used = [
        {n.symbol.name: n.symbol for n in walk(unit.functions[-1]) if isinstance(n, Name)} for unit in program.units
    ]
    assert used[0]["table"] == used[1]["table"]
    assert used[0]["table"].key == "table"
    assert used[0]["help"] != used[1]["help"]
    assert used[0]["k"] != used[1]["k"]
    assert used[1]["f"] == program.units[0].functions[-1].symbol
    # One SourceFile a file, also for the header that both include.
    headers = [unit.functions[0].span.file for unit in program.units]
    assert headers[0] is headers[1]
    for unit in program.units:
        main = [n.span.file for function in unit.functions[1:] for n in walk(function)]
        assert all(file is unit.file for file in main)


def test_a_header_that_is_included_twice_has_the_right_places_both_times(tmp_path: Path) -> None:
    (tmp_path / "more.h").write_text("/* more */ static double table_of_more[4];\n")
    body = "static void NAME(int n, double *a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = N;\n}\n"
    header = f'#include "more.h"\n{body}'
    (tmp_path / "body.h").write_text(header)
    path = tmp_path / "case.c"
    path.write_text(
        '#define N 1\n#define NAME first\n#define table_of_more more1\n#include "body.h"\n#undef NAME\n'
        '#define NAME second\n#undef table_of_more\n#define table_of_more more2\n#include "body.h"\n'
        "void take(int n, double *a) { first(n, a); second(n, a); }\n"
    )
    program = load_program([str(path)], FrontOptions()).program
    for name in ("first", "second"):
        made = next(f for _, f in program.functions() if f.symbol.name == name)
        assert made.span.text == body.rstrip()
        (loop,) = (node for node in walk(made) if isinstance(node, For))
        assert loop.span.text == body[body.index("for") : body.index(";\n}") + 1]
    assert next(f for _, f in program.functions() if f.symbol.name == "take").span.text.startswith("void take(")


def test_the_items_of_a_file_are_in_source_order(load: Load) -> None:
    loaded = load("#include <stdio.h>\nstruct s { int k; } t, *u;\nint a = 1, b[2] = {1, 2};\nint p(int);\n" + GOOD)
    items = loaded.program.units[0].items
    assert [type(i).__name__ for i in items] == ["Other", "GlobalDecl", "GlobalDecl", "Other", "Function"]
    assert [i.span.text for i in items[:4]] == [
        "#include <stdio.h>", "struct s { int k; } t, *u;", "int a = 1, b[2] = {1, 2};", "int p(int);",
    ]  # fmt: skip
    assert isinstance(items[2], GlobalDecl)
    assert [d.symbol.name for d in items[2].declarations] == ["a", "b"]
    assert isinstance(items[3], Other)


def test_storage_and_keys_of_symbols(load: Load) -> None:
    loaded = load(
        "enum { E = 7 }; int g; static int h; int f(int p) { static int s; int l; { int l; l = 0; }"
        " extern int x; l = E; return g + h + p + s + l + x; }"
    )
    symbols = {(n.symbol.name, n.symbol.storage, n.symbol.value) for n in walk(function(loaded)) if isinstance(n, Name)}
    assert symbols == {
        ("g", "global", None), ("h", "static", None), ("p", "parameter", None), ("s", "static local", None),
        ("l", "local", None), ("x", "global", None), ("E", "enumerator", 7),
    }  # fmt: skip
    keys = {n.symbol.key for n in walk(function(loaded)) if isinstance(n, Name) and n.symbol.name == "l"}
    assert len(keys) == 2


def test_regions_come_from_pragmas(load: Load) -> None:
    loaded = load(
        "void f(int n, double *a) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\n"
        "#pragma target\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) a[i] = 1;\n a[0] = 2; }"
    )
    regions = [span.text.strip() for span in loaded.program.units[0].pragmas]
    assert regions == ["for (int i = 0; i < n; i++) a[i] = 0;", "for (int i = 0; i < n; i++) a[i] = 1;"]


def test_definitions_that_kernels_may_need_are_collected(tmp_path: Path) -> None:
    (tmp_path / "types.h").write_text("#define WIDE \\\n  64\ntypedef float real;\n")
    path = tmp_path / "case.c"
    path.write_text(
        '#include "types.h"\n#include <math.h>\n#define SQ(x) ((x) * (x))\n#define SQ2(x) SQ(SQ(x))\n'
        "typedef struct point { real x[WIDE]; } point_t;\nenum side { LEFT, RIGHT = 4 };\n" + GOOD
    )
    texts = {t.name: t for t in load_program([str(path)], FrontOptions()).program.units[0].type_texts}
    assert texts["WIDE"].text == "#define WIDE \\\n  64"
    assert (texts["WIDE"].span, texts["WIDE"].macro) == (None, True)
    assert texts["SQ2"].needs == ("x", "SQ")
    assert texts["point"].text == texts["point_t"].text == "typedef struct point { real x[WIDE]; } point_t;"
    assert {"real", "WIDE"} <= set(texts["point_t"].needs)
    assert texts["LEFT"].text == texts["side"].text == "enum side { LEFT, RIGHT = 4 };"
    assert "M_PI" not in texts
    assert texts["SQ"].span is not None
    assert texts["SQ"].span.text == "#define SQ(x) ((x) * (x))"


def test_macros_that_change_have_no_text(load: Load) -> None:
    text = "#define A 1\n#define B 1\n#define C 1\nint x = A;\n#undef A\n#undef B\n#define B 2\nint y = B + C;\n"
    loaded = load(text + GOOD)
    assert [t.name for t in loaded.program.units[0].type_texts if t.text] == ["C"]


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
    (box,) = [n for n in walk(function(loaded)) if isinstance(n, VerbatimExpr)]
    assert (box.reason, box.calls, box.text) == ("a kernel launch", True, "k<<<1, 32>>>(a)")
