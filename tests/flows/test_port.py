"""A port is made again where the referee finds a pragma wrong, or that results hang on the order of a sum."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.random_programs.acceptance import is_accepted
from warpsmith.base.clock import Clock
from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.time_limit import OutOfTimeError
from warpsmith.flows import port as flow
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.plan import Written
from warpsmith.flows.porting.verdict import find_doubted
from warpsmith.front.load import FrontOptions
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search import localization, prepare, search
from warpsmith.poly import analyze as analysis
from warpsmith.poly.dependences.judge import Judgement, Question, judge
from warpsmith.run.verification import Verification

# with an argument, two iterations write one element of `table`
TEXT = """#include <stdio.h>
static double table[1000], sums[900];
static int places[900];
void spread(int step)
{
    for (int i = 0; i < 900; i++)
        places[i] = i * step % 1000;
}
void f(int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        table[places[i]] = i;
}
void g(int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        sums[places[i]] = 0.5 * i;
}
int main(void)
{
    double sum = 0;
    spread(STEP);
    f(900);
    for (int i = 0; i < 900; i++)
        places[i] = i;
    g(900);
    for (int i = 0; i < 900; i++)
        sum += table[i] * (i % 7) + sums[i];
    printf("%.15g\\n", sum);
    return 0;
}
"""


def _loops(result: flow.PortResult) -> set[str]:
    return {loop for f in result.plan.fragments for loop in f.loops} if result.plan is not None else set()


def _told(result: flow.PortResult) -> list[int]:
    found = [f for f in result.findings if f.rule == "VER027" and "this port does without it" in f.message]
    return [f.span.line for f in found if f.span is not None]


def test_what_fails_on_a_pragma_is_ported_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"f/i", "g/i"}

    def referee(prepared: Prepared, written: Written, options: PortOptions) -> Verification:
        """Find the first wrong loop of a port."""
        loops = sorted({loop for f in written.port.plan.fragments for loop in f.loops} & wrong)
        if not loops:
            return Verification("pass")
        failed = Verification(
            "fail", reasons=(Finding("VER007", "error", f"a differs after region {loops[0]} ", None),)
        )
        return Verification("fail", reasons=(*failed.reasons, *find_doubted(prepared, written, failed)))

    monkeypatch.setattr(flow, "_referee", referee)
    path = tmp_path / "a.c"
    path.write_text(TEXT.replace("STEP", "7"))
    result = port([str(path)], PortOptions())
    assert result.verification is not None and result.verification.status == "pass"
    assert "spread/i" in _loops(result) and not _loops(result) & wrong
    # one after the other, as the referee finds them
    assert sorted(_told(result)) == [11, 17]


@pytest.mark.slow
def test_a_race_is_found_and_the_rest_is_ported(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(TEXT.replace("STEP", "4"))
    result = port([str(path)], PortOptions())
    assert result.verification is not None and result.verification.status == "pass"
    assert "g/i" in _loops(result) and "f/i" not in _loops(result)
    assert _told(result) == [11]
    # a loop that was asked for has the referee's word
    asked = port([str(path)], PortOptions(loops=("f/i",)))
    assert asked.verification is not None and asked.verification.status == "fail"


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("-fopenmp",)])
def test_the_build_in_place_has_the_macros_of_the_one_that_is_ported(flags: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    threads = "#ifdef _OPENMP\n#include <omp.h>\nint threads(void) { return omp_get_max_threads() > 0; }\n#endif\n"
    path.write_text(threads + TEXT.replace("STEP", "7"))
    result = port([str(path)], PortOptions(FrontOptions(arguments=flags), root=str(tmp_path)))
    assert result.verification is not None and result.verification.status == "pass"
    assert result.in_place is not None and any(f.path.endswith("a_build.h") for f in result.in_place.files)


DISTRIBUTED = """#include <stdio.h>
static double pool[128], z[64];
void update(int n, int w, double (*restrict m)[w], double *restrict sums, const double *restrict s)
{
    for (int i = 0; i < n; i++) {
        for (int j = 1; j < w; j++)
            if (s[j] > 0.75)
                m[i][j] = 0.5 * s[j];
        sums[i] += s[i];
    }
}
int main(void)
{
    for (int i = 0; i < 128; i++)
        pool[i] = i % 3;
    update(8, 8, (double (*)[8])pool, z, pool + 64);
    double total = 0;
    for (int i = 0; i < 64; i++)
        total += pool[i] + z[i] * (i + 1);
    printf("%g\\n", total);
    return 0;
}
"""


def test_where_the_guard_of_one_half_of_a_loop_fails_the_other_half_runs_once(tmp_path: Path) -> None:
    """Both arrays lie in one block, so that the first loop of two stays on the host; the second is a kernel."""
    path = tmp_path / "update.c"
    path.write_text(DISTRIBUTED)
    result = port([str(path)], PortOptions())
    assert result.verification is not None and result.verification.launches is not None
    launched = set(result.verification.launches)
    assert "ws_update_k2_kernel" in launched and "ws_update_k1_kernel" not in launched
    (host,) = (file for file in result.files if file.path == "update.c")
    assert host.text.count("sums[i] += s[i]") == 0
    assert is_accepted(result.verification), result.verification


LATE = """void slow(int n, double *a) { for (int j = 1; j < n; j++) { a[j] = a[j - 1]; a[j] = a[j + n] * 2 + n; } }
void easy(int n, double *a) { for (int i = 0; i < n; i++) a[i] = i; }
"""


@pytest.mark.parametrize("survey", [False, True])
def test_loops_that_were_judged_in_time_are_ported(
    survey: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "late.c"
    path.write_text(LATE)

    def judge_late(question: Question) -> Judgement:
        if question.loop.variable.name == "j":
            raise OutOfTimeError
        return judge(question)

    monkeypatch.setattr(analysis, "judge", judge_late)
    result = port([str(path)], PortOptions(verify=False, survey=survey, front=FrontOptions(timeout_s=500.0)))
    (finding,) = result.diagnostics
    assert (finding.rule, finding.severity) == ("INP009", "warning") and "--timeout" in finding.help[0]
    assert "late.c were analyzed within 100 s of processor time: some of slow have no verdict" in finding.message
    slow, easy = (f.loops[0] for f in result.facts.functions)
    assert slow.category == "unanalyzable" and easy.category == "parallel"
    assert "100 s of processor time were up" in slow.reasons[0].text
    assert not result.prepared.applied
    kernels = {f.function.symbol.name for f in result.plan.fragments} if result.plan is not None else set()
    assert kernels == (set() if survey else {"easy"})


@pytest.mark.parametrize(("slow", "done"), [("plan_port", "planned")])
def test_the_time_limit_holds_for_plans(slow: str, done: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.c"
    path.write_text("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = i; }")
    monkeypatch.setattr(flow, slow, _work_on)
    monkeypatch.setattr(flow, "_in_time", partial(_once, real=vars(flow)["_in_time"]))
    with pytest.raises(InputError) as caught:
        port([str(path)], PortOptions(verify=False))
    (finding,) = caught.value.findings
    assert finding.rule == "INP009" and re.search(
        rf"a\.c were not {done} within 2\S* s of processor time", finding.message
    )


def test_a_survey_keeps_its_verdicts_where_there_is_no_time_for_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.c"
    loop = "for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) x[j] += a[i][j];"
    path.write_text(f"void f(double (*restrict a)[9], double *restrict x) {{ {loop} }}")
    whole = port([str(path)], PortOptions(verify=False, survey=True))
    assert whole.prepared.applied and not whole.diagnostics
    for module in (prepare, search, localization):
        monkeypatch.setattr(module, "time_left", lambda: 0.0)
    result = port([str(path)], PortOptions(verify=False, survey=True))
    (finding,) = result.diagnostics
    assert finding.rule == "POR005" and "the plan of f is simpler than it might be" in finding.message
    assert not result.prepared.applied
    categories = [[loop.category for loop in f.loops] for f in (*result.facts.functions, *whole.facts.functions)]
    assert categories[0] == categories[1] and categories[0]


@pytest.mark.slow
def test_waiting_for_a_processor_takes_nothing_of_a_plans_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.c"
    path.write_text("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = i; }")
    real = vars(flow)["plan_port"]

    def plan_late(*arguments: object, **options: object) -> object:
        time.sleep(2.5)
        return real(*arguments, **options)

    monkeypatch.setattr(flow, "plan_port", plan_late)
    monkeypatch.setattr(flow, "_in_time", partial(_once, real=vars(flow)["_in_time"]))
    assert port([str(path)], PortOptions(verify=False)).files


def _work_on(*_: object, **__: object) -> None:
    ends = time.process_time() + 60
    while time.process_time() < ends:
        pass


def _once(
    paths: Sequence[str], _: float, clock: Clock, done: str, *, real: Callable[..., AbstractContextManager[None]]
) -> object:
    return real(paths, 2.0 + clock.worked, clock, done)


HANGS = """#include <math.h>
#include <stdio.h>
#define N 400
static double x[N];
static int shade[N];
int main(void)
{
    double sum = 0;
    long total = 0;
    for (int i = 0; i < N; i++)
        x[i] = sin(0.1 * i) / 3 + 0.7;
    for (int i = 0; i < N; i++)
        sum += x[i];
    for (int i = 0; i < N; i++)
        shade[i] = (int)((long long)(1e20 * x[i] / sum) % 256);
    for (int i = 0; i < N; i++)
        total += shade[i];
    printf("%ld\\n", total);
    return 0;
}
"""


def test_where_results_hang_on_the_order_of_a_sum_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(HANGS)
    result = port([str(path)], PortOptions())
    assert result.verification is not None and result.verification.status == "pass"
    assert _loops(result) == {"main/i", "main/i#3", "main/i#4"}
    told = next(finding for finding in result.findings if finding.rule == "VER039")
    assert "shade differs after region main/i#3" in told.message


def test_what_is_wrong_besides_the_order_of_a_sum_fails_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[bool] = []

    def referee(prepared: Prepared, written: Written, options: PortOptions) -> Verification:
        tried.append(options.offload.precise_fp)
        return Verification("fail", reasons=(Finding("VER009", "error", f"the output of port {len(tried)} differs"),))

    monkeypatch.setattr(flow, "_referee", referee)
    path = tmp_path / "a.c"
    path.write_text(HANGS)
    result = port([str(path)], PortOptions())
    assert tried == [False, True]
    assert result.verification is not None and "port 1" in result.verification.reasons[0].message
    assert "main/i#2" in _loops(result)
