"""The referee on programs without any CUDA: what it compares, what it survives, how it says so."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.sampling import one_in
from warpsmith.emit.files import OutputFile
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import Sources, Verification, VerifyOptions

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
void ws_capture(const char *region, const char *name, const void *object, long long declared_bytes, int kind,
                int element_size, long long lower, long long upper, const void *device);
int main(int argc, char **argv)
{
    int n = 100, code = 0;
    double *a = malloc(n * sizeof *a), s = 0;
    for (int t = 0; t < 20; t++) {
        for (int i = 0; i < n - 1; i++)
            a[i] = 1.0 / (i + 1 + t);
        ws_capture("main/i", "a", a, -1, 3, 8, 0, n - 1, 0);
    }
    for (int i = 0; i < n - 1; i++)
        s += a[i];
    printf("sum %.15g\\n", s);
    printf("%.2f s, %p, %d\\n", (double)clock() / CLOCKS_PER_SEC, (void *)a, (int)getpid());
    /* end */
    return code;
}
"""
QUICK = VerifyOptions(timeout_s=20)


def program(old: str = "", new: str = "") -> Sources:
    assert old in PROGRAM
    return Sources((OutputFile("a.c", PROGRAM.replace(old, new) if old else PROGRAM),), captured=True)


def judge(old: str = "", new: str = "", options: VerifyOptions = QUICK) -> Verification:
    return verify(program(), program(old, new), options)


def rules(verification: Verification) -> set[str]:
    return {reason.rule for reason in verification.reasons}


def only(verification: Verification) -> str:
    assert verification.status == "fail"
    return verification.reasons[0].message


def test_the_same_program_passes_and_time_addresses_and_process_numbers_are_masked() -> None:
    got = judge()
    assert (got.status, got.schedules, got.reasons) == ("pass", 3, ())
    assert got.output_equal and len(got.masked_output) == 3
    (row,) = got.live_out
    assert (row.region, row.name, row.instance, row.elements) == ("main/i", "a", 20, 100)
    assert (row.extent_from, row.max_abs, row.first_difference) == ("allocation", 0.0, None)


SEED = "n = 100, code = 0;", "n = 100, code = 0; time(0); srand(time(0) * n);"
DRAWN = "= 1.0 / (i + 1 + t)", "= rand() % 1000"


def seeded(old: str = "", new: str = "") -> Sources:
    text = PROGRAM.replace(*SEED).replace(*DRAWN)
    assert old in text
    return Sources((OutputFile("a.c", text.replace(old, new)),), captured=True)


@pytest.mark.slow
def test_numbers_drawn_from_the_time_of_day_are_compared() -> None:
    got = verify(seeded(), seeded("srand(", "usleep(1200000); srand("), QUICK)
    (row,) = got.live_out
    assert (got.status, row.compared, row.masked) == ("pass", 99, 0), got.reasons
    wrong = verify(seeded(), seeded("% 1000", "% 1000 + (i == 57 && t == 10)"), QUICK)
    assert "a differs after region main/i (instance 11)" in only(wrong)
    other = verify(seeded(), seeded("srand(time(0) * n)", "srand(time(0) * n + 1)"), QUICK)
    assert "a differs after region main/i (instance 1)" in only(other)


FRESH = """#include <stdio.h>
#include <stdlib.h>
void ws_capture(const char *region, const char *name, const void *object, long long declared_bytes, int kind,
                int element_size, long long lower, long long upper, const void *device);
int main(void)
{
    int n = 40, marked = 0, *marks = malloc(n * sizeof *marks), *places = malloc(20 * sizeof *places);
    for (int i = 0; i < n; i += 4)
        marks[i] = 1;
    for (int i = 0; i < n; i++)
        if (marks[i])
            marked++;
    if (marked > 20)
        abort();
    for (int i = 0, k = 0; i < n; i++)
        if (marks[i])
            places[k++] = i;
    ws_capture("main/i", "places", places, -1, 1, 4, 0, 10, 0);
    printf("%d marked\\n", marked);
    return 0;
}
"""


