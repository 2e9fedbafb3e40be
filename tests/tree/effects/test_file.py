from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.tree.effects.effects import FunctionEffects
from warpsmith.tree.effects.file import house_effects, users_effects

HOUSE = house_effects()


def known(name: str) -> FunctionEffects:
    found = HOUSE.of(name)
    assert found is not None
    return found


def described(tmp_path: Path, text: str) -> FunctionEffects:
    place = tmp_path / "my.toml"
    place.write_text(text)
    found = users_effects([str(place)]).of("f")
    assert found is not None
    return found


def refused(tmp_path: Path, text: str) -> str:
    place = tmp_path / "my.toml"
    place.write_text(text)
    with pytest.raises(UsageError) as caught:
        users_effects([str(place)])
    return str(caught.value)


def test_the_table_of_the_house_is_sound_in_itself() -> None:
    assert len(HOUSE.functions) > 1000
    for entry in HOUSE.functions.values():
        assert entry.fills <= entry.writes and entry.later <= entry.writes, entry.name
        # what the library holds on to later was given to it
        assert all(number <= entry.count for number in entry.keeps | entry.reads | entry.writes), entry.name
        assert (entry.io or entry.asserts) == bool(entry.reason) or entry.allocates, entry.name
        # the device has mathematics only: nothing that keeps, allocates or talks
        busy = entry.io or entry.allocates or entry.keeps or entry.program or entry.exposed_writes
        assert not (entry.device and busy), entry.name
        assert not entry.granted


@pytest.mark.parametrize(
    ("name", "reads", "writes", "keeps"),
    [
        ("memcpy", {1}, {0}, set()),
        ("putc", {1}, {1}, set()),
        ("strtok", {0, 1}, {0}, {0}),
        ("strtol", {0}, {1}, {0}),
        ("setvbuf", {0}, {0, 1}, {1}),
        ("scanf", {0}, {1}, set()),
        ("fread", {3}, {0, 3}, set()),
        ("getline", {0, 1, 2}, {0, 1, 2}, set()),
        ("MPI_Isend", {0}, {6}, {0, 6}),
        ("MPI_Irecv", set(), {0, 6}, {0, 6}),
        ("cblas_dgemm", {6, 7, 9, 11, 12}, {12}, set()),
        ("dgemm_", set(range(13)), {11}, set()),
        ("fftw_plan_dft_1d", {1}, {1, 2}, {1, 2}),
        ("qsort", {0}, {0}, set()),
    ],
)
def test_what_known_functions_do(name: str, reads: set[int], writes: set[int], keeps: set[int]) -> None:
    entry = known(name)
    found = [
        {n for n in range(entry.count + entry.variadic) if n in s} for s in (entry.reads, entry.writes, entry.keeps)
    ]
    assert found == [reads, writes, keeps]


def test_builtin_forms_are_the_functions() -> None:
    assert HOUSE.of("__builtin_memcpy") == known("memcpy")
    assert HOUSE.of("interpolate") is None


def test_another_number_of_arguments_is_another_function() -> None:
    assert known("remove").fits(1) and not known("remove").fits(3)
    assert known("printf").fits(1) and known("printf").fits(5) and not known("printf").fits(0)


def test_a_users_function(tmp_path: Path) -> None:
    entry = described(
        tmp_path,
        '# what our library does\n[[functions]]\nnames = "f g_{a,b}"\narguments = "out table n ..."\n'
        'reads = "table ..."\nwrites = "out"\nfills = "out"\nkeeps = "table"\nreturns = "out"\n',
    )
    assert entry.reads_argument(1) and entry.reads_argument(7) and not entry.reads_argument(0)
    assert entry.writes_argument(0) and entry.keeps_argument(1) and entry.returns == 0 and entry.fills == {0}
    assert entry.granted == f"{tmp_path / 'my.toml'}:3"
    table = users_effects([str(tmp_path / "my.toml")])
    assert table.of("g_b") is not None and table.of("sqrt") == known("sqrt")


def test_a_later_file_has_the_last_word(tmp_path: Path) -> None:
    first, second = tmp_path / "a.toml", tmp_path / "b.toml"
    first.write_text('[[functions]]\nnames = "f rand"\narguments = "x"\nreads = "x"\n')
    second.write_text('[[functions]]\nnames = "f"\narguments = "x"\nwrites = "x"\n')
    table = users_effects([str(first), str(second)])
    last, over = table.of("f"), table.of("rand")
    assert last is not None and last.writes == {0} and not last.reads
    assert over is not None and not over.io and over.granted


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('[[functions]]\nnames = "f"\nraeds = "x"\n', 3, "did you mean reads?"),
        ('[[functions]]\nnames = "f"\narguments = "table n"\nreads = "tabel"\n', 4, "did you mean table?"),
        ('[[functions]]\nnames = "f"\narguments = "a a"\n', 3, "different words"),
        ('[[functions]]\nnames = "f"\narguments = "a ... b"\n', 3, "at the end"),
        ('[[functions]]\nnames = "f"\nreads = 3\n', 3, "must be a text"),
        ('[[functions]]\nnames = "f"\nthreads = "yes"\n', 3, "must be true or false"),
        ('[[functions]]\nnames = "f"\ndevice = true\n', 3, "cannot run on the device"),
        ('[[functions]]\nnames = "f"\narguments = "a"\nfills = "a"\n', 4, "must stand in writes"),
        ('[[functions]]\narguments = "a"\n', 1, "needs names"),
        ('[[functions]]\nnames = "f"\n[[functions]]\nnames = "g f"\n', 4, "described twice"),
        ('[[functions]]\nnames = "a-b"\n', 2, "no name of a function"),
        ('[[functions]]\nnames = "f\n', 2, "EFF001"),
        ('[[function]]\nnames = "f"\n', 1, "there is no table 'function'"),
        ("functions = 3\n", 1, "must be written [[functions]]"),
        ('[[functions]]\nnames = "f"\nexposed = "read"\n', 3, "did you mean reads?"),
    ],
)
def test_wrong_files_are_refused_with_their_place(text: str, line: int, says: str, tmp_path: Path) -> None:
    message = refused(tmp_path, text)
    assert says in message
    assert f"my.toml:{line}:" in message


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        users_effects(["/nowhere/my.toml"])


def test_the_table_is_the_same_read_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path))
    read, kept = house_effects.__wrapped__().functions, house_effects.__wrapped__().functions
    assert (tmp_path / "tables" / "effects").exists()
    assert list(read.items()) == list(kept.items()) == list(HOUSE.functions.items())
    assert all(type(read["memcpy"].reads) is type(entry.reads) for entry in kept.values())
