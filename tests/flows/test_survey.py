"""A survey lists every loop of a project once, and never promises more than the whole program would show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.loop_count import counted_loops
from tests.flows.survey_projects import by_place, compiled, surveyed, written
from warpsmith.base.findings import Finding
from warpsmith.base.time_limit import OutOfTimeError
from warpsmith.flows.survey import SurveyOptions, survey
from warpsmith.front.separate import Parsed
from warpsmith.poly.facts import PolyOptions
from warpsmith.project.model import LinkCommand, Project
from warpsmith.report.survey.model import CATEGORIES, SurveyReport
from warpsmith.report.survey.rank import ranking
from warpsmith.survey.limits import SurveyLimits
from warpsmith.survey.unit import Desk
from warpsmith.survey.workers import Crew, FileJob
from warpsmith.tree.plain import Plain

EVERY_KIND = {
    "kinds.h": """
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define GRID(i, j, n) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
static inline void clear(double *a, int n) { for (int i = 0; i < n; i++) a[i] = 0; }
static inline int digits(int n) { int d = 0; do { n /= 10; d++; } while (n); return d; }
""",
    "kinds.c": """
#include <stdio.h>
#include "kinds.h"
struct node { struct node *next; };
int length(struct node *at) { int n = 0; while (at) { at = at->next; n++; } return n; }
void plain(int n, double *a) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i * n + j] = 1; }
void macro(int n, double *a) { EACH(i, n) EACH(j, 2) a[2 * i + j] = 0; }
void grid(int n, double *a) { GRID(i, j, n) a[i * n + j] = 0; }
void jumps(int n, double *a) {
    int i = 0;
again:
    for (int k = 0; k < n; k++) a[k] += i;
    if (++i < 3) goto again;
    for (;;) { if (i-- < 0) break; }
}
void cut(int n, double *a) {
#ifdef LEFT_OUT
    for (int i = 0; i < n; i++) a[i] = 3;
#else
    while (n--) a[n] = 4;
#endif
    /* for (int i = 0; i < n; i++) */ puts("for (;;) while (1) do");
}
void strange(int n, double *a) {
    switch (n & 3) {
    case 0: do { *a++ = 1;
    case 1:      *a++ = 2;
            } while (--n > 0);
    }
}
#define MADE(name) void name(int n, double *a) { for (int i = 0; i < n; i++) a[i] = i; }
MADE(first)
MADE(second)
int nested(int n) { return ({ int s = 0; for (int i = 0; i < n; i++) s += i; s; }); }
""",
    "other.c": '#include "kinds.h"\nvoid use(double *a) { clear(a, digits(7)); }\n',
    "plus.cpp": """
