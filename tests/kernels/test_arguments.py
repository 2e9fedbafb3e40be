"""Arguments of a run as people write them: bytes of numbers, arrays, and what is told where they make no sense."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.kernels import kernel, unit
from warpsmith.base.errors import UsageError
from warpsmith.kernels.arguments import Argument, arguments_for

SCALE = {"data": "zeros:f32[4]", "n": "4", "by": "1.5"}
SCAN = {"in": "zeros:f64[2]", "n": "7", "p": "hex:0100000000002040"}
BYTES = {"b": "zeros:u8[3]", "s": "-2", "flag": "1"}
FETCH = {"out": "zeros:f32[4]", "t": "texture[3,2]:iota:f32[6]"}
OF = {"scale": SCALE, "scan": SCAN, "bytes": BYTES, "fetch": FETCH}


def given(name: str, *texts: str, **changed: str) -> dict[str, Argument]:
    wanted = OF[name] | changed
    found = arguments_for([*texts, *(f"{n}={v}" for n, v in wanted.items())], unit(), kernel(name), "simulate k.cu")
    assert [one.name for one in found] == list(OF[name]), "in the kernel's order"
    return {one.name: one for one in found}


def told(name: str, **changed: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        given(name, **changed)
    return caught.value


@pytest.mark.parametrize(
    ("kernel_name", "parameter", "text", "expected"),
    [
        ("scale", "n", "0x10", struct.pack("<i", 16)),
        ("scale", "n", "-1", struct.pack("<i", -1)),
        ("scale", "n", "4294967295", struct.pack("<I", 2**32 - 1)),
        ("scale", "n", "2*(3+4) % 5 // 2 - 1", struct.pack("<i", 1)),
        ("scale", "by", "3", struct.pack("<f", 3)),
        ("scale", "by", "-2.5e-1", struct.pack("<f", -0.25)),
        ("scale", "by", "inf", struct.pack("<f", float("inf"))),
        ("scan", "n", "18446744073709551615", struct.pack("<Q", 2**64 - 1)),
        ("scan", "p", "hex:0100000000002040", bytes.fromhex("0100000000002040")),
        ("bytes", "s", "-32768", struct.pack("<h", -32768)),
        ("bytes", "flag", "1", b"\1"),
    ],
)
def test_numbers_as_their_parameter_holds_them(kernel_name: str, parameter: str, text: str, expected: bytes) -> None:
    assert given(kernel_name, **{parameter: text})[parameter].bytes == expected


@pytest.mark.parametrize(
    ("text", "values", "known"),
    [
        ("zeros:f32[3]", [0, 0, 0], True),
        ("iota:f32[n]", [0, 1, 2, 3], True),
        ("const:f32[2]=2.5", [2.5, 2.5], True),
        ("empty:f32[2*n-7]", [0], False),
        ("zeros:f32[0]", [], True),
    ],
)
def test_arrays(text: str, values: list[float], known: bool) -> None:
    one = given("scale", data=text)["data"]
    assert one.array is not None and one.array.dtype == np.float32 and one.array.tolist() == values
    assert (one.known, one.element, one.bytes, one.local) == (known, "f32", None, 0)


def test_random_arrays_are_the_same_each_time() -> None:
    def made(name: str, **changed: str) -> list[float]:
        (key,) = changed
        array = given(name, **changed)[key].array
        assert array is not None
        return array.tolist()  # type: ignore[no-any-return]

    first = made("scale", data="rand:f32[50]:seed=3:below=2")
    assert (
        first == made("scale", data="rand:f32[50]:seed=3:below=2") != made("scale", data="rand:f32[50]:seed=4:below=2")
    )
    assert all(0 <= x < 2 for x in first) and max(first) > 1
    assert all(0 <= x < 1 for x in made("scale", data="rand:f32[50]"))
    assert max(made("bytes", b="rand:u8[90]")) < 100 <= max(made("bytes", b="rand:u8[90]:below=0xff"))


def test_arrays_of_numpy(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.array([[1, 2], [3, 4]], np.float32))
    one = given("scale", data=f"@{path}")["data"]
    assert one.array is not None and one.array.tolist() == [[1, 2], [3, 4]] and one.known
    np.save(path, np.array([True, False]))
    assert given("bytes", b=f"@{path}")["b"].element == "u8"
    np.save(path, np.array([1j]))
    assert "holds complex128" in str(told("scale", data=f"@{path}"))
    path.write_text("no array")
    assert "not an array of numpy" in str(told("scale", data=f"@{path}"))
    assert "cannot be read" in str(told("scale", data=f"@{tmp_path}/missing.npy"))
    np.savez(tmp_path / "z.npz", a=np.zeros(1), b=np.zeros(1))
    assert "holds several arrays" in str(told("scale", data=f"@{tmp_path}/z.npz"))


@pytest.mark.parametrize(
    ("kernel_name", "parameter", "text", "words"),
    [
        ("scale", "n", "4294967296", "does not fit into int"),
        ("scale", "n", "-2147483649", "does not fit into int"),
        ("bytes", "s", "65536", "does not fit into short"),
        ("scale", "n", "1.5", "an integer; it got 1.5"),
        ("scale", "n", "1/0", "divides by zero"),
        ("scale", "n", "m+1", "nothing gives m"),
        ("scale", "n", "f(1)", "not of a form that is known"),
        ("scale", "n", "1 <<", "not of a form that is known"),
        ("scale", "n", "10**9", "not of a form that is known"),
        ("scale", "n", "9999999999*9999999999", "not of a form that is known"),
        ("scale", "by", "1e99", "does not fit into float"),
        ("scale", "n", "zeros:i32[1]", "not a pointer"),
        ("scale", "data", "3", "it is a pointer (float *), not a number"),
        ("scale", "data", "zeros:f64[1]", "its elements are f32, not f64"),
        ("scale", "data", "local:f32[1]", "not shared memory"),
        ("scale", "data", "zeros:f33[1]", "no type is called 'f33'"),
        ("scale", "data", "ones:f32[1]", "not of a form that is known"),
        ("scale", "data", "zeros:f32[-1]", "elements: it must be from 0"),
        ("scale", "data", "zeros:f32[999999999]", "elements: it must be from 0"),
        ("scale", "data", "const:f32[2]", "const and each take a value"),
        ("scale", "data", "zeros:f32[2]=1", "const and each take a value"),
        ("bytes", "b", "const:u8[2]=256", "no value of this type"),
        ("scan", "p", "3", "it is a struct of 8 bytes"),
        ("scan", "p", "hex:00", "has 8 bytes; 'hex:00' has 1"),
        ("scan", "p", "hex:0g", "pairs of hexadecimal digits"),
    ],
)
def test_what_makes_no_sense(kernel_name: str, parameter: str, text: str, words: str) -> None:
    error = told(kernel_name, **{parameter: text})
    assert words in str(error) and f"--arg {parameter}" in str(error)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["n=1"], "scale needs arguments for data (float *), by (float)"),
        (["data=zeros:f32[1]", "n=1"], "scale needs an argument for by (float)"),
        (["n"], "--arg takes NAME=VALUE; it got 'n'"),
        (["=1"], "--arg takes NAME=VALUE"),
        (["dat=1"], "scale has no parameter 'dat'"),
        (["n=1", "1=2"], "--arg n is given twice"),
    ],
)
def test_names(texts: list[str], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        arguments_for(texts, unit(), kernel("scale"), "simulate k.cu")
    assert words in str(caught.value)


def test_places_are_names_and_the_help_is_a_command() -> None:
    found = arguments_for(["0=zeros:f32[2]", "param_1=2", "2=1"], unit(), kernel("scale"), "")
    assert [one.name for one in found] == ["data", "n", "by"]
    with pytest.raises(UsageError) as caught:
        arguments_for([], unit(), kernel("scale"), "simulate k.cu")
    text = str(caught.value)
    assert "simulate k.cu --arg 'data=iota:f32[n]' --arg 'n=64' --arg 'by=1.5'" in text


def test_a_texture_has_sizes_texels_and_words() -> None:
    found = given("fetch")["t"]
    assert found.array is None and found.texture is not None and found.bytes == (2).to_bytes(8, "little")
    assert found.texture.axes == 2 and not found.texture.words
    assert found.texture.texels[0, :, :, 0].tolist() == [[0, 1, 2], [3, 4, 5]]
    more = given("fetch", t="texture[3, linear,normalized,wrap]:iota:u8[12]")["t"].texture
    assert more is not None and more.words == {"linear", "normalized", "wrap"} and more.axes == 1
    assert more.texels[0, 0].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("texture[3,2]:iota:f32[7]", "1, 2 or 4 numbers a texel"), ("texture[]:iota:f32[7]", "not of a form"),
        ("texture[3,2,1,1]:iota:f32[6]", "1 to 3 sizes"), ("texture[3,0]:iota:f32[0]", "1 to 3 sizes"),
        ("texture[6,wrap]:iota:f32[6]", "normalized coordinates"), ("texture[6,border,mirror]:iota:f32[6]", "one of"),
        ("texture[6]:local:f32[6]", "1 to 3 sizes"), ("texture[6]", "not of a form that is known"),
        ("zeros:f32[6]", "not a pointer"),
    ],
)  # fmt: skip
def test_what_is_no_texture(text: str, words: str) -> None:
    assert words in str(told("fetch", t=text))


def test_only_a_texture_object_takes_a_texture() -> None:
    assert "not a texture object" in str(told("scale", data="texture[6]:iota:f32[6]"))
