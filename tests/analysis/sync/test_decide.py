"""Verdicts on races, against runs: the corpus, random kernels, and bugs put into the decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.analysis.sync.pairs import Pair, Version, load_pairs, load_version, races_of, run_engine, run_lanes
from tests.analysis.sync.phased_kernels import facts_of, is_racing, phased_kernel
from tests.lower.harness import lowered
from warpsmith.analysis.affine.symbols import Atom
from warpsmith.analysis.kernel import UNUSED, examine
from warpsmith.analysis.sync import apart, decide, races, reached, turns, unknowns, ways
from warpsmith.analysis.sync.apart import _Proof
from warpsmith.analysis.sync.decide import ARRAYS_APART, INSIDE
from warpsmith.analysis.sync.races import Judge, Meeting
from warpsmith.analysis.sync.unknowns import UNSIGNED, Poly, Unknowns
from warpsmith.analysis.uniformity.facts import LaunchShape, RaceVerdict
from warpsmith.machine.devices import device
from warpsmith.ssa.nodes import Instruction

Patch = pytest.MonkeyPatch

NOT_FOUND = {"halving_unknown", "one_of_two", "argument_of_two", "two_names"}
"""A loop that halves what is not known, and pointers that are one of several."""

NOT_PROVEN = {
    "triangle", "counter_begins", "tickets", "packed", "product_filled", "product_refilled", "turned_in_strips",
    "eliminated", "bitonic", "half_a_warp", "one_of_two", "argument_of_two", "two_names",
    "buffers_by_turns",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpus")


def _versions(folder: Path, *, racy: bool) -> list[Version]:
    return [load_version(pair, racy=racy, folder=folder) for pair in load_pairs()]


def test_the_corpus_is_large() -> None:
    assert len(load_pairs()) >= 60
    assert len({pair.name for pair in load_pairs()}) == len(load_pairs())


def test_races_are_found_at_their_lines(folder: Path) -> None:
    missed = set()
    for version in _versions(folder, racy=True):
        facts = version.facts
        assert facts.freedom.kind == "unknown", version.pair.name
        found = [lines for _, lines in races_of(facts)]
        assert all(lines <= version.marked for lines in found), version.pair.name
        missed |= set() if found else {version.pair.name}
    assert missed == NOT_FOUND


def test_nothing_is_told_of_kernels_that_are_free(folder: Path) -> None:
    still_open = set()
    for version in _versions(folder, racy=False):
        facts = version.facts
        assert not races_of(facts), version.pair.name
        still_open |= set() if facts.freedom.kind == "none" else {version.pair.name}
    assert still_open == NOT_PROVEN


@pytest.mark.slow
@pytest.mark.parametrize("pair", load_pairs(), ids=lambda pair: pair.name)
def test_runs_race_where_the_corpus_says_so(pair: Pair, folder: Path) -> None:
    racy = load_version(pair, racy=True, folder=folder)
    found = run_lanes(racy)
    assert found and all(lines <= racy.marked for lines in found)
    assert run_engine(racy)
    free = load_version(pair, racy=False, folder=folder)
    assert not run_lanes(free) and not run_engine(free)


@pytest.mark.parametrize("name", ["halving", "one_sum", "slices"])
def test_a_run_shows_which_version_races(name: str, folder: Path) -> None:
    (pair,) = (pair for pair in load_pairs() if pair.name == name)
    assert run_engine(load_version(pair, racy=True, folder=folder))
    assert not run_engine(load_version(pair, racy=False, folder=folder))


# --- random kernels


def _wrong(seeds: range, folder: Path) -> tuple[list[str], Counter[str]]:
    """Return the kernels that are said to be free and race, and how many there were of each kind."""
    wrong, met = [], Counter[str]()
    for seed in seeds:
        verdict, racing = facts_of(seed, folder).freedom, is_racing(seed, folder)
        met[f"{verdict.kind} {racing}"] += 1
        if verdict.kind == "none" and racing:
            wrong.append(f"{seed}: {verdict.assumptions}\n{phased_kernel(seed, folder).text}")
    return wrong, met


def test_what_is_proven_free_does_not_race(tmp_path: Path) -> None:
    wrong, met = _wrong(range(24), tmp_path)
    assert not wrong
    assert met["none False"] >= 3 and met["unknown True"] >= 5, met


@pytest.mark.slow
@pytest.mark.parametrize("start", range(24, 524, 50))
def test_what_is_proven_free_does_not_race_in_many(start: int, tmp_path: Path) -> None:
    wrong, met = _wrong(range(start, start + 50), tmp_path)
    assert not wrong
    assert met["none False"] >= 5, met


# --- bugs


def _guards_are_taken_the_other_way(patch: Patch) -> None:
    original = Unknowns._compare

    def compare(self: Unknowns, made: Instruction, at: tuple[str, str], side: int, *, holds: bool) -> None:
        original(self, made, at, side, holds=not holds)

    patch.setattr(Unknowns, "_compare", compare)


def _iterations_are_the_same(patch: Patch) -> None:
    original = Unknowns.__init__

    def same(self: Unknowns, forms: object, presences: object, relation: object) -> None:
        original(self, forms, presences, lambda atom: None if atom.of_block else 0)  # type: ignore[arg-type]

    patch.setattr(Unknowns, "__init__", same)


def _blocks_know_the_same(patch: Patch) -> None:
    original = Unknowns._atom

    def atom_of(self: Unknowns, atom: Atom, side: int) -> Poly:
        return original(self, atom, 0 if atom.of_block else side)

    patch.setattr(Unknowns, "_atom", atom_of)


def _warps_wait_for_all(patch: Patch) -> None:
    patch.setattr(races, "full_barrier", lambda i: i.op in ("barrier", "warp_barrier"))


def _only_the_last_iteration_meets_what_is_outside(patch: Patch) -> None:
    patch.setattr(races, "meeting_iterations", lambda *given: ({0}, set()))


def _only_what_comes_first_meets(patch: Patch) -> None:
    patch.setattr(ways.Ways, "may_both", lambda self, a, b: self.leads(a, b))


def _ways_end_with_a_block(patch: Patch) -> None:
    patch.setattr(ways.Ways, "_reached", lambda self, block: frozenset())


def _nobody_is_ahead(patch: Patch) -> None:
    original = _Proof._more
    patch.setattr(_Proof, "_more", lambda self, split, sign: [{(): -1}] if sign < 0 else original(self, split, sign))


def _the_same_digit_is_the_same_place(patch: Patch) -> None:
    patch.setattr(_Proof, "_same", lambda self, split, given, at, *, differ: bool(split.factor) or not differ)


def _factors_are_positive(patch: Patch) -> None:
    patch.setattr(apart, "have_no_solution", lambda zero, positive: len(list(positive)) > 12)


def _numbers_never_meet(patch: Patch) -> None:
    patch.setattr(reached, "overlap", lambda mine, yours, sizes, warp: None)


def _loops_are_left_at_once(patch: Patch) -> None:
    patch.setattr(turns, "_MANY", 0)


def _reads_do_not_count(patch: Patch) -> None:
    patch.setattr(races, "_conflicting", lambda a, b: a.space == b.space and a.kind == b.kind == "store")


def _no_grid(patch: Patch) -> None:
    patch.setattr(decide, "_decide_grid", lambda *given: None)


def _tables_are_what_they_divide(patch: Patch) -> None:
    patch.setattr(Unknowns, "_index", lambda self, atom, side: self.axis(0, side))


def _quotients_are_whole(patch: Patch) -> None:
    patch.setattr(unknowns, "_LESS", {"slt": (0, 3), "sle": (0, 3), "sgt": (1, 3), "sge": (1, 3)})


BUGS = [
    _guards_are_taken_the_other_way, _iterations_are_the_same, _blocks_know_the_same, _warps_wait_for_all,
    _only_the_last_iteration_meets_what_is_outside, _only_what_comes_first_meets, _ways_end_with_a_block,
    _nobody_is_ahead,
    _the_same_digit_is_the_same_place, _factors_are_positive, _numbers_never_meet, _loops_are_left_at_once,
    _reads_do_not_count, _no_grid, _tables_are_what_they_divide, _quotients_are_whole,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_the_decision_is_seen(bug: Callable[[Patch], None], monkeypatch: Patch, folder: Path) -> None:
    bug(monkeypatch)
    kernels = _versions(folder, racy=True)
    assert any(version.facts.freedom.kind == "none" for version in kernels)


# --- what a verdict rests on


def verdict(body: str, folder: Path, name: str = "k.cu", grid: tuple[int, int, int] | None = None) -> RaceVerdict:
    """Return the verdict on a kernel, for blocks of 64."""
    module = lowered(body, folder, name).module
    return examine(module, module.functions[0].name, LaunchShape((64, 1, 1), grid), device("h100")).freedom


def test_arrays_are_said_to_be_apart_where_one_is_written(tmp_path: Path) -> None:
    text = "__global__ void k(int *a, const int *b) { int i = blockIdx.x * 64 + threadIdx.x; a[i] = b[i + 1]; }\n"
    assert ARRAYS_APART in verdict(text, tmp_path).assumptions
    alone = "__global__ void k(int *a) { int i = blockIdx.x * 64 + threadIdx.x; a[i] = i; }\n"
    found = verdict(alone, tmp_path)
    assert found.kind == "none" and ARRAYS_APART not in found.assumptions


def test_a_pointer_that_is_loaded_may_lead_anywhere(tmp_path: Path) -> None:
    found = verdict("__global__ void k(int **a) { a[0][threadIdx.x] = 1; }\n", tmp_path)
    assert found.kind == "unknown" and "leads" in found.why


def test_a_call_of_what_is_not_known_leaves_it_open(tmp_path: Path) -> None:
    text = "__device__ void f(int *a);\n__global__ void k(int *a) { f(a); }\n"
    module = lowered(text, tmp_path).module
    (kernel,) = (f for f in module.functions if f.kernel)
    facts = examine(module, kernel.name, LaunchShape((64, 1, 1)), device("h100"))
    assert facts.freedom.kind == "unknown"


def test_a_barrier_that_not_all_reach_leaves_it_open(tmp_path: Path) -> None:
    found = verdict("__global__ void k(int *a) { if (threadIdx.x < 5) __syncthreads(); }\n", tmp_path)
    assert found.kind == "unknown" and "barrier" in found.why


READS = """
struct Two { int x, y; };
__device__ int peek(const int *a, int i) { return a[i]; }
__device__ int twice(const int *a, int i) { return peek(a, i) + peek(a, i + 1); }
__global__ void k(int *a, int *b, Two *c) { int t = threadIdx.x; BODY }
"""


@pytest.mark.parametrize(
    ("racy", "free"),
    [
        ("peek(a, t); a[t + 1] = t;", "peek(a, t); a[t] = t;"),
        (
            "for (int i = 0; i < 9; i++) peek(a, t); a[t + 1] = t;",
            "for (int i = 0; i < 9; i++) peek(b, t); a[t + 1] = t;",
        ),
        ("twice(a, t); a[t] = t;", "twice(a, 2 * t); a[2 * t] = a[2 * t + 1] = t;"),
        ("int x = a[t + 1]; x = 3; a[t] = x;", "int x = a[t + 1]; x = 3; __syncthreads(); a[t] = x;"),
        ("a[t] = a[t + 1] & 0;", "a[t] = b[t + 1] & 0;"),
        ("int v = a[t + 1]; a[t] = v - v;", "int v = a[t]; a[t] = v - v;"),
        ("Two v = c[t + 1]; c[t].x = v.y;", "Two v = c[t]; c[t].x = v.y;"),
    ],
)
def test_a_read_whose_value_nobody_uses_is_an_access(racy: str, free: str, tmp_path: Path) -> None:
    found = verdict(READS.replace("BODY", racy), tmp_path, grid=(1, 1, 1))
    assert found.kind == "unknown" and found.why.startswith(UNUSED)
    assert verdict(READS.replace("BODY", free), tmp_path, grid=(1, 1, 1)).kind == "none"


DYNAMIC = """
__global__ void k(int *a) {
    extern __shared__ int one[];
    extern __shared__ float TWO[];
    one[threadIdx.x] = 1;
    TWO[63 - threadIdx.x] = 2.0f;
}
"""


def test_arrays_of_dynamic_shared_memory_are_one_memory(tmp_path: Path) -> None:
    found = verdict(DYNAMIC.replace("TWO", "two"), tmp_path)
    assert found.kind == "unknown" and "one memory" in found.why
    apart = DYNAMIC.replace("extern __shared__ float TWO[]", "__shared__ float two[64]").replace("TWO", "two")
    assert verdict(apart, tmp_path).kind == "none"


def test_atomic_operations_of_a_block_are_none_for_other_blocks(tmp_path: Path) -> None:
    text = "__global__ void k(int *a) { atomicAddSCOPE(a, 1); }\n"
    found = verdict(text.replace("SCOPE", "_block"), tmp_path, grid=(2, 1, 1))
    assert found.kind == "unknown" and "different blocks" in found.why
    assert verdict(text.replace("SCOPE", "_block"), tmp_path, grid=(1, 1, 1)).kind == "none"
    assert verdict(text.replace("SCOPE", ""), tmp_path, grid=(2, 1, 1)).kind == "none"


def test_a_pointer_that_may_be_shared_memory_meets_it(tmp_path: Path) -> None:
    text = "__global__ void k(int *a, int n) { __shared__ int s[64]; int *p = s, *q = n ? p : a; CODE }\n"
    read = text.replace("CODE", "int v = q[threadIdx.x]; s[threadIdx.x ^ 1] = 2; a[threadIdx.x] = v;")
    assert "leads" in verdict(read, tmp_path, grid=(1, 1, 1)).why
    written = text.replace("CODE", "q[threadIdx.x] = a[0];")
    assert verdict(written, tmp_path, grid=(1, 1, 1)).kind == "unknown"
    assert verdict(text.replace("CODE", "int v = q[0]; p = 0;"), tmp_path, grid=(1, 1, 1)).kind == "none"


def test_what_is_written_to_images_leaves_it_open(tmp_path: Path) -> None:
    text = "__kernel void k(__write_only image2d_t im, __global int *o) { o[get_global_id(0)] = 1; CODE }\n"
    write = text.replace("CODE", "write_imagei(im, (int2)(0, 0), (int4)(get_local_id(0)));")
    found = verdict(write, tmp_path, "k.cl", (1, 1, 1))
    assert found.kind == "unknown" and "images" in found.why
    assert verdict(text.replace("CODE", ""), tmp_path, "k.cl", (1, 1, 1)).kind == "none"


@pytest.mark.parametrize("wide", ["unsigned", "unsigned long long"])
def test_unsigned_numbers_that_wrap_are_not_taken_for_negative_ones(wide: str, tmp_path: Path) -> None:
    body = "if (j < 100u) a[i] = 1; else a[i + 40u] = 2;"
    racy = f"__global__ void k(int *a) {{ unsigned t = threadIdx.x, i = t - 32u; {wide} j = i; {body} }}\n"
    assert verdict(racy, tmp_path, grid=(1, 1, 1)).kind == "unknown"
    assert verdict(racy.replace("40u", "64u"), tmp_path, grid=(1, 1, 1)).kind == "none"


@pytest.mark.parametrize("number", ["(unsigned)n", "(long long)(unsigned)n", "(unsigned long long)(unsigned)n"])
def test_a_negative_number_that_is_compared_as_unsigned_is_left_out_in_words(number: str, tmp_path: Path) -> None:
    text = f"__global__ void k(int *a, int n) {{ int t = threadIdx.x; if (n < 0) if (t < {number}) a[t / 2] = t; }}\n"
    found = verdict(text, tmp_path, grid=(1, 1, 1))
    assert found.kind == "unknown" or UNSIGNED in found.assumptions


@pytest.mark.parametrize(
    "place", ["out[in - out + t]", "out[(in - out) / 2 * 2 + t]", "(in + (out - in))[in - out + t]"]
)
def test_an_index_that_leads_to_another_array_leaves_it_open(place: str, tmp_path: Path) -> None:
    text = "__global__ void k(int *out, int *in) { int t = threadIdx.x; PLACE = 1; in[t + 1] = 2; }\n"
    assert verdict(text.replace("PLACE", place), tmp_path, grid=(1, 1, 1)).kind == "unknown"
    own = text.replace("PLACE", "out[t + (out - out)]").replace("in[t + 1]", "in[t]")
    assert verdict(own, tmp_path, grid=(1, 1, 1)).kind == "none"


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 1, 1)])
def test_updates_of_several_sizes_leave_it_open(grid: tuple[int, int, int], tmp_path: Path) -> None:
    text = "__global__ void k(unsigned *a) { atomicAdd((unsigned long long *)a, 1ull); atomicAdd(B + 1, 2u); }\n"
    found = verdict(text.replace("B", "a"), tmp_path, grid=grid)
    assert found.kind == "unknown" and "different sizes" in found.why
    other = text.replace("B", "b").replace("*a)", "*a, unsigned *b)", 1)
    assert verdict(other, tmp_path, grid=grid).kind == "none"


def test_numbers_that_are_given_may_be_those_of_one_block(tmp_path: Path) -> None:
    text = "__global__ void k(int *a, int n) { a[blockIdx.x * n / 2 + threadIdx.x] = n; }\n"
    module = lowered(text, tmp_path).module
    (name,) = (f.name for f in module.functions)
    for grid, told in ((None, 0), ((2, 1, 1), 1)):
        facts = examine(module, name, LaunchShape((64, 1, 1), grid, arguments={"n": 64}), device("h100"))
        assert facts.freedom.kind == "unknown" and len(facts.races) == told


def test_variables_of_the_device_are_left_by_no_index(tmp_path: Path) -> None:
    text = "__device__ int a[64], b[64]; __global__ void k(int n) { a[threadIdx.x] = b[n]; }\n"
    assert INSIDE in verdict(text, tmp_path, grid=(1, 1, 1)).assumptions


def test_layers_of_blocks_that_no_address_knows_are_said(tmp_path: Path) -> None:
    text = "__global__ void k(int *a) { a[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + threadIdx.x] = 1; }\n"
    assert "the grid has one block along z" in verdict(text, tmp_path).assumptions
    assert verdict(text, tmp_path, grid=(2, 2, 2)).kind == "unknown"


def test_a_variable_of_the_device_may_be_what_an_argument_leads_to(tmp_path: Path) -> None:
    text = "__device__ int own[65]; __global__ void k(const int *a) { own[threadIdx.x] = a[threadIdx.x + 1]; }\n"
    assert ARRAYS_APART in verdict(text, tmp_path, grid=(1, 1, 1)).assumptions


def test_a_meeting_without_all_barriers_is_not_narrowed(folder: Path) -> None:
    (pair,) = (pair for pair in load_pairs() if pair.name == "sum_for_all")
    told: list[Meeting] = []
    with pytest.MonkeyPatch.context() as patch:
        original = Judge.judge

        def judge(self: Judge, meeting: Meeting) -> object:
            told.append(meeting)
            return original(self, meeting)

        patch.setattr(Judge, "judge", judge)
        facts = load_version(pair, racy=False, folder=folder).facts
    assert not any(fact.redundant for fact in facts.barriers)
    assert {meeting.whole for meeting in told} == {True, False}


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ("i + 3 * k", "on k"),
        ("i + k * n", "on k and n"),
        ("i * n", "on n"),
        ("i + k * (int)a[1]", "on what is not known"),
    ],
)
def test_what_is_not_decided_names_the_arguments(index: str, said: str, tmp_path: Path) -> None:
    text = f"__global__ void f(float *a, int n, int k) {{ int i = threadIdx.x; float x = a[{index}]; a[i] = x; }}"
    found = verdict(text, tmp_path, grid=(1, 1, 1))
    assert found.kind == "unknown" and found.why.endswith(f"depends {said}")
