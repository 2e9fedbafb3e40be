"""A program of the mask ISA from its file to its history."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.simt.mask.programs import EXAMPLES
from warpsmith.base.errors import InputError, UsageError, WarpsmithError
from warpsmith.base.source import SourceFile
from warpsmith.flows.clocks.simulate import ClockOptions, ClockReport, simulate_clocks


def run(text: str, *arguments: str, **given: object) -> ClockReport:
    options = ClockOptions(arguments=arguments, **given)  # type: ignore[arg-type]
    return simulate_clocks(SourceFile("folder/test.mask", text), options)


def test_an_example_on_a_named_machine() -> None:
    text = (EXAMPLES / "collatz.mask").read_text()
    report = run(text, "u0=zeros:u32[64]", machine="volta", block=16, grid=4)
    assert report.exit_code == 0 and not report.findings
    assert report.history.run.views["u", 0].words[:8].tolist() == [0, 1, 7, 2, 5, 8, 16, 3]
    assert report.history.title == "test.mask" and "4 groups of 16 threads" in report.history.caption


def test_a_machine_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("title='mine'\nwidth=4\nlanes_per_alu=4\nwaves=1\nalus=1\nissue=1\n")
    assert run("ret\n", machine=str(file)).history.machine.title == "mine"
    with pytest.raises(UsageError, match="cannot be read"):
        run("ret\n", machine=str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("text", "rule", "code"),
    [
        ("pop_mask\n", "MSK003", 1),
        ("A:\npush_mask A\njmp A\n", "MSK003", 1),
        ("A:\njmp A\n", "MSK004", 3),
        ("push_mask L\nmask_nz lane_id\nret\nL:\nret\n", "MSK005", 0),
    ],
)
def test_what_goes_wrong_is_told_with_its_line(text: str, rule: str, code: int) -> None:
    report = run(text, most=1000)
    assert [finding.rule for finding in report.findings] == [rule] and report.exit_code == code
    assert report.findings[0].span is not None and report.findings[0].help


def test_images_and_buffers(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", np.full((2, 3, 4), 7, np.uint8))
    np.save(tmp_path / "b.npy", np.array([1.5, 2.5], np.float32))
    given = ["t0=image[4,2]:checker=2", "t1=image[2,2]:rand:seed=3", "u1=image[2,1]"]
    given += [f"t2=image[3,2]:@{tmp_path / 'p.npy'}", f"u0=@{tmp_path / 'b.npy'}"]
    views = run("ret\n", *given).history.run.views
    assert views["t", 0].words.tolist() == [0, 0, 0xFFFFFFFF, 0xFFFFFFFF] * 2
    assert len(set(views["t", 1].words.tolist())) == 4
    assert views["t", 2].words.tolist() == [0x07070707] * 6 and views["u", 1].words.tolist() == [0, 0]
    assert views["u", 0].words.view(np.float32).tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "argument",
    ["x=1", "t16=iota:u32[4]", "t0", "t0=image[0,4]", "t0=image[4]", "t0=iota:f64[4]", "t0=iota:u32", "t0=local:u32[4]",
     "t0=@none.npy", "t0=image[2,2]:@none.npy"],
)  # fmt: skip
def test_a_view_that_cannot_be_is_told(argument: str) -> None:
    with pytest.raises(WarpsmithError) as error:
        run("ret\n", argument)
    assert error.value.findings[0].message


def test_a_program_that_is_wrong() -> None:
    with pytest.raises(InputError, match="no instruction"):
        run("what\n")


def test_two_views_may_be_one_buffer() -> None:
    text = "mov r1.x, u(7)\nst u0, u(4), r1.x\nld r0.x, t0, u(4)\nst u0, u(0), r0.x\nret\n"
    file = SourceFile("same.mask", text)
    run = simulate_clocks(file, ClockOptions(block=1, arguments=("t0=u0", "u0=zeros:u32[2]"))).history.run
    assert run.views["u", 0].words.tolist() == [7, 7]
    apart = simulate_clocks(file, ClockOptions(block=1, arguments=("t0=zeros:u32[2]", "u0=zeros:u32[2]"))).history.run
    assert apart.views["u", 0].words.tolist() == [0, 7]
    with pytest.raises(UsageError, match="t0=u3: there is no such view"):
        simulate_clocks(file, ClockOptions(arguments=("t0=u3", "u0=zeros:u32[2]")))
