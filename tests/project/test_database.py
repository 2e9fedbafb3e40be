"""compile_commands.json in all its forms, and what is said where one cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpsmith.base.errors import InputError
from warpsmith.project.database import project_of_files, read_database


def database(folder: Path, *entries: object) -> str:
    path = folder / "build" / "compile_commands.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(entries))
    return str(path)


def source(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("int x;\n")


def test_both_forms_relative_folders_and_the_folder_of_the_database(tmp_path: Path) -> None:
    source(tmp_path, "a.c", "b.cpp")
    path = database(
        tmp_path,
        {
            "directory": str(tmp_path / "build"),
            "command": "gcc -I../inc -DS='\"a b\"' -c ../a.c -o a.o",
            "file": "../a.c",
        },
        {"directory": ".", "arguments": ["g++", "-c", "../b.cpp"], "file": "../b.cpp", "output": "x/b.o"},
    )
    for given in (path, str(tmp_path / "build"), str(tmp_path)):
        project = read_database(given)
        assert [(c.file, c.language, c.arguments, c.output) for c in project.commands] == [
            (f"{tmp_path}/a.c", "c", (f"-I{tmp_path}/inc", '-DS="a b"'), f"{tmp_path}/build/a.o"),
            (f"{tmp_path}/b.cpp", "c++", (), f"{tmp_path}/build/x/b.o"),
        ]
        assert project.root == str(tmp_path)
        assert not project.findings


def test_the_same_entry_twice_counts_once_and_two_sets_of_options_twice(tmp_path: Path) -> None:
    source(tmp_path, "a.c")
    entry = {"directory": str(tmp_path), "command": "gcc -DA -c a.c", "file": "a.c"}
    project = read_database(database(tmp_path, entry, entry, {**entry, "command": "gcc -DB -c a.c"}))
    assert [c.arguments for c in project.commands] == [("-DA",), ("-DB",)]


def test_what_cannot_be_used_is_told_and_the_rest_is_served(tmp_path: Path) -> None:
    source(tmp_path, "a.c")
    here = str(tmp_path)
    project = read_database(
        database(
            tmp_path,
            {"directory": here, "command": "gcc -c a.c", "file": "a.c"},
            {"directory": here, "command": "gcc -c b.c"},
            {"directory": here, "file": "c.c"},
            {"directory": here, "command": "gcc -c d.c", "file": "d.c"},
            {"directory": here, "command": "gcc @gone.rsp -c a.c", "file": "a.c", "output": "second.o"},
            17,
        )
    )
    assert [c.file for c in project.commands if Path(c.file).is_file()] == [f"{here}/a.c", f"{here}/a.c"]
    told = [(f.rule, f.message) for f in project.findings]
    assert [rule for rule, _ in told] == ["PRJ001", "PRJ001", "PRJ003", "PRJ001", "PRJ002"]
    assert "entry 2 has no file" in told[0][1]
    assert "d.c does not exist" in told[-1][1]
    assert all(f.help for f in project.findings)


@pytest.mark.parametrize("text", ["", "{}", "[", "nothing", '["a"]', "[]", "[" * 100_000])
def test_what_is_no_database_is_an_error_with_a_remedy(tmp_path: Path, text: str) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_database(str(path))
    assert caught.value.findings[0].rule == "PRJ001"
    assert caught.value.findings[0].help


def test_no_database_at_all_says_how_to_make_one(tmp_path: Path) -> None:
    for given in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="CMAKE_EXPORT_COMPILE_COMMANDS"):
            read_database(str(given))


def test_files_by_name(tmp_path: Path) -> None:
    source(tmp_path, "a.c", "b.cc")
    project = project_of_files([f"{tmp_path}/a.c", f"{tmp_path}/b.cc", f"{tmp_path}/gone.c"])
    assert [c.language for c in project.commands] == ["c", "c++", "c"]
    assert ["gone.c" in f.message for f in project.findings] == [True]
    with pytest.raises(InputError):
        project_of_files([f"{tmp_path}/gone.c"])