#include "kinds.h"
template <class T> T total(const T *a, int n) { T s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
template <class T> T never(const T *a) { T s = 0; while (*a) s += *a++; return s; }
struct Box {
    double v[8];
    void fill() { for (int i = 0; i < 8; i++) v[i] = i; }
    double sum() const { double s = 0; for (double x : v) s += x; return s; }
};
namespace deep { void zero(float *a, int n) { for (int i = 0; i < n; i++) a[i] = 0; } }
double both(double *a, int *b, int n) {
    auto inner = [&](int k) { for (int i = 0; i < k; i++) a[i] += 1; };
    inner(n);
    return total(a, n) + total(b, n);
}
""",
}


def _counts(report: SurveyReport) -> Counter[tuple[str, int]]:
    return Counter((str(Path(report.root, loop.spot.file)), loop.spot.line) for loop in report.loops)


def test_every_loop_of_the_text_is_listed_once_and_none_that_the_preprocessor_removed(tmp_path: Path) -> None:
    written(tmp_path, EVERY_KIND)
    project = compiled(tmp_path, "kinds.c", "other.c", "plus.cpp")
    report = surveyed(project)
    assert report.status == "ok"
    assert _counts(report) == counted_loops(project.commands)
    assert sum(report.categories.values()) == len(report.loops)
    assert all(loop.reasons and loop.category in CATEGORIES for loop in report.loops)


def test_a_headers_loop_stands_at_its_place_and_names_the_files_that_have_it(tmp_path: Path) -> None:
    written(tmp_path, EVERY_KIND)
    report = surveyed(compiled(tmp_path, "kinds.c", "other.c"))
    found = [loop for loop in report.loops if loop.spot.file == "kinds.h"]
    assert [(loop.function, sorted(loop.units)) for loop in found if loop.function == "clear"] == [
        ("clear", ["kinds.c", "other.c"])
    ]
    assert len(found) == 2


def test_a_header_is_one_file_whatever_way_leads_to_it(tmp_path: Path) -> None:
    header = "#pragma once\nstatic inline void zero(double *a) { for (int i = 0; i < 9; i++) a[i] = 0; }\n"
    for folder in ("inc", "src", "lib"):
        (tmp_path / folder).mkdir()
    (tmp_path / "linked").symlink_to("inc")
    files = {
        "inc/h.h": header,
        "src/a.c": '#include "../inc/h.h"\nvoid f(double *a) { zero(a); }\n',
        "lib/b.c": '#include "../inc/h.h"\nvoid g(double *a) { zero(a); }\n',
        "c.c": '#include "linked/h.h"\nvoid h(double *a) { zero(a); }\n',
    }
    written(tmp_path, files)
    (loop,) = surveyed(compiled(tmp_path, "src/a.c", "lib/b.c", "c.c")).loops
    assert str(loop.spot) == "inc/h.h:2"
    assert set(loop.units) == {"src/a.c", "lib/b.c", "c.c"}


def test_two_sets_of_options_give_the_answer_that_promises_less(tmp_path: Path) -> None:
    text = "void f(int n, double *a) {\n    for (int i = 1; i < n; i++)\n        a[i] = a[i - STEP] * a[i - STEP];\n"
    text += "#ifdef MORE\n    for (int i = 0; i < n; i++)\n        a[i] = 0;\n#endif\n}\n"
    written(tmp_path, {"a.c": text})
    once = surveyed(compiled(tmp_path, ("a.c", "-DSTEP=0")))
    assert by_place(once) == {"a.c:2": "parallel"}
    twice = surveyed(compiled(tmp_path, ("a.c", "-DSTEP=0"), ("a.c", "-DSTEP=1", "-DMORE")))
    assert by_place(twice) == {"a.c:2": "sequential", "a.c:5": "parallel"}
    assert (twice.extent, twice.lines) == ("1 file (2 compilations), 8 lines, 2 loops", 8)


def test_static_functions_of_one_name_are_two(tmp_path: Path) -> None:
    one = "static double s; static double part(double x) { return x; }\nvoid f(int n, double *a) {\n"
    one += "    for (int i = 0; i < n; i++)\n        a[i] = part(i);\n}\n"
    other = one.replace("return x", "return s += x").replace("void f", "void g")
    written(tmp_path, {"one.c": one, "other.c": other})
    found = by_place(surveyed(compiled(tmp_path, "one.c", "other.c")))
    assert found["one.c:3"] == "parallel"
    assert found["other.c:3"] != "parallel"


CALLS = {
    "helper.c": "double part(double x) { return 2 * x; }\nint counter;\nvoid tick(void) { counter++; }\n",
    "deep.c": "double part(double); double twice(double x) { return part(part(x)); }\n",
    "main.c": """
double part(double); double twice(double); void tick(void); double missing(double);
int main(void) {
    static double a[64], b[64], c[64], d[64];
    for (int i = 0; i < 64; i++) a[i] = part(i);
    for (int i = 0; i < 64; i++) b[i] = twice(i);
    for (int i = 0; i < 64; i++) { c[i] = i; tick(); }
    for (int i = 0; i < 64; i++) d[i] = missing(i);
    return 0;
}
""",
}


def test_what_other_files_functions_do_is_known_through_others(tmp_path: Path) -> None:
    written(tmp_path, CALLS)
    report = surveyed(compiled(tmp_path, "main.c", "deep.c", "helper.c"))
    found = by_place(report)
    assert (found["main.c:5"], found["main.c:6"]) == ("parallel", "parallel")
    assert found["main.c:7"] not in ("parallel",)
    assert found["main.c:8"] == "unanalyzable"
    assert any("missing()" in b.construct for b in report.blockers)
    alone = by_place(surveyed(compiled(tmp_path, "main.c")))
    assert set(alone.values()) == {"unanalyzable"}


def test_a_function_of_the_project_is_not_the_librarys_of_that_name(tmp_path: Path) -> None:
    files = {
        "own.c": "static double last;\ndouble fabs(double x) { double was = last; last = x; return was; }\n",
        "wrap.c": "double fabs(double); double wrapped(double x) { return fabs(x); }\n",
        "use.c": "double fabs(double); double wrapped(double);\nvoid f(int n, double *restrict a) {\n"
        "    for (int i = 0; i < n; i++)\n        a[i] = fabs(i);\n"
        "    for (int i = 0; i < n; i++)\n        a[i] = wrapped(i);\n}\n",
    }
    written(tmp_path, files)
    assert by_place(surveyed(compiled(tmp_path, "use.c", "wrap.c")))["use.c:3"] == "parallel"
    found = by_place(surveyed(compiled(tmp_path, "use.c", "wrap.c", "own.c")))
    assert found["use.c:3"] != "parallel"
    assert found["use.c:5"] != "parallel"


def test_a_function_of_that_name_may_change_a_bound(tmp_path: Path) -> None:
    files = {
        "own.c": "int n = 9;\ndouble fabs(double x) { n--; return x; }\n",
        "use.c": "#include <math.h>\nextern int n;\nvoid f(double *restrict a) {\n"
        "    for (int i = 0; i < n; i++)\n        a[i] = fabs(i);\n}\n",
    }
    written(tmp_path, files)
    assert by_place(surveyed(compiled(tmp_path, "use.c")))["use.c:4"] == "parallel"
    assert by_place(surveyed(compiled(tmp_path, "use.c", "own.c")))["use.c:4"] == "unanalyzable"


def test_a_file_with_main_alone_is_not_the_whole_program(tmp_path: Path) -> None:
    files = {
        "main.c": "#include <stdlib.h>\ndouble *a, *b; void other(void);\nint main(void) {\n"
        "    a = malloc(800); b = malloc(800); other();\n"
        "    for (int i = 0; i < 99; i++)\n        a[i] = b[i + 1];\n    return 0;\n}\n",
        "other.c": "extern double *a, *b;\nvoid other(void) { b = a; }\n",
    }
    written(tmp_path, files)
    report = surveyed(compiled(tmp_path, "main.c", "other.c"))
    (loop,) = report.loops
    assert loop.category != "parallel" or loop.assumptions


def test_without_a_main_other_code_may_do_anything_to_globals(tmp_path: Path) -> None:
    files = {
        "own.c": "#include <stdlib.h>\ndouble *a, *b;\nvoid make(void) { a = malloc(800); b = malloc(800); }\n"
        "void f(void) {\n    for (int i = 0; i < 99; i++)\n        a[i] = b[i + 1];\n}\n",
        "main.c": "void make(void); void f(void); int main(void) { make(); f(); return 0; }\n",
        "bad.c": "this is no C\n",
    }
    written(tmp_path, files)

    def assumed(*units: str, said: tuple[Finding, ...] = ()) -> bool:
        (loop,) = surveyed(replace(compiled(tmp_path, *units), findings=said)).loops
        return loop.category != "parallel" or bool(loop.assumptions)

    assert not assumed("own.c", "main.c")
    # how a run ended, and what it did not count, hides no code; a file that is not there does
    assert not assumed("own.c", "main.c", said=(Finding("PRF006", "note", "1 loop was not counted", None, ()),))
    assert assumed("own.c", "main.c", said=(Finding("PRJ002", "warning", "gone.c is not there", None, ()),))
    assert assumed("own.c")
    assert assumed("own.c", "main.c", "bad.c")


def test_two_programs_with_functions_of_one_name(tmp_path: Path) -> None:
    driver = "double part(double);\nvoid run(int n, double *a) {\n"
    driver += "    for (int i = 0; i < n; i++)\n        a[i] = part(i);\n}\n"
    files = {
        "driver.c": driver,
        "calm.c": "double part(double x) { return x; }\nint main(void) { return 0; }\n",
        "wild.c": "static double s; double part(double x) { return s += x; }\nint main(void) { return 0; }\n",
    }
    written(tmp_path, files)
    assert by_place(surveyed(compiled(tmp_path, "driver.c", "calm.c")))["driver.c:3"] == "parallel"
    both = surveyed(compiled(tmp_path, "driver.c", "calm.c", "wild.c"))
    assert by_place(both)["driver.c:3"] == "unanalyzable"
    (loop,) = both.loops
    assert loop.construct == "call of part(), which several files define"


def test_a_file_that_cannot_be_read_makes_the_survey_incomplete(tmp_path: Path) -> None:
    written(tmp_path, {"good.c": "void f(int n, int *a) { while (n--) a[n] = 0; }\n", "bad.c": '#include "gone.h"\n'})
    report = surveyed(compiled(tmp_path, "good.c", "bad.c"))
    assert report.status == "incomplete"
    assert [f.rule for f in report.findings] == ["INP002"]
    assert len(report.loops) == 1


SLOW = {
    "slow.c": "double far(double);\nvoid f(int n, double *a) {\n    for (int i = 0; i < n; i++) a[i] = far(a[i]);\n}\n",
    "calm.c": "double far(double x) { return x + 1; }\nvoid f(int, double *);\n"
    "void g(int n, double *a) {\n    for (int i = 0; i < n; i++) a[i] = 0;\n    f(n, a);\n}\n",
}


@pytest.mark.parametrize("task", ["_tell", "_summarize", "_analyze"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_takes_too_long_is_named_and_the_others_are_answered(
    task: str, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, SLOW)
    project, known = compiled(tmp_path, "slow.c", "calm.c"), tmp_path / "cache"
    tries = tmp_path / "tries"
    real = vars(Desk)[task]

    def slow(desk: Desk, number: int, *arguments: object) -> object:
        if desk.sources[number].path.endswith("slow.c"):
            tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
            raise OutOfTimeError
        return real(desk, number, *arguments)

    monkeypatch.setattr(Desk, task, slow)
    report = surveyed(project, known, jobs)
    (finding,) = report.findings
    assert finding.rule == "INP009" and "slow.c was not" in finding.message and "--timeout" in finding.help[0]
    assert report.late == (str(tmp_path / "slow.c"),) and report.status == "incomplete"
    assert by_place(report)["calm.c:4"] == "parallel" and tries.read_text() == "x", "it is not tried again"
    reasons = {reason.rule for loop in report.loops if loop.spot.file == "slow.c" for reason in loop.reasons}
    assert reasons == (set() if task == "_tell" else {"INP009"}), "its loops are listed once the file is read"
    # nothing of that is remembered
    monkeypatch.undo()
    again = surveyed(project, known, jobs)
    assert again.late == () and by_place(again)["slow.c:3"] == "parallel" and again.read >= 1


def test_a_variable_that_only_another_files_function_names_is_not_forgotten(tmp_path: Path) -> None:
    files = {
        "far.h": "struct grid { int n; }; extern struct grid grid; void note(int at);\n",
        "far.c": '#include "far.h"\nstruct grid grid;\nvoid note(int at) { grid.n = at; }\n',
        "use.c": '#include "far.h"\nvoid f(struct grid *g, double *a) {\n'
        "    for (int i = 0; i < 9; i++) { a[i] = i; note(i); }\n"
        "    for (int i = 0; i < g->n; i++) { a[i] = i; note(i); }\n}\n",
    }
    written(tmp_path, files)
    found = by_place(surveyed(compiled(tmp_path, "use.c", "far.c")))
    assert set(found.values()) == {"unanalyzable"}


def test_a_program_without_a_function_that_another_one_has(tmp_path: Path) -> None:
    files = {
        "use.c": "double part(double);\nvoid f(int n, double *a) {\n"
        "    for (int i = 0; i < n; i++)\n        a[i] = part(i);\n}\n",
        "has.c": "double part(double x) { return x; }\nint main(void) { return 0; }\n",
        "not.c": "int main(void) { return 0; }\n",
    }
    written(tmp_path, files)
    project = compiled(tmp_path, *files)
    named = {Path(c.file).name: c.file for c in project.commands}

    def linked(*mains: str) -> Project:
        links = [LinkCommand(m, (named["use.c"], named[m]), str(tmp_path), "gcc") for m in mains]
        return replace(project, links=tuple(links))

    assert by_place(surveyed(linked("has.c")))["use.c:3"] == "parallel"
    assert by_place(surveyed(linked("has.c", "not.c")))["use.c:3"] == "unanalyzable"


def test_loops_over_members_and_rows_are_what_steps_make_of_them(tmp_path: Path) -> None:
    text = (
        "struct g { int n; double *u, *v; };\n"
        "void f(struct g *g) {\n    for (int i = 0; i < g->n; i++)\n        g->u[i] = 2 * g->v[i];\n}\n"
        "void h(int n, double **a) {\n    for (int i = 0; i < n; i++)\n"
        "        for (int j = 0; j < n; j++)\n            a[i][j] = 0;\n}\n"
        "void k(struct g *g) {\n    for (int i = 1; i < g->n; i++)\n        g->u[i] = g->u[i - 1];\n}\n"
    )
    written(tmp_path, {"a.c": text})
    report = surveyed(compiled(tmp_path, "a.c"))
    found = {str(loop.spot): (loop.category, loop.steps) for loop in report.loops}
    assert found == {
        "a.c:3": ("parallel-after", ("localize=f/i",)),
        "a.c:7": ("parallel-after", ("flatten=h/i",)),
        "a.c:8": ("parallel", ()),
        "a.c:12": ("scan", ("localize=k/i",)),
    }
    assert all(loop.assumptions for loop in report.loops if loop.category == "parallel-after")


def test_text_of_c_binds_nothing_to_references_of_other_files(tmp_path: Path) -> None:
    text = """#define FILL(a, n, v) for (int i_ = 0; i_ < (n); i_++) (a)[i_] = (v)
void smooth(double *a, double *b, int n) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];
    FILL(a, n, 1);
}
"""
    written(tmp_path, {"a.c": text, "b.cpp": "double twice(const double &x) { return 2 * x; }\n"})
    assert by_place(surveyed(compiled(tmp_path, "a.c", "b.cpp")))["a.c:3"] == "parallel"


def test_loops_are_named_in_words_of_the_file(tmp_path: Path) -> None:
    text = "#include <vector>\nvoid f(std::vector<double> &v) {\n    for (double &x : v) x = 0;\n}\n"
    written(tmp_path, {"a.cpp": text})
    assert [loop.label for loop in surveyed(compiled(tmp_path, "a.cpp")).loops] == ["for x"]


def test_what_the_device_does_not_have_keeps_a_parallel_loop_on_the_host(tmp_path: Path) -> None:
    text = """#include <math.h>
