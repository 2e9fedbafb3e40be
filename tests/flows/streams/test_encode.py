"""Exponents in place of powers of two: the program before and the one after leave the same numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.source import SourceFile
from warpsmith.flows.streams import powers, shifts
from warpsmith.flows.streams.encode import encode_file, encode_parameter
from warpsmith.flows.streams.run import StreamOptions, run_host
from warpsmith.kernels.units import KernelFile

BITONIC = Path(__file__).parents[3] / "examples" / "brook" / "bitonic.br"
Patch = pytest.MonkeyPatch


def outputs(text: str, *names: str, host: str = "main", arguments: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Return what arrays hold that streams are written to."""
    with TemporaryDirectory() as folder:
        out = {name: str(Path(folder, f"{name}.npy")) for name in names}
        run_host(SourceFile("p.br", text), host, StreamOptions(arguments, out, engine="interpreter"))
        return {name: Path(place).read_bytes() for name, place in out.items()}


def encoded(text: str, *wanted: str) -> str:
    for one in wanted:
        text = encode_parameter(SourceFile("p.br", text), one)
    return text


KERNEL = "kernel void k(float a<>, out float o<>, int w)\n{\n    int x = instance().x - 4;\n    BODY\n}\n"
CALLED = "void run(float v[], int m) { float a<8>; float o<8>; int n = 3, w = 1 << n; STATEMENT streamWrite(o, v); }\n"


# --- the example


@pytest.mark.parametrize("names", [("width",), ("distance", "period"), ("period", "width", "distance")], ids=len)
def test_the_bitonic_network_sorts_as_before(names: tuple[str, ...]) -> None:
    text = encoded(BITONIC.read_text(), *(f"sort_pass.{name}" for name in names))
    assert outputs(text, "values") == outputs(BITONIC.read_text(), "values")
    assert all(f"int {name}_exponent" in text and f"float {name}," not in text for name in names)


def test_all_passes_are_told_exponents() -> None:
    text = encoded(BITONIC.read_text(), "sort_pass.width")
    assert "(float)((int)here >> width_exponent)" in text
    assert "int width_exponent = stage;" in text and "float width = pow" not in text, "nobody reads the power any more"
    assert "// width_exponent: width is 2 to its power; from 0 to 30 are stage of line 31" in text


# --- random kernels

_HOST = """
int main()
{
    int made[64];
    float o<16>;
    float values[16];
    int n, w = 1, twice;
    for (n = 0; n < 4; n++) {
        twice = 2 * w;
        k(o, CALL);
        streamWrite(o, values);
        OUT
        w = w * 2;
    }
    return 0;
}
"""
ARRAYS = ("a0", "a1", "a2")
_OUT = "if (n == 0) { streamWrite(o, a0); } if (n == 1) { streamWrite(o, a1); } if (n == 2) { streamWrite(o, a2); }"


def random_program(seed: int) -> str:
    """Return a program whose kernel uses a power of two in ways that are drawn; arrays of its passes are a0 … a2."""
    chosen = random.Random(seed)
    kind = chosen.choice(["int", "int", "uint", "float"])
    x = f"({kind})instance().x" if kind != "int" else "instance().x"
    whole = chosen.choice(["x", "x + 3", "3 * x", "(x + 5) * 2", "x & 12" if kind != "float" else "x * x"])
    ways = {
        "float": [
            "floor(x / w)",
            "fmod(x, w)",
            f"floor(({whole}) / w)",
            f"fmod({whole}, w)",
            "x * w",
            "x + w",
            "x / w",
        ],
        "int": ["x / w", "x % w", f"({whole}) / w", f"({whole}) % w", "x * w", "w - x", "(x & 7 | 8) / w", "x / w / w"],
    }
    few = chosen.sample(ways["float" if kind == "float" else "int"], 3)
    body = f"    {kind} x = {x};\n" + "".join(f"    {kind} y{at} = {one};\n" for at, one in enumerate(few))
    total = "(float)y0 + 100.0f * (float)y1 + 0.5f * (float)y2"
    call = chosen.choice(["w", "1 << n", "2 * w", "twice", "pow(2.0f, n)", "4", "(1 << n) * 4"])
    host = _HOST.replace("CALL", call).replace("OUT", _OUT).replace("int made[64];", "float a0[16], a1[16], a2[16];")
    return f"kernel void k(out float o<>, {kind} w)\n{{\n{body}    o = {total};\n}}\n{host}"


