from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import function, load, loop, shown
from warpsmith.base.verdict import Proved, Reason
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import Effects, effects, find_escaped
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.tree.effects.file import users_effects
from warpsmith.tree.program import Program

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n#include <errno.h>\n"


def facts(program: Program, address: str) -> LoopFacts:
    return Facts.about(program, PolyOptions()).loop(loop(program, address))


def done(text: str, folder: Path, name: str = "f") -> Effects:
    program = load(HEAD + text, folder)
    return effects(program, function(program, name).body, function(program, name))


def first_reason(known: LoopFacts) -> Reason:
    return known.reasons[0]


def test_a_callback_does_what_its_text_says(tmp_path: Path) -> None:
    text = (
        "static int calls; static double seen[4];"
        "static int by(const void *a, const void *b) { calls++; seen[0] = *(const double *)a; return 0; }"
        "void f(double *v, int n) { qsort(v, n, sizeof *v, by); }"
        "void g(double *v, int n, int (*cmp)(const void *, const void *)) { qsort(v, n, sizeof *v, cmp); }"
    )
    known = done(text, tmp_path)
    assert "calls" in shown(known.direct_writes) and "seen" in shown(known.element_writes)
    assert "v" in shown(known.element_writes) and not known.calls_unknown
    assert done(text, tmp_path, "g").calls_unknown


def test_a_callback_that_keeps_its_argument(tmp_path: Path) -> None:
    text = (
        "static const void *kept; static int by(const void *a, const void *b) { kept = a; return 0; }"
        "void f(int n) { double v[8]; qsort(v, 8, sizeof *v, by); v[0] = 1; }"
    )
    program = load(HEAD + text, tmp_path)
    assert "v" in shown(find_escaped(program, function(program, "f")))


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("strtok(t, s);", "t"),
        ("char *e; strtol(t, &e, 10); *e = 0;", "t"),
        ("setvbuf(stdout, t, _IOFBF, 64);", "t"),
        ("memcpy(t, s, 3);", ""),
        ("fgets(t, 8, stdin);", ""),
        ('sscanf(s, "%d", &n);', ""),
    ],
)
def test_what_libraries_keep_is_known_elsewhere(body: str, kept: str, tmp_path: Path) -> None:
    program = load(f"{HEAD}void f(const char *s) {{ char t[64]; int n; {body} }}", tmp_path)
    held = shown(find_escaped(program, function(program, "f"))).split()
    assert ("t" in held) == (kept == "t")
    assert "n" not in held


def test_a_pointer_into_the_text_writes_the_text(tmp_path: Path) -> None:
    text = "int f(void) { char t[8] = \"12 ab\"; char *e; long n = strtol(t, &e, 10); *e = 'x'; return t[2] + (int)n; }"
    program = load(HEAD + text, tmp_path)
    f = function(program, "f")
    assert "t" in shown(effects(program, f.body.statements[-2], f).writes)


def test_strtok_goes_on_in_what_it_was_given(tmp_path: Path) -> None:
    text = 'void f(void) { char t[8] = "a b"; strtok(t, " "); strtok(0, " "); }'
    program = load(HEAD + text, tmp_path)
    f = function(program, "f")
    last = effects(program, f.body.statements[-1], f)
    assert "t" in shown(last.writes) and last.io


@pytest.mark.parametrize(
    ("format", "writes"),
    [
        ('"%d\\n"', False),
        ('"%d%n"', True),
        ('"%5.3ld%%n"', False),
        ('"%hhn"', True),
        ("text", True),
        ('"a" "%n"', True),
    ],
)
def test_printf_writes_only_with_n(format: str, writes: bool, tmp_path: Path) -> None:
    text = f"int k; void f(const char *text, int x) {{ printf({format}, x, &k); }}"
    assert ("k" in shown(done(text, tmp_path).direct_writes)) == writes


def test_exit_runs_handlers_where_there_are_any(tmp_path: Path) -> None:
    body = 'double total; static void say(void) { printf("%g", total); } void f(int n) { if (n) exit(1); }'
    assert "total" not in shown(done(body, tmp_path).reads)
    assert "total" in shown(done(body + "int main(void) { atexit(say); f(1); }", tmp_path).reads)