def test_a_program_that_needs_fresh_memory_to_be_zero_is_run_so() -> None:
    original = Sources((OutputFile("a.c", FRESH),), captured=True)
    for old, new, status in (("", "", "pass"), ("= i;", "= i + (i == 8);", "fail")):
        got = verify(original, Sources((OutputFile("a.c", FRESH.replace(old, new)),), captured=True), QUICK)
        assert got.status == status, got.reasons
        assert "VER050" in rules(got)
        assert status == "fail" or [(row.compared, row.masked) for row in got.live_out] == [(10, 0)]


def test_one_that_crashes_in_any_case_is_not_compared() -> None:
    crash = Sources((OutputFile("a.c", FRESH.replace("marked > 20", "marked")),), captured=True)
    got = verify(crash, crash, QUICK)
    assert (got.status, rules(got)) == ("skipped", {"VER020"})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    one_in(3, [
        ("= 1.0 / (i + 1 + t)", "= i == 57 && t == 3 ? 7 : 1.0 / (i + 1 + t)",
         "a differs after region main/i (instance 4): a[57] is 7.0, the original has 0.01639344262295082"),
        ("= 1.0 / (i + 1 + t)", "= i == 57 && t == 10 ? 7 : 1.0 / (i + 1 + t)",
         "a differs after region main/i (instance 11)"),
        ("1.0 / (i + 1 + t)", "0 / (i + 1 + t)", "a[0] is 0.0, the original has 1.0 (98 more elements)"),
        ("sum %.15g", "total %.15g", "standard output differs: line 1 has total, the original has sum"),
        ("s += a[i]", "s += 2 * a[i]", "standard output differs: line 1"),
        ("code = 0", "code = 3", "the exit code is 3, the original's is 0"),
        ("t < 20", "t < 19", "region main/i was carried out 19 times, by the original 20 times"),
        ("/* end */", 'fclose(fopen("new.txt", "w"));', "the file new.txt is written, the original does not"),
        ("/* end */", "*(volatile int *)0 = 1;", "it crashed: a memory access outside its memory"),
        ("/* end */", "abort();", "it crashed: abort"),
        ("/* end */", "not C", "the candidate cannot be built: a.c:21:5: error"),
    ]),
)  # fmt: skip
def test_a_wrong_candidate_fails_with_a_sentence(old: str, new: str, said: str) -> None:
    assert said in only(judge(old, new))


def test_rounding_within_the_originals_spread_passes() -> None:
    got = judge("1.0 / (i + 1 + t)", "(1 + 1e-15) / (i + 1 + t)")
    assert got.status == "pass" and 0 < got.live_out[0].max_ulp < 16
    assert only(judge("1.0 / (i + 1 + t)", "(1 + 1e-13) / (i + 1 + t)"))


@pytest.mark.slow
def test_a_given_tolerance_replaces_the_spread() -> None:
    wide = replace(QUICK, relative=1e-6)
    assert judge("1.0 / (i + 1 + t)", "(1 + 1e-9) / (i + 1 + t)", wide).status == "pass"
    assert judge("1.0 / (i + 1 + t)", "(1 + 1e-4) / (i + 1 + t)", wide).status == "fail"
    assert judge("1.0 / (i + 1 + t)", "0 / (i + 1 + t)", replace(QUICK, absolute=10.0)).status == "fail"


@pytest.mark.parametrize(("ours", "status"), [(False, "fail"), (True, "skipped")])
def test_a_candidate_without_end_is_stopped(ours: bool, status: str) -> None:
    # somebody's candidate must end; a port of ours may only be too slow for the emulation, and is then not judged
    original, candidate = (replace(p, captured=ours) for p in (program(), program("/* end */", "for (;;) ;")))
    got = verify(original, candidate, VerifyOptions(timeout_s=1))
    assert got.status == status
    assert "it did not end within 1 s" in got.reasons[0].message


@pytest.mark.slow
def test_a_candidate_that_writes_without_end_is_stopped() -> None:
    flood = "static char page[1 << 20]; for (;;) fwrite(page, 1, sizeof page, stdout);"
    assert "it wrote more than 256 MiB" in only(judge("/* end */", flood))


