"""Machines with clocks from TOML: those that come along, and what is said of wrong ones."""

from __future__ import annotations

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.base.source import SourceFile
from warpsmith.machine.simt.parameters import (
    CacheShape,
    ClockMachine,
    change_machine,
    load_machine,
    machine_names,
    named_machine,
)

GOOD = "title = 'a'\nwidth = 8\nlanes_per_alu = 4\nwaves = 4\nalus = 1\nissue = 1\n[l1]\nsize = 512\nlatency = 3\n"


def load(text: str) -> ClockMachine:
    return load_machine(SourceFile("m.toml", text))


def told(text: str) -> tuple[str, int]:
    with pytest.raises(UsageError) as error:
        load(text)
    (finding,) = error.value.findings
    assert finding.rule == "MSK006"
    return finding.message, finding.span.line if finding.span else 0


def test_all_machines_that_come_along_can_be_read() -> None:
    assert machine_names() == ("cdna", "example", "few_waves", "guppy", "many_waves", "volta")
    chimes = {name: named_machine(name).chime for name in machine_names()}
    assert chimes == {"cdna": 4, "example": 1, "few_waves": 4, "guppy": 1, "many_waves": 4, "volta": 2}
    many, few = named_machine("many_waves"), named_machine("few_waves")
    assert (many.waves, many.alus, few.waves, few.alus) == (40, 4, 7, 2)


def test_numbers_and_defaults() -> None:
    machine = load(GOOD)
    assert machine.chime == 2 and machine.l1.sets(machine.line) == 1 and machine.l2.size == 0
    assert CacheShape(4096, 8).sets(64) == 8


@pytest.mark.parametrize(
    ("right", "wrong", "message", "line"),
    [
        ("alus = 1", "alus = 0", "alus: expected a whole number from 1 on", 5),
        ("width = 8", "width = 3", "width: expected a power of two: 1, 2, 4, 8, 16, 32 or 64", 2),
        ("width = 8", "width = 128", "width: expected a whole number up to 64", 2),
        ("latency = 3", "latency = -1", "l1.latency: expected a whole number from 0 on", 9),
        ("size = 512", "size = 500", "l1.size: expected 0 or a multiple of 512: 8 ways of 64 bytes", 8),
        ("lanes_per_alu = 4", "lanes_per_alu = 3", "lanes_per_alu: expected a number that divides the width, 8", 3),
        ("alus = 1", "alus = 1\nline = 65", "line: expected a power of two: 64, 128", 6),
        ("alus = 1", "alus = 'x'", "alus: expected `int`, got `str`", 5),
        ("issue = 1", "isue = 1", "isue: there is no such key", 6),
        ("size = 512", "sizes = 512", "l1.sizes: there is no such key", 8),
        ("waves = 4\n", "", "m.toml does not say waves", 0),
    ],
)
def test_a_wrong_machine_is_told_with_line_and_key(right: str, wrong: str, message: str, line: int) -> None:
    assert told(GOOD.replace(right, wrong)) == (message, line)


def test_what_is_no_toml_and_a_name_that_there_is_not() -> None:
    assert told("=")[0].startswith("m.toml is no TOML")
    with pytest.raises(UsageError) as error:
        named_machine("volto")
    assert error.value.findings[0].help[0] == "did you mean volta?"


def test_a_remedy_is_an_example() -> None:
    with pytest.raises(UsageError) as error:
        load(GOOD.replace("alus = 1", "alus = 0"))
    assert error.value.findings[0].help == ("for example alus = 2",)


def test_a_machine_with_other_values_of_some_keys() -> None:
    machine = named_machine("example")
    changed = change_machine(machine, {"issue": "4", "scheduler": "round-robin"})
    assert (changed.issue, changed.scheduler, changed.alus, changed.title) == (4, "round-robin", 2, machine.title)
    smaller = change_machine(machine, {"sampler.size": "0", "l1.size": "512", "l1.latency": "9"})
    assert (smaller.sampler.size, smaller.l1.size, smaller.l1.latency, smaller.l1.ways) == (0, 512, 9, 8)
    assert smaller.title == f"{machine.title} with sampler.size = 0, l1.size = 512, l1.latency = 9"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("isue", "1", "isue: there is no such key"),
        ("l1.sizes", "1", "l1.sizes: there is no such key"),
        ("l3.size", "1", "l3: there is no such key"),
        ("issue", "0", "issue: expected a whole number from 1 on"),
        ("issue", "-1", "issue: expected a whole number from 1 on"),
        ("issue", "two", "issue: expected `int`, got `str`"),
        ("width", "3", "width: expected a power of two: 1, 2, 4, 8, 16, 32 or 64"),
        ("width", "8", "lanes_per_alu: expected a number that divides the width, 8"),
        ("scheduler", "eager", "scheduler: expected another word: 'eager' is none of those that it may be"),
        ("l1", "512", "l1: expected `object`, got `int`"),
        ("issue.x", "5", "issue: expected `int`, got `object`"),
    ],
)
def test_a_wrong_value_is_told_with_its_key(key: str, value: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        change_machine(named_machine("example"), {key: value})
    assert error.value.findings[0].message == told