def test_a_users_function_of_the_same_name_is_not_the_librarys(tmp_path: Path) -> None:
    text = "double total; double hypot(double x, double y) { total += x; return y; }"
    loops = "void f(int n, double *a) { for (int i = 0; i < n; i++) { total += hypot(a[i], 1); } }"
    known = facts(load(text + loops, tmp_path), "f/i")
    assert not isinstance(known.verdict, Proved)


def test_a_plain_name_that_the_user_declares_is_not_the_librarys(tmp_path: Path) -> None:
    text = "double gamma(double); void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = gamma(a[i]); }"
    assert facts(load(text, tmp_path), "f/i").category == "unanalyzable"
    named = "double cblas_dnrm2(int, const double *, int); double f(double *x) { return cblas_dnrm2(3, x, 1); }"
    program = load(named, tmp_path)
    assert not effects(program, function(program, "f").body).calls_unknown


def test_another_function_of_cpp_is_not_the_c_librarys(tmp_path: Path) -> None:
    place = tmp_path / "a.cpp"
    place.write_text(
        "namespace own { double floor(double); }\n"
        "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = own::floor(a[i]); }\n"
    )
    program = load_program([str(place)], FrontOptions()).program
    assert facts(program, "f/i").category == "unanalyzable"


def test_an_unknown_call_is_named_with_what_to_do(tmp_path: Path) -> None:
    text = (
        "double interpolate(const double *table, int n, double *at);\n"
        "void f(int n, double *a, const double *t) {\n for (int i = 0; i < n; i++)\n  a[i] = interpolate(t, n, a);\n}\n"
    )
    reason = first_reason(facts(load(text, tmp_path), "f/i"))
    assert reason.rule == "POR006" and "interpolate" in reason.text
    assert reason.span is not None and reason.span.line == 4
    described = next(text for text in reason.legal_if if "--effects" in text)
    assert 'names = "interpolate"' in described and 'arguments = "t n a"' in described
    assert 'reads = "t a"' in described and 'writes = "a"' in described
    # the printed table is one that is read
    place = tmp_path / "my.toml"
    place.write_text(described.partition("\n")[2])
    entry = users_effects([str(place)]).of("interpolate")
    assert entry is not None and entry.reads == {0, 2} and entry.writes == {2}


def test_a_description_is_used_and_named(tmp_path: Path) -> None:
    text = (
        "double weight(const double *table, double x);\n"
        "void f(int n, double *restrict a, const double *restrict t) {\n"
        "  for (int i = 0; i < n; i++) a[i] = weight(t, a[i]);\n}\n"
    )
    place, source = tmp_path / "my.toml", tmp_path / "a.c"
    place.write_text('[[functions]]\nnames = "weight"\narguments = "table x"\nreads = "table"\n')
    source.write_text(text)
    options = FrontOptions(effects=users_effects([str(place)]))
    known = facts(load_program([str(source)], options).program, "f/i")
    assert isinstance(known.verdict, Proved)
    assert [a.kind for a in known.verdict.assumptions] == ["granted"]
    assert known.verdict.assumptions[0].text == f"weight reads argument 1, writes no memory ({place}:2)"


def test_errno_counts_where_it_is_read(tmp_path: Path) -> None:
    loops = "for (int i = 0; i < n; i++) a[i] = log(a[i]);"
    text = f"int f(int n, double *a) {{ {loops} return errno; }} void g(int n, double *a) {{ {loops} }}"
    program = load(HEAD + text, tmp_path)
    assert "errno" in first_reason(facts(program, "f/i")).text
    assert facts(program, "g/i").category == "parallel"


def test_a_member_is_not_the_whole_variable(tmp_path: Path) -> None:
    text = (
        "struct p { double z; int e; };"
        "void f(int n, double *a, double *b) { struct p q; q.z = 3; q.e = 0;"
        " for (int i = 0; i < n; i++) { b[i] = q.z; a[i] = frexp(a[i], &q.e); q.z = a[i]; } }"
    )
    assert facts(load(HEAD + text, tmp_path), "f/i").category in ("sequential", "unanalyzable")