def test_children_that_outlive_the_candidate_are_ended(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    child = f'if (fork() == 0) for (;;) {{ fclose(fopen("{alive}", "w")); usleep(20000); }} usleep(100000);'
    judge("/* end */", child)
    assert alive.exists()
    alive.unlink()
    time.sleep(0.2)
    assert not alive.exists()


def test_binary_output_is_survived() -> None:
    got = judge("/* end */", 'fwrite("\\0\\377\\376", 1, 3, stdout);')
    assert rules(got) == {"VER009"} and not got.output_equal


def test_the_users_arguments_input_and_files_reach_both(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "data.txt").write_text("5\n")
    (tmp_path / "in.txt").write_text("7\n")
    text = """#include <stdio.h>
int main(int c, char **v) { int x, y; scanf("%d", &x); FILE *f = fopen("data.txt", "r+"); fscanf(f, "%d", &y);
    fprintf(f, "%d\\n", x * y EXTRA); printf("%s\\n", v[c - 1]); return 0; }"""
    options = VerifyOptions(("alpha", "beta"), str(tmp_path / "in.txt"), str(tmp_path / "run"))

    def source(extra: str) -> Sources:
        return Sources((OutputFile("a.c", text.replace("EXTRA", extra)),))

    assert verify(source(""), source(""), options).status == "pass"
    got = verify(source(""), source("+ 1"), options)
    assert "the file data.txt: line 1 has 536, the original has 535" in only(got)
    assert (tmp_path / "run" / "data.txt").read_text() == "5\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int main(void) { return *(volatile int *)0; }", "gives nothing to compare with: it crashed"),
        ("int main(void) { for (;;) ; }", "did not end within 1 s"),
        ("int main(void) { return x; }", "cannot be built: a.c:1:"),
    ],
)
def test_an_original_that_fails_itself_gives_no_verdict(text: str, said: str) -> None:
    sources = Sources((OutputFile("a.c", text),))
    got = verify(sources, sources, VerifyOptions(timeout_s=1))
    assert got.status == "skipped"
    assert "the original program itself" in got.reasons[0].message and said in got.reasons[0].message


def test_programs_of_two_kinds_are_told_apart() -> None:
    none = Sources((OutputFile("a.c", "/* int main(void) {} */ int f(void) { return 1; }"),))
    assert "the original has a main, the candidate has none" in only(verify(program(), none, QUICK))
    assert "the candidate has a main, the original has none" in only(verify(none, program(), QUICK))
    got = verify(none, none, QUICK)
    assert got.status == "skipped" and "no function to call" in got.reasons[0].message


def test_memory_that_nobody_wrote_is_compared_too_where_both_programs_have_the_same_there() -> None:
    whole = program("0, n - 1, 0)", "0, n, 0)")
    got = verify(whole, whole, QUICK)
    assert (got.status, got.reasons) == ("pass", ())
    assert (got.live_out[0].compared, got.live_out[0].masked) == (100, 0)


def test_elements_that_nobody_wrote_may_hold_anything_what_is_made_from_them_may_not() -> None:
    whole = program("0, n - 1, 0)", "0, n, 0)")
    other = program('ws_capture("main/i"', 'a[n - 1] = 3; ws_capture("main/i"').files[0]
    got = verify(
        whole, replace(whole, files=(replace(other, text=other.text.replace("0, n - 1, 0)", "0, n, 0)")),)), QUICK
    )
    assert got.status == "pass" and rules(got) == {"VER022"}
    # The one is neither compared nor left out; it is counted where elements are recorded, not where sums are.
    assert (got.live_out[0].compared, got.live_out[0].masked) == (99, 0)
    used = program("1.0 / (i + 1 + t)", "a[n - 1] / (i + 1 + t)")
    assert verify(used, used, QUICK).reasons == ()
    assert "a differs" in only(verify(used, program("1.0 / (i + 1 + t)", "a[n - 1] / (i + 2 + t)"), QUICK))


def test_the_workspace_is_kept_where_asked(tmp_path: Path) -> None:
    judge(options=replace(QUICK, keep_dir=str(tmp_path)))
    assert list(tmp_path.glob("verify-*/original/build_base/program"))
