"""SYN: barriers, races, exchanges between lanes, atomics."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.analysis.test_kernel import HEAD, ROW, STAGED, TILE, told
from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.synchronization import synchronization
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.base.source import SourceFile, Span
from warpsmith.machine.devices import device
from warpsmith.ssa.reader import parse_module

WAIT = "  barrier [waits] 0:i32\n"
WARP = LaunchShape((32, 1, 1))
ROW64 = LaunchShape((64, 1, 1), (1, 1, 1))
RACES = ("SYN002", "SYN004", "SYN008")


def found(body: str, shape: LaunchShape = ROW) -> list[KernelFinding]:
    return list(synchronization(told(body, shape)))


def rules(body: str, shape: LaunchShape = ROW) -> list[str]:
    return [one.rule for one in found(body, shape)]


def behind(test: str, body: str, more: str = "") -> str:
    return f"  %c:i1 = {test}\n  branch %c yes no\nyes:\n{body}  jump no\nno:\n{more}"


def test_a_barrier_that_part_of_the_block_comes_to() -> None:
    (one,) = found(behind("slt %x 99:i32", WAIT))
    assert (one.rule, one.certainty, one.impact) == ("SYN001", "proven", 100.0)
    assert rules(behind("slt %n 99:i32", WAIT)) == ["SYN006"]


def test_a_barrier_behind_a_return_is_told_as_such() -> None:
    text = "if (i >= n) return;"
    module = parse_module(
        f"{HEAD}  %c:i1 = slt %i %n\n  branch %c go done\ngo:\n{WAIT}  jump done\ndone:\n  return\nend\n"
    )
    (function,) = module.functions
    blocks = []
    for block in function.blocks:
        span = Span(SourceFile("k.cu", text), 0, len(text)) if block.name == "start" else None
        blocks.append(replace(block, terminator=replace(block.terminator, span=span)))
    made = replace(module, functions=(replace(function, blocks=tuple(blocks)),))
    assert [one.rule for one in synchronization(examine(made, "k", ROW, device("h100")))] == ["SYN003"]
    assert [one.rule for one in synchronization(examine(module, "k", ROW, device("h100")))] == ["SYN001"]


def test_of_barriers_that_stand_in_for_each_other_one_is_told() -> None:
    (one,) = found(WAIT + WAIT + WAIT)
    assert one.rule == "SYN006" and "2 more may go after it" in one.message
    (alone,) = found(WAIT)
    assert "more may go" not in alone.message
    assert rules(STAGED.replace("BARRIER", WAIT)) == []


def test_a_race_in_shared_memory() -> None:
    (one,) = found(STAGED.replace("BARRIER", ""))
    assert (one.rule, one.certainty) == ("SYN002", "proven")
    assert "put __syncthreads() between the two" in one.help[0]
    assert one.evidence[0].columns == ("thread", "access", "place") and len(one.evidence[0].rows) == 2


def test_lanes_of_one_warp_need_a_barrier_of_the_warp() -> None:
    (one,) = found(STAGED.replace("BARRIER", ""), WARP)
    assert one.rule == "SYN004" and "__syncwarp()" in one.help[0]
    # of a larger block, where one warp alone gets there
    alone = behind("slt %x 32:i32", STAGED.replace("BARRIER", ""))
    assert rules(alone) == ["SYN004"]
    assert rules(alone.replace("slt %x 32", "slt %x 64")) == ["SYN002"]


FLAG = "  store [shared +0 align 4] %t {}\n"


def test_a_flag_that_all_set_to_one_number_is_no_race() -> None:
    assert rules(FLAG.format("1:i32")) == [] and rules(FLAG.format("%n")) == []
    assert rules(FLAG.format("%x")) == ["SYN002"]
    assert rules(FLAG.format("%n") + FLAG.format("1:i32")) == ["SYN002"]


def device_store(index: str) -> str:
    return f"  %o:i64 = smulwide {index} 4:i32\n  %p:i64 = add %a %o\n  store [global +0 align 4] %p %x\n"


def test_blocks_that_write_one_place() -> None:
    (several,) = found(device_store("%x"), LaunchShape((256, 1, 1), (4, 1, 1)))
    assert (several.rule, several.certainty) == ("SYN008", "conditional")
    # no address says that there are several blocks
    (unknown,) = found(device_store("%x"))
    assert (unknown.rule, unknown.certainty) == ("SYN008", "heuristic")


@pytest.mark.parametrize(("flat", "told"), [((), True), ((0, 2), False), ((1, 2), True)])
def test_blocks_are_several_along_the_axes_that_host_code_leaves_open(
    flat: tuple[int, ...], *, told: bool, tmp_path: Path
) -> None:
    text = """__global__ void k(float *a, const float *b) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = b[row * 999 + blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 0) a[row] = sum;
}
"""
    module = lowered(text, tmp_path, "k.cu").module
    name = next(f.name for f in module.functions if f.kernel)
    facts = examine(module, name, LaunchShape((32, 8, 1), flat=flat), device("a100"))
    assert ("SYN008" in {one.rule for one in synchronization(facts)}) == told


def test_rows_of_a_block_that_the_index_does_not_know() -> None:
    (one,) = (f for f in found(device_store("%x"), TILE) if f.rule == "SYN002")
    assert one.help[0].startswith("the index has no threadIdx.y, but the block has 8 rows")
    assert "device memory" not in one.message and len(one.help) == 3
    assert "SYN002" not in rules(device_store("%x"), ROW)


def test_a_race_behind_a_test_of_data_is_a_guess() -> None:
    body = "  %v:i32 = load [global +0 align 4] %a\n" + behind("slt {} 3:i32", FLAG.format("%x"))
    (one,) = found(body.format("%v"))
    assert (one.rule, one.certainty) == ("SYN002", "proven")
    (one,) = found(
        "  %z:i32 = load [global +4 align 4] %a\n" + body.format("%m").replace("  %c", "  %m:i32 = mul %x %z\n  %c")
    )
    assert (one.rule, one.certainty) == ("SYN002", "heuristic")


VOTE = "  %d:i1 = slt %x 7:i32\n  %m:i32 = vote [ballot] %d {}\n"


def test_an_exchange_of_lanes_that_are_not_there() -> None:
    rest = "  store [shared +0 align 4] %t 1:i32\n"
    (one,) = found(behind("slt %x 8:i32", VOTE.format("0xffffffff:i32"), rest))
    assert one.rule == "SYN005" and one.message == "vote: the mask 0xffffffff names lanes that may not be there"
    assert rules(behind("slt %x 8:i32", VOTE.format("0xff:i32"), rest)) == []
    assert rules(behind("slt %n 8:i32", VOTE.format("0xffffffff:i32"), rest)) == []
    # nobody waits for lanes that have ended
    assert rules(behind("slt %x 8:i32", VOTE.format("0xffffffff:i32"))) == []
    shuffle = "  %m:i32 = shuffle [idx] %x 3:i32 31:i32 0xffffffff:i32\n"
    (ended,) = found(behind("slt %x 8:i32", shuffle))
    assert ended.message == "shuffle: the mask 0xffffffff names lanes that have ended"


COUNT = "  %was:i32 = atomic_add [{} +0 align 4] {} 1:i32\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (COUNT.format("global", "%a"), "proven"),
        (COUNT.format("shared", "%t"), "proven"),
        (behind("slt %n 3:i32", COUNT.format("global", "%a")), "proven"),
        (behind("slt %x %n", COUNT.format("global", "%a")), "conditional"),
        # one lane of each warp, or of the block
        (behind("eq %x 0:i32", COUNT.format("global", "%a")), None),
        (behind("ne %x %n", "", COUNT.format("global", "%a")), "proven"),
        (behind("eq %i %n", COUNT.format("global", "%a")), None),
        (behind("eq %n %x", COUNT.format("global", "%a")), None),
        ("  %l:i32 = query [laneid]\n" + behind("eq %l 3:i32", COUNT.format("global", "%a")), None),
        ("  %y2:i32 = mul %x 2:i32\n" + behind("eq %y2 %n", COUNT.format("global", "%a")), "conditional"),
    ],
)
def test_one_address_for_a_warp(body: str, expected: str | None) -> None:
    contended = [one for one in found(body) if one.rule == "SYN007"]
    assert [one.certainty for one in contended] == ([expected] if expected else [])
    for one in contended:
        assert one.impact == 8.0 and ("several lanes of a warp get there" in one.assumptions) == (expected != "proven")


@pytest.mark.parametrize(
    ("op", "value", "once"),
    [("exchange", "1:i32", True), ("or", "%n", True), ("umax", "%x", False), ("add", "1:i32", False),
     ("xor", "1:i32", False)],
)  # fmt: skip
def test_a_flag_that_all_lanes_set_needs_one_of_them(op: str, value: str, *, once: bool) -> None:
    (one,) = (f for f in found(f"  %w:i32 = atomic_{op} [global +0 align 4] %a {value}\n") if f.rule == "SYN007")
    assert one.help[0].startswith("all lanes leave the same" if once else "add up within the warp")


def test_an_address_for_each_lane_is_not_contended() -> None:
    own = "  %o:i64 = smulwide %x 4:i32\n  %p:i64 = add %a %o\n" + COUNT.format("global", "%p")
    assert "SYN007" not in rules(own)


def told_of(text: str, folder: Path) -> list[tuple[str, str, list[str]]]:
    """Return the races of a kernel in blocks of 64: rule, certainty, and the lines of both sides."""
    module = lowered(text, folder, "k.cu").module
    name = next(f.name for f in module.functions if f.kernel)
    races = [one for one in synchronization(examine(module, name, ROW64, device("h100"))) if one.rule in RACES]
    spans = [(one, [one.span, *(note.span for note in one.related)]) for one in races]
    return [(one.rule, one.certainty, sorted(str(s.line) for s in some if s)) for one, some in spans]


TWO_STORES = """__global__ void k(int *a) {
  __shared__ int f[1];
  if (threadIdx.x < 40) f[0] = ONE;
  if (threadIdx.x > 20) f[0] = OTHER;
  __syncthreads();
  a[threadIdx.x] = f[0];
}
"""


@pytest.mark.parametrize(("one", "other", "races"), [("1", "1", 0), ("1", "2", 1), ("a[0]", "1", 1)])
def test_a_flag_that_is_set_at_two_places_is_no_race(one: str, other: str, races: int, tmp_path: Path) -> None:
    found = told_of(TWO_STORES.replace("ONE", one).replace("OTHER", other), tmp_path)
    assert [(rule, lines) for rule, _, lines in found] == [("SYN002", ["3", "4"])] * races


TWICE = """__device__ void step(int *s, int h) { int t = threadIdx.x;
  if (t < h) s[t] += s[t + h / 2];
}
__global__ void k(int *a) {
  __shared__ int s[128];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  if (FIRST) step(s, 64);
  __syncthreads();
  step(s, 32);
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
}
"""


@pytest.mark.parametrize(
    ("first", "rule", "certainty"), [("a[threadIdx.x] > 3", "SYN004", "proven"), ("true", "SYN002", "proven")]
)
def test_a_function_that_is_called_twice_has_its_race_once(
    first: str, rule: str, certainty: str, tmp_path: Path
) -> None:
    assert told_of(TWICE.replace("FIRST", first), tmp_path) == [(rule, certainty, ["2", "2"])]


def test_a_read_whose_value_nobody_uses_is_told_with_that_word(tmp_path: Path) -> None:
    text = "__global__ void k(int *a) {\n  int x = a[threadIdx.x + 1];\n  x = 3;\n  WAIT a[threadIdx.x] = x;\n}\n"
    assert told_of(text.replace("WAIT", ""), tmp_path) == [("SYN002", "conditional", ["2", "4"])]
    assert told_of(text.replace("WAIT", "__syncthreads();"), tmp_path) == []


STORED = "__global__ void k(int *a, int *b, int n) {\n  __shared__ int s[129];\n  int t = threadIdx.x;\n  BODY\n}\n"
EVERY = "for (int i = 0; i < n; i++) "


@pytest.mark.parametrize(
    ("alike", "unlike"),
    [
        ("s[0] = n; b[t] = s[0];", "s[0] = t; b[t] = s[0];"),
        ("s[0] = n; if (t > 9) b[t] = s[0];", "if (t > 9) s[0] = n; b[t] = s[0];"),
        ("if (a[t] > 9) { s[0] = n; b[t] = s[0]; }", "if (a[t] > 9) s[0] = n; b[t] = s[0];"),
        ("s[n & 7] = 1; b[t] = s[n & 7];", "s[t] = 1; b[t] = s[t + 1];"),
        ("s[0] = n; b[t] = s[0];", "b[t] = s[0]; s[0] = n;"),
        ("s[0] = 1; EVERY b[t] += s[0];", "EVERY { s[0] = i; b[t] += s[0]; }"),
        (
            "s[0] = 0; __syncthreads(); EVERY b[t] += s[0];",
            "EVERY {\n s[0] = 0; __syncthreads();\n if (t == 0) s[0] = 1;\n __syncthreads();\n b[t] += s[0]; }",
        ),
        ("s[0] = n; int x = s[0]; x = 3; b[t] = x;", "s[0] = t; int x = s[0]; x = 3; b[t] = x;"),
        ("a[0] = n; b[t] = a[0];", "a[t] = n; b[t] = a[0];"),
        ("__shared__ int *p; p = s; b[t] = p[t];", "__shared__ int *p; p = s + t; b[t] = p[0];"),
    ],
)
def test_who_reads_what_all_have_stored_misses_no_order(alike: str, unlike: str, tmp_path: Path) -> None:
    for body, races in ((alike, False), (unlike, True)):
        assert bool(told_of(STORED.replace("BODY", body.replace("EVERY", EVERY)), tmp_path)) is races


ACROSS = "__global__ void k(int *a, int *b, int n) {\n  a[0] = WHO;\n  b[blockIdx.x * 64 + threadIdx.x] = a[0];\n}\n"


@pytest.mark.parametrize(("who", "rules"), [("n", []), ("0", []), ("blockIdx.x", ["SYN008"] * 2)])
def test_all_blocks_may_store_one_number(who: str, rules: list[str], tmp_path: Path) -> None:
    module = lowered(ACROSS.replace("WHO", who), tmp_path, "k.cu").module
    facts = examine(module, module.functions[0].name, LaunchShape((64, 1, 1), (4, 1, 1)), device("h100"))
    assert facts.freedom.kind == "unknown"
    assert [one.rule for one in synchronization(facts) if one.rule in RACES] == rules


@pytest.mark.parametrize(
    ("value", "certainty"),
    [
        ("in[t]", "heuristic"),
        ("2 * in[t + blockIdx.x]", "heuristic"),
        ("t", "heuristic"),
        ("in[t + 16 * threadIdx.y]", "proven"),
        ("out[t]", "proven"),
        ("in[t] + in[t + 1]", "proven"),
        ("atomicAdd(out, 1)", "proven"),
    ],
)
def test_what_the_threads_of_a_column_stage_alike_is_a_guess(value: str, certainty: str, tmp_path: Path) -> None:
    body = (
        f"__shared__ int s[16]; int t = threadIdx.x; s[t] = {value}; __syncthreads(); if (!threadIdx.y) out[t] = s[t];"
    )
    module = lowered(f"__global__ void k(const int *in, int *out) {{ {body} }}\n", tmp_path, "k.cu").module
    facts = examine(module, "k", LaunchShape((16, 16, 1)), device("h100"))
    assert certainty in [one.certainty for one in synchronization(facts) if one.rule == "SYN002"]


@pytest.mark.parametrize(("body", "races"), [("s[t] = a[t]; WAIT OUT", False), ("WAIT s[t] = a[t]; OUT", True)])
def test_a_barrier_of_the_grid_is_one_of_the_block(body: str, *, races: bool, tmp_path: Path) -> None:
    out = "a[128 * blockIdx.x + t] = s[127 - t];"
    body = body.replace("WAIT", "cooperative_groups::this_grid().sync();").replace("OUT", out)
    head = "#include <cooperative_groups.h>\n__global__ void k(int *a) { __shared__ int s[128]; int t = threadIdx.x; "
    module = lowered(f"{head}{body} }}\n", tmp_path, "k.cu").module
    facts = examine(module, "k", LaunchShape((128, 1, 1), (4, 1, 1)), device("h100"))
    assert ("SYN002" in [one.rule for one in synchronization(facts)]) == races
    assert facts.freedom.kind == "unknown"


@pytest.mark.parametrize(
    ("body", "told_as"),
    [
        # one thread of the launch gets the first number of the count
        ("if (in[i] < 0 && atomicAdd(out, 1) == 0) out[1] = i;", set()),
        ("if (in[i] < 0 && atomicAdd(out, 1) < 9) out[1] = i;", {"SYN008"}),
        ("if (in[i] < 0 && in[0] == 0) out[1] = in[i];", {"SYN002", "SYN008"}),
        ("if (in[i] < 0) out[1] = 7;", set()),
        ("out[1] = i;", {"SYN002", "SYN008"}),
        ("if (i < 999) out[1] = i;", {"SYN002", "SYN008"}),
        ("if (in[i] > out[1]) out[1] = in[i];", {"SYN002", "SYN008"}),
    ],
)
def test_an_example_that_whoever_stores_last_leaves(body: str, told_as: set[str], tmp_path: Path) -> None:
    text = f"__global__ void k(const int *in, int *out) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}\n"
    module = lowered(text, tmp_path, "k.cu").module
    facts = examine(module, "k", LaunchShape((64, 1, 1), (4, 1, 1)), device("h100"))
    sure = [one for one in synchronization(facts) if one.certainty != "heuristic" and one.rule in RACES]
    assert {one.rule for one in sure} == told_as
    by_data = "if (in[i]" in body
    assert {one.at_most for one in sure} == ({"warning" if by_data else "error"} if told_as else set())
    anyone = by_data and "atomicAdd" not in body and "> out" not in body
    assert all(one.message.startswith("data decide which of several threads writes out") == anyone for one in sure)


@pytest.mark.parametrize(
    ("test", "most"),
    [
        ("i < n", "error"),
        ("in[i] > 0", "warning"),
        ("i < n && in[i] > 0", "error"),
        ("threadIdx.x < 40", "error"),
        ("threadIdx.x < n / 4", "warning"),
        ("threadIdx.x < n * 4", "error"),
        ("threadIdx.x / 4 < n", "error"),
        ("blockIdx.x * n + threadIdx.x < m", "warning"),
        ("i * n < m", "error"),
    ],
)
def test_a_barrier_that_data_keep_threads_from_is_a_warning(test: str, most: str, tmp_path: Path) -> None:
    text = f"""
        __global__ void k(const int *in, int *out, int n, int m) {{
            __shared__ int s[64];
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if ({test}) {{ s[threadIdx.x] = i; __syncthreads(); out[i] = s[63 - threadIdx.x]; }}
        }}
    """
    facts = examine(lowered(text, tmp_path, "k.cu").module, "k", LaunchShape((64, 1, 1)), device("h100"))
    (one,) = (one for one in synchronization(facts) if one.rule == "SYN001")
    assert one.at_most == most


@pytest.mark.parametrize(
    ("threads", "arguments", "told_as"),
    [
        (64, {}, {"error"}),
        (64, {"n": 1000}, {"error"}),
        (64, {"n": 1 << 20}, set[str]()),
        (48, {"n": 1 << 20}, {"error"}),
        (48, {"n": 48 << 14}, {"warning"}),
    ],
)
def test_a_bound_that_is_a_multiple_of_the_block(
    threads: int, arguments: dict[str, int], told_as: set[str], tmp_path: Path
) -> None:
    text = """
        __global__ void k(const int *in, int *out, int n) {
            __shared__ int s[64];
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) { s[threadIdx.x] = in[i]; __syncthreads(); out[i] = s[63 - threadIdx.x]; }
        }
    """
    module = lowered(text, tmp_path, "k.cu").module
    facts = examine(module, "k", LaunchShape((threads, 1, 1), arguments=arguments), device("h100"))
    assert {one.at_most for one in synchronization(facts) if one.rule == "SYN001"} == told_as


@pytest.mark.parametrize(
    ("test", "more", "most"),
    [
        # producers and consumers: each row of 32 is a warp
        ("threadIdx.y == 0", "else { p[1] = 2; __syncthreads(); }", "warning"),
        ("threadIdx.y == 0", "if (threadIdx.y == 1) { for (int k = 0; k < n; k++) __syncthreads(); }", "warning"),
        # nobody else waits, or not as often, or warps are parted
        ("threadIdx.y == 0", "", "error"),
        ("threadIdx.y == 0", "else { __syncthreads(); p[1] = 2; __syncthreads(); }", "error"),
        ("threadIdx.x < 16", "else { p[1] = 2; __syncthreads(); }", "error"),
        ("threadIdx.y == 0 && p[threadIdx.x] > 0", "else { p[1] = 2; __syncthreads(); }", "error"),
    ],
)
def test_warps_that_wait_at_barriers_of_their_own(test: str, more: str, most: str, tmp_path: Path) -> None:
    text = f"__global__ void k(int *p, int n) {{ if ({test}) {{ p[0] = 1; __syncthreads(); }} {more} p[2] = n; }}"
    module = lowered(text, tmp_path, "k.cu").module
    facts = examine(module, "k", LaunchShape((32, 2, 1)), device("h100"))
    assert {one.at_most for one in synchronization(facts) if one.rule == "SYN001"} == {most}


@pytest.mark.parametrize(
    ("bound", "rows", "told_as"),
    [
        ("n / 4 * 4", 32, "heuristic"),
        ("n * (int)blockDim.z", 24, "heuristic"),
        ("n * (int)blockDim.z", 30, "conditional"),
        ("n", 32, "conditional"),
    ],
)
def test_lanes_that_go_through_rows_together(bound: str, rows: int, told_as: str, tmp_path: Path) -> None:
    text = f"""
        __global__ void k(float *p, int n) {{
            for (int k = threadIdx.z; k < 8; k += blockDim.z) {{
                float a = 0;
                for (int r = threadIdx.x; r < {bound}; r += 4) {{
                    float v = p[8 * r + threadIdx.y];
                    a += v + __shfl_down_sync(0xffffffff, v, 1, 4);
                }}
                if (threadIdx.x == 0) p[999 + k] = a;
            }}
        }}
    """
    module = lowered(text, tmp_path, "k.cu").module
    facts = examine(module, "k", LaunchShape((4, 8, rows)), device("h100"))
    assert {one.certainty for one in synchronization(facts) if one.rule == "SYN005"} == {told_as}
