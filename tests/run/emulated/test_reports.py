"""Reports of the emulation as findings: which rule, in whose words, at which line, and which are no errors."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from warpsmith.emit.files import OutputFile
from warpsmith.run.emulated import reports
from warpsmith.run.emulated.reports import Seen, read_reports
from warpsmith.run.verification import Sources

TEXT = "__global__ void k(int *a) {\n    a[1] = 2;\n    __syncthreads();\n    if (a[3]) { a[4] = 5; }\n}\n"
# offsets in the program, the line of p.cu that each stands for (several: inlined), as addr2line names it
LINES = {
    0x10: (2,), 0x20: (3,), 0x30: (4,), 0x40: (1,), 0x50: (99,), 0x60: ("/usr/include/stdio.h:7",), 0x80: (3, 4),
    0x90: (3, 4), 0xA0: (3, 5),
}  # fmt: skip
OTHERS = {"index": 7, "size": 4, "extent": 400, "array": "a", "kernel": "k"}


def access(op: str = "read", thread: int | None = 0, pc: int = 0, **more: object) -> dict[str, object]:
    place: dict[str, object] = {} if thread is None else {"block": [0, 0, 0], "thread": [thread, 0, 0]}
    return {"op": op, "pc": pc, **place, **more}


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Read reports with a program whose places are LINES."""

    def located(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        said = ""
        for word in command[5:]:
            said += word + "\n"
            for line in LINES.get(int(word, 16) + 1, ()):
                said += f"{tmp_path}/p.cu:{line} (discriminator 3)\n" if isinstance(line, int) else f"{line}\n"
        return subprocess.CompletedProcess(command, 0, said.encode())

    monkeypatch.setattr(reports, "find_addr2line", lambda: "addr2line")
    monkeypatch.setattr(subprocess, "run", located)
    return tmp_path


def seen(folder: Path, *lines: object) -> Seen:
    path = folder / "reports"
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return read_reports(path, folder / "program", Sources((OutputFile("p.cu", TEXT),)), folder)


def report(kind: str, *accesses: dict[str, object], id: int = 1, **more: object) -> dict[str, object]:
    return {"id": id, "kind": kind, **OTHERS, "accesses": list(accesses), **more}


def test_no_file_means_that_nothing_was_seen(tmp_path: Path) -> None:
    assert read_reports(tmp_path / "none", tmp_path / "p", Sources(()), tmp_path) == Seen()


def test_the_last_line_of_a_report_counts_and_one_that_is_cut_short_does_not(read: Path) -> None:
    first, again = (report("race", access(), access(), count=count) for count in (1, 5))
    found = seen(read, first, again, report("race", access(), access(), id=2), "[3]\n", '{"id": 9, "kind": "ra')
    assert len(found.races) == 2
    assert found.races[0].text.endswith("; nothing orders them, 5 times in all")


def test_a_race_names_both_threads_and_their_lines(read: Path) -> None:
    writes, reads = access("write", 3, 0x10), access("read", 4, 0x30)
    found = seen(read, report("race", writes, reads))
    (race,) = found.races
    assert race.text == (
        "kernel k: block (0) thread (3) writes a[7] at p.cu:2, block (0) thread (4) reads a[7] at p.cu:4; "
        "nothing orders them"
    )
    assert (race.variable, race.index, race.threads) == ("a", 7, ("block (0) thread (3)", "block (0) thread (4)"))
    assert [span.text for span in race.spans] == ["a[1] = 2;", "if (a[3]) { a[4] = 5; }"]
    assert (found.silent_races, found.failures, found.notes) == ((), (), ())


def test_writes_of_one_value_are_races_of_their_own_kind(read: Path) -> None:
    found = seen(read, report("race", access("write"), access("write", 2), same_value=True, space="shared"))
    assert not found.races
    (race,) = found.silent_races
    assert "a[7] in shared memory" in race.text and race.text.endswith("(the same value each time)")


def test_more_races_than_are_written_is_nothing_by_itself(read: Path) -> None:
    assert seen(read, report("more_races", message="and others")) == Seen()


@pytest.mark.parametrize(
    ("kind", "rule", "said"),
    [
        (
            "out_of_bounds",
            "VER041",
            "kernel k, block (0) thread (0) reads a[7]: out of bounds, it has 100 elements of 4",
        ),
        ("use_after_free", "VER041", "reads a[7] after it was freed"),
        ("misaligned", "VER041", "at an address that is no multiple of 4"),
        ("wild_pointer", "VER041", "reads host memory: a kernel can only touch device memory"),
        ("writes_constant", "VER041", "writes constant memory (a[7])"),
        ("host_memory", "VER042", "reads host memory: a kernel can only touch device memory"),
        ("host_dereference", "VER042", "the host dereferenced device memory: a[7]"),
        ("host_touches_device_variable", "VER042", "the host touched the device variable a"),
        ("deadlock", "VER043", "kernel k: deadlock"),
        ("warp_mask", "VER047", "kernel k: warp mask"),
        ("too_large", "VER048", ""),
        ("host_memory_gone", "VER046", "kernel k: host memory gone"),
        ("never_heard_of", "VER045", "kernel k: never heard of"),
    ],
)
def test_an_error_has_its_rule_and_sentence(read: Path, kind: str, rule: str, said: str) -> None:
    (finding,) = seen(read, report(kind, access(pc=0x10))).failures
    assert (finding.rule, finding.severity) == (rule, "error") and said in finding.message
    assert finding.span is not None and finding.span.line == 2


@pytest.mark.parametrize("kind", ["api_error", "bad_launch"])
def test_what_the_program_may_have_expected_is_a_note(read: Path, kind: str) -> None:
    found = seen(read, report(kind, message="it says no"))
    assert not found.failures
    assert [(note.rule, note.severity, note.message) for note in found.notes] == [("VER044", "warning", "it says no")]


def test_an_element_of_unknown_size_has_no_bounds_to_divide_by(read: Path) -> None:
    (finding,) = seen(read, report("out_of_bounds", access("atomic", None), size=0)).failures
    assert finding.message == "the host updates atomically a[7]: out of bounds, it has 0 elements of 0 bytes"


def test_the_place_where_memory_was_acquired_is_shown(read: Path) -> None:
    (finding,) = seen(read, report("use_after_free", access(pc=0x10), acquired=0x30)).failures
    assert [(note.span.line, note.text) for note in finding.related] == [(4, "a is acquired here")]


def test_lines_of_other_files_or_beyond_the_end_are_no_places(read: Path) -> None:
    for pc in (0x50, 0x60, 0x70):
        (finding,) = seen(read, report("misaligned", access(pc=pc))).failures
        assert finding.span is None


def test_without_addr2line_the_kernel_is_named_all_the_same(read: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "find_addr2line", lambda: None)
    (finding,) = seen(read, report("misaligned", access(pc=0x10))).failures
    assert finding.span is None and finding.message.startswith("kernel k, block (0) thread (0)")


@pytest.mark.parametrize(
    ("actors", "help"), [(("kernel", "kernel"), "use one stream"), (("call", "host"), "wait first")]
)
def test_operations_that_nothing_orders(read: Path, actors: tuple[str, str], help: str) -> None:
    one = access("write", None, 0x10, actor=actors[0], name="fill", issued=0x30)
    two = access("read", None, 0x20, actor=actors[1], name="use", issued=0x20)
    (finding,) = seen(read, report("unordered", one, two)).failures
    assert finding.rule == "VER046" and finding.span is not None and finding.span.line == 3
    assert finding.help[0].startswith(help)
    verb = "kernel fill, launched" if actors[0] == "kernel" else "fill, queued"
    assert finding.message.startswith(f"{verb} at p.cu:4, writes a[7] at p.cu:2, ")
    first = "kernel fill" if actors[0] == "kernel" else "fill"
    assert [(n.span.line, n.text) for n in finding.related] == [(2, first), (4, f"{first} is issued here")]


def test_two_addresses_of_one_barrier_diverge_only_on_two_lines(read: Path) -> None:
    assert seen(read, report("divergent_barrier", access(pc=0x20), access(pc=0x20))) == Seen()
    assert seen(read, report("divergent_barrier", access(pc=0x20), access(pc=0x60))) == Seen()
    assert seen(read, report("divergent_barrier", access(pc=0x20), access(pc=0x30))).failures[0].rule == "VER043"


def test_barriers_with_numbers_of_their_own_diverge_on_one_line_too(read: Path) -> None:
    reports = (report("different_barriers", access(pc=0x20), access(pc=0x20), id=id) for id in (1, 2, 3))
    (failure,) = seen(read, *reports).failures
    assert failure.rule == "VER043" and failure.span is not None and failure.span.line == 3


def test_a_barrier_that_is_inlined_in_two_places_diverges(read: Path) -> None:
    assert seen(read, report("divergent_barrier", access(pc=0x80), access(pc=0x90))) == Seen()
    assert seen(read, report("divergent_barrier", access(pc=0x80), access(pc=0xA0))).failures[0].rule == "VER043"


@pytest.mark.parametrize(("kind", "rule"), [("absent_barrier", "VER043"), ("absent_lanes", "VER047")])
def test_a_thread_is_missed_only_where_it_went_around_the_barrier(read: Path, kind: str, rule: str) -> None:
    (finding,) = seen(read, report(kind, access(pc=0x20), access(pc=0x30))).failures
    assert finding.rule == rule and "without coming to" in finding.message
    assert seen(read, report(kind, access(pc=0x20))) == Seen()
    assert seen(read, report(kind, access(pc=0x60), access(pc=0x30))) == Seen()