#include <string.h>
static int length(const char *s) { return (int)strlen(s); }
void f(int n, char s[][16], int *restrict l) { for (int i = 0; i < n; i++) l[i] = length(s[i]); }
void g(int n, double *a) { for (int i = 0; i < n; i++) a[i] = sqrt(a[i]); }
"""
    written(tmp_path, {"a.c": text})
    report = surveyed(compiled(tmp_path, "a.c"))
    f, g = sorted(report.loops, key=lambda one: one.spot.line)
    assert (f.standing, f.construct) == ("parallel, on host", "call of strlen(), which does not exist on the device")
    assert (g.standing, g.portable) == ("parallel", True)
    found = ranking(report.loops)
    assert [loop.function for loop in found.first] == ["g"] and [loop.function for loop in found.behind] == ["f"]


def test_several_processes_find_the_same(tmp_path: Path) -> None:
    written(tmp_path, {**EVERY_KIND, **CALLS})
    project = compiled(tmp_path, *(name for name in (*EVERY_KIND, *CALLS) if not name.endswith(".h")))
    one, two = surveyed(project), surveyed(project, jobs=2)
    assert one.loops == two.loops
    assert one.blockers == two.blockers


def test_a_macro_that_is_one_statement_is_no_loop(tmp_path: Path) -> None:
    text = """#define TICK(k) do { k++; } while (0)
