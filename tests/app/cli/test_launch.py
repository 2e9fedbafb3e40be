"""The options of a launch, as two commands take them."""

from __future__ import annotations

import click
import pytest

from tests.flows.ptx import settings_of
from warpsmith.app.cli.launch import kernel_file, launch_of, launch_options
from warpsmith.base.errors import UsageError


def given(*words: str) -> dict[str, object]:
    found: dict[str, object] = {}

    @click.command()
    @launch_options
    def command(**options: object) -> None:
        found.update(options)

    command.main(list(words), standalone_mode=False)
    return found


def test_a_launch_is_what_the_options_say() -> None:
    found = launch_of(given("--block", "8,4", "--arg", "n=3", "--warp", "16", "--shared", "64"), settings_of())
    assert (found.block, found.grid, found.arguments) == ((8, 4, 1), None, ("n=3",))
    assert (found.warp, found.shared, found.seed, found.max_steps) == (16, 64, 0, 1_000_000_000)


def test_the_file_is_the_one_of_the_path(tmp_path: object) -> None:
    found = kernel_file("k.cu", given("-D", "N=3", "--kernel", "k<float, 32>"), settings_of())
    assert (found.path, found.instances) == ("k.cu", ("k<float, 32>",))
    with pytest.raises(UsageError):
        kernel_file(str(tmp_path), given(), settings_of())
    with pytest.raises(UsageError):
        launch_of(given("--shared", "-1"), settings_of())
