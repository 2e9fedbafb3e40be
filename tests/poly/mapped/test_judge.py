"""Data directives: wrong programs are not proved, their right twins are; and both are what they are said to be when
they run with a device memory of its own. Random programs: what is proved prints the same on the device."""

from __future__ import annotations

import functools
import types
from pathlib import Path

import pytest

from tests.poly.analysis import program_of
from tests.poly.mapped.device_memory import outputs
from tests.poly.mapped.programs import B_FROM_A, FOR, HEAD, PROGRAMS, SUM_A, SUM_B, TAIL, program
from tests.poly.mapped.random_directives import random_program
from warpsmith.base.verdict import Proved, Refuted, Unknown, Verdict
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped import device
from warpsmith.poly.mapped.judge import judge_mapped

TITLES = tuple(PROGRAMS)


@functools.cache
def verdict(text: str) -> Verdict:
    (found,) = judge_mapped(Facts.about(program_of(text), PolyOptions()))
    return found.verdict


@pytest.mark.parametrize("title", TITLES)
def test_the_wrong_one_is_not_proved_and_the_right_one_is(title: str) -> None:
    assert not isinstance(verdict(program(title, wrong=True)), Proved)
    assert isinstance(verdict(program(title, wrong=False)), Proved)


@pytest.mark.slow
def test_on_a_device_the_wrong_ones_print_something_else_and_the_right_ones_do_not(tmp_path: Path) -> None:
    for wrong in (True, False):
        results = outputs([program(title, wrong=wrong) for title in TITLES], tmp_path)
        assert [t for t, (host, device) in zip(TITLES, results, strict=True) if (host != device) != wrong] == []


def test_a_refutation_names_both_lines_and_what_to_do() -> None:
    found = verdict(program("result is not copied back", wrong=True))
    assert isinstance(found, Refuted)
    (reason,) = found.reasons
    assert reason.rule == "CLM005" and reason.legal_if
    assert "b is written on the device in line 16, and line 17 reads it on the host" in reason.text