def differing(seeds: range) -> tuple[list[int], int]:
    """Return the seeds whose program changes, and how many have shifts."""
    wrong: list[int] = []
    shifted = 0
    for seed in seeds:
        before = random_program(seed)
        after = encoded(before, "k.w")
        shifted += " >> w_exponent" in after or "& ((1 << w_exponent)" in after
        if _differ(before, after):
            wrong.append(seed)
    return wrong, shifted


def _differ(before: str, after: str) -> bool:
    """Whether a program that was changed leaves other numbers, or does not run any more."""
    wanted = outputs(before, *ARRAYS)
    try:
        return wanted != outputs(after, *ARRAYS)
    except InputError:
        return True


@pytest.mark.slow
def test_random_programs_leave_the_same() -> None:
    wrong, shifted = differing(range(8))
    assert not wrong, random_program(wrong[0])
    assert shifted > 4


@pytest.mark.slow
def test_many_random_programs_leave_the_same() -> None:
    wrong, shifted = differing(range(8, 100))
    assert not wrong, random_program(wrong[0])
    assert shifted > 46


def _one_more(patch: Patch) -> None:
    real = powers._sum
    patch.setattr(powers, "_sum", lambda one, other: f"{real(one, other)} + 1")


def _no_brackets(patch: Patch) -> None:
    patch.setattr(shifts, "wrapped", lambda expr, text: text)


def _stays(patch: Patch) -> None:
    """The exponent of a variable is not changed where the variable is."""
    real = powers._Powers._statement

    def first(self: powers._Powers, symbol: object, write: powers._Write) -> str:
        text = real(self, symbol, write)  # type: ignore[arg-type]
        return text if text.startswith("int ") else ";"

    patch.setattr(powers._Powers, "_statement", first)


def _remainder_as_quotient(patch: Patch) -> None:
    real = shifts._Shifts._remainder
    patch.setattr(shifts._Shifts, "_remainder", lambda self, left: (real(self, left) or "").replace("&", ">>") or None)


BUGS = [_one_more, _no_brackets, _stays, _remainder_as_quotient]


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: Callable[[Patch], None], monkeypatch: Patch) -> None:
    bug(monkeypatch)
    wrong, _ = differing(range(24))
    assert wrong


# --- refusals


def test_a_kernel_that_another_one_calls_is_refused() -> None:
    text = KERNEL.replace("BODY", "o = a;") + "kernel void two(float a<>, out float o<>) { k(a, o, 2); }\n"
    with pytest.raises(InputError, match="two calls k as well"):
        encoded(text, "k.w")


def test_no_parameter_of_that_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        encoded(BITONIC.read_text(), "sort_pass.input")
    assert "sort_pass.width, sort_pass.distance, sort_pass.period" in caught.value.findings[0].help[0]
    with pytest.raises(UsageError, match="a kernel of Brook"):
        encode_file(KernelFile(str(tmp_path / "k.cu")), ("k.w",))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("struct s *other(float *x) { k(x, x, 3); return 0; }", "k is named in a part of the text that is not read"),
        ("#if 0\nvoid old() { k(a, b, 3); }\n#endif", "k is named in a part of the text that is not read"),
        ("#define CALL k(a, b, 4)", "k is named in a part of the text that is not read"),
        ("#define TWICE(x) ((x) * 2)", "texts with macros that have parameters are not encoded"),
    ],
)
def test_what_is_called_out_of_sight_is_refused(more: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        encoded(f"{more}\n{KERNEL.replace('BODY', 'o = a;')}", "k.w")