int f(int n, int *a) {
    int t = 0;
    TICK(t);
    for (int i = 0; i < n; i++) a[i] = i;
    do { t += 2; } while (0);
    do { t += 2; } while (t < n);
    return t;
}
"""
    written(tmp_path, {"a.c": text})
    report = surveyed(compiled(tmp_path, "a.c"))
    assert by_place(report) == {"a.c:5": "parallel", "a.c:7": "unanalyzable"}


def test_a_pass_over_the_files_begins_with_those_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five files three are kept: each pass reads the two others again; passes in one order would read all five."""
    files = {
        f"{k}.c": f"""void g{(k + 1) % 5}(int n, double *a);
        void f{k}(int n, double *a) {{ for (int i = 0; i < n; i++) a[i] = {k}; g{(k + 1) % 5}(n, a); }}
        void g{k}(int n, double *a) {{ for (int i = 0; i < n; i++) a[i] += {k}; }}"""
        for k in range(5)
    }
    written(tmp_path, files)
    project = compiled(tmp_path, *files)
    whole = surveyed(project)
    read: list[int] = []
    passes: list[int] = []
    parse, run = Desk._parse, Crew.run

    def note_read(desk: Desk, numbers: Sequence[int]) -> list[Parsed]:
        read.extend(numbers)
        return parse(desk, numbers)

    def note_pass(crew: Crew, jobs: Sequence[FileJob]) -> Iterator[tuple[FileJob, Plain]]:
        passes.extend([len(jobs)] if jobs and jobs[0].task != "read" else [])
        return run(crew, jobs)

    monkeypatch.setattr(Desk, "_parse", note_read)
    monkeypatch.setattr(Crew, "run", note_pass)
    few = SurveyLimits(poly=PolyOptions(described=1), kept_bytes=3 * max(map(len, files.values())) + 1)
    assert survey(project, SurveyOptions(few)).loops == whole.loops
    assert passes == [5] * len(passes) and len(passes) >= 2
    assert sorted(read[:5]) == [0, 1, 2, 3, 4] and len(read[5:]) == 2 * len(passes)