# what may be read is not said to be: the two bodies differ in whether it is
REGION = "#pragma omp target data map(to: a[0:n]) map(to: b[0:n])\n{\n"
SURE = {
    "the odd elements": (
        f"{REGION}{FOR}\nfor (int i = 0; i < @0] = a[i];\nfor (int i = 0; i < h; i++) s += b[2 * i + 1];\n}}",
        ("n; i++) b[i",), ("h; i++) b[2 * i",),
    ),
    "a border": (
        f"int m = argc + 3;\n{REGION}{FOR}\nfor (int i = 0; i < m; i++) for (int j = @0; j < m; j++) "
        "b[i * m + j] = a[i * m + j];\nfor (int i = 1; i < m; i++) s += b[i * m];\n}", ("0",), ("1",),
    ),
    "the other half": (
        f"{REGION}for (int i = 0; i < n; i++) b[i] += a[i];\n#pragma omp target update from(b[0:n / 2])\n"
        "for (int i = @0; i < @1; i++) s += b[i];\n}",
        ("0", "n / 2"), ("n / 2", "n"),
    ),
    "an update whose length is not known": (
        f"int k[2] = {{n, n}};\n{REGION}{FOR}\n{B_FROM_A}\n@0\n{SUM_B}\n}}",
        ("",), ("#pragma omp target update from(b[0:k[1]])",),
    ),
    "a scalar under a condition": (
        "#pragma omp target map(to: a[0:n])\n{ @0 t = 9; }\ns = t;", ("",), ("if (a[0] > 90)",),
    ),
    "too short under a condition": (
        f"{FOR} map(to: a[0:n]) map(tofrom: b[0:h])\nfor (int i = 0; i < n; i++) @0 b[i] = 2;\n{SUM_A}",
        ("",), ("if (a[i] < 3)",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", SURE)
def test_what_is_not_certain_is_not_said_to_be(title: str) -> None:
    body, certain, possible = SURE[title]
    for parts, kind in ((certain, Refuted), (possible, Unknown)):
        text = functools.reduce(lambda t, k: t.replace(f"@{k}", parts[k]), range(len(parts)), body)
        assert isinstance(verdict(HEAD + text + TAIL), kind), parts


def test_structs_are_computed_where_each_member_is() -> None:
    made = (
        "struct P { double x, y; } *p = malloc(n * sizeof *p);\nfor (int i = 0; i < n; i++) p[i] = (struct P){i, 1};\n"
    )
    kernel = f"{FOR} map(to: a[0:n]) map(from: p[0:n])\nfor (int i = 0; i < n; i++) {{ p[i].x = a[i]; @ }}\n"
    read = "for (int i = 0; i < n; i++) s += p[i].x + p[i].y;\n"
    for member, kind in (("p[i].y = 2 * a[i];", Proved), ("", Unknown), ("if (i > 0) p[i].y = 2;", Unknown)):
        assert isinstance(verdict(HEAD + made + kernel.replace("@", member) + read + TAIL), kind), member


@pytest.mark.parametrize("clause", ["is_device_ptr(c)", "has_device_addr(c)"])
def test_addresses_in_the_devices_own_memory_are_not_called_unmapped(clause: str) -> None:
    text = f"c = reserve(n);\n{FOR} {clause} map(to: a[0:n])\nfor (int i = 0; i < n; i++) c[i] = 2 * a[i];\n"
    head = HEAD.replace("int main", "double *reserve(int n);\nint main")
    found = verdict(head + text + TAIL)
    assert isinstance(found, Unknown)
    assert [clause[-2] in reason.text for reason in found.reasons]
    assert not any("not mapped" in reason.text for reason in found.reasons)
    # the others are judged all the same
    assert isinstance(verdict(head + text.replace("map(to: a[0:n])", "") + TAIL), Refuted)
    # and memory of the host's is none of the device's
    assert isinstance(verdict(head + text.replace("c = reserve(n);", "") + TAIL), Refuted)


def test_enumerators_are_read_in_sections() -> None:
    whole = f"{REGION}{FOR}\n{B_FROM_A}\n#pragma omp target update from(b[0:K])\n"
    read = "for (int i = 0; i < K; i++) s += b[i];\n}"
    head = HEAD.replace("int n = argc + 15;", "enum { K = 16 }; enum { n = K };")
    assert isinstance(verdict(head + whole + read + TAIL), Proved)
    less = whole.replace("0:K", "0:K-1")
    assert not isinstance(verdict(head + less + read + TAIL), Proved)
    # the inner one, which hides a variable, or not
    hidden = "int K = 12;\n" + HEAD.replace("int n = argc + 15;", "enum { K = 16 }; enum { n = K };")
    assert not isinstance(verdict(hidden + whole.replace("0:K", "0:12") + read + TAIL), Proved)


def check_random(seeds: range, folder: Path, *, jumps: bool = False) -> tuple[int, int]:
    """Check that what is proved is right on a device; return how many are proved, and how many of all are right."""
    texts = [random_program(seed, jumps=jumps) for seed in seeds]
    right = [host == device for host, device in outputs(texts, folder)]
    proved = [isinstance(verdict(text), Proved) for text in texts]
    assert [seed for seed, p, r in zip(seeds, proved, right, strict=True) if p and not r] == []
    return sum(proved), sum(right)


def test_what_is_proved_is_right_on_a_device(tmp_path: Path) -> None:
    proved, right = check_random(range(8), tmp_path)
    assert proved >= 2 and right < 8


@pytest.mark.slow
def test_what_is_proved_is_right_on_a_device_for_many(tmp_path: Path) -> None:
    proved, _ = check_random(range(100, 250), tmp_path)
    assert proved > 40


@pytest.mark.slow
def test_what_is_proved_is_right_where_loops_are_left_and_pointers_swapped(tmp_path: Path) -> None:
    proved, right = check_random(range(300, 312), tmp_path, jumps=True)
    assert proved >= 1 and right < 12


@pytest.mark.slow
def test_what_is_proved_is_right_for_many_loops_that_are_left(tmp_path: Path) -> None:
    proved, _ = check_random(range(400, 600), tmp_path, jumps=True)
    assert proved > 20


# what is changed in the walk; the wrong programs show it, or random ones
BUGS = {
    "a write on the device leaves the host right": ("host=copies.host | {new}", "host=copies.host"),
    "what comes has a value": ("device = copies.host if one.to else frozenset({empty})", "device = copies.host"),
    "each end of a region copies back": ("if one.back and (count == 0 or one.always):", "if one.back:"),
    "an update goes both ways": ("host = copies.device if scalar else transferred(copies.device, copies.host, extent)",
                                 "host = frozenset()"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("title", BUGS)
def test_a_bug_in_the_walk_is_seen(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = BUGS[title]
    module = device
    text = Path(module.__file__).read_text(encoding="utf-8")
    assert text.count(good) == 1
    changed = types.ModuleType("changed_device")
    exec(compile(text.replace(good, bad), "changed_device", "exec"), changed.__dict__)
    names = ("_come", "_go", "_update", "_device_access")
    for name in names:
        monkeypatch.setattr(device.DeviceSide, name, getattr(changed.DeviceSide, name))
    verdict.cache_clear()
    with pytest.raises(AssertionError):
        assert not [t for t in TITLES if isinstance(verdict(program(t, wrong=True)), Proved)]
        check_random(range(60), tmp_path)
    verdict.cache_clear()
