"""Templates for a build: every one is right as it stands, and gets all its values."""

from __future__ import annotations

import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from warpsmith.project.filling import fill_template

TEMPLATES = Path(str(files("warpsmith.project") / "templates"))


@pytest.mark.parametrize("name", ["compiler.sh", "cmake.sh"])
def test_the_shell_takes_it(name: str) -> None:
    assert subprocess.run(["sh", "-n", str(TEMPLATES / name)], capture_output=True, check=True).stderr == b""


def test_values_stand_in_place_of_names() -> None:
    text = fill_template("cmake.sh", {"log": "/tmp/a b", "real": "'/usr/bin/c make'", "path": r"/x\1"})
    assert 'file="/tmp/a b/$$"' in text
    assert text.splitlines()[-1].startswith(r"PATH=/x\1 CMAKE_EXPORT")
    assert text.endswith("""exec '/usr/bin/c make' "$@"\n""")


def test_a_name_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill_template("targets.cmake", {"library": "libwarpsmith.so"})
