"""Broken kernel files: every one ends with a diagnostic, the exit code of it, and one JSON document; what can be read
of it is served. Never a traceback, a hang, or an error of our own."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.base.nvidia import has_nvrtc
from warpsmith.report.port.json import schema

VALID = jsonschema.validators.validator_for(schema())(schema())
KERNELS = Path(__file__).parents[3] / "examples" / "kernels"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
STORE = (
    ".visible .entry k(.param .u64 p) {\n .reg .b64 %rd<3>;\n .reg .b32 %r<3>;\n ld.param.u64 %rd1, [p];\n"
    " mov.u32 %r1, %tid.x;\n st.global.u32 [%rd1], %r1;\n ret;\n}\n"
)
CUDA = "__global__ void k(int *a)\n{\n    a[threadIdx.x] = 1;\n}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


Analyze = Callable[..., tuple[int, dict[str, list[dict[str, object]]]]]


@pytest.fixture
def analyze(here: Path, capsys: pytest.CaptureFixture[str]) -> Analyze:
    """Return the exit code and the document of `analyze`, which must be of the schema whatever is given."""

    def run(*arguments: str) -> tuple[int, dict[str, list[dict[str, object]]]]:
        code = run_guarded(warpsmith, ["analyze", *arguments, "--isolated", "--json"])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        found = json.loads(said.out)
        VALID.validate(found)
        assert not [one for one in found["diagnostics"] if one["rule"] == "INT070"], said.err
        return code, found

    return run


def _noise(alphabet: str, count: int) -> str:
    return "".join(random.Random(1).choices(alphabet, k=count))


_PIECES = [".entry", "{", "}", "add.s32", "%r1", ",", ";", "[%rd1]", "@%p1", "bra", "L1:", ".reg", '"', "(", ")"]
PTX = {
    "nothing": ("", 2, "is empty"),
    "zeros": ("\0" * 1_000_000, 2, "has zero bytes"),
    "one long line": ("x" * 1_000_000, 2, "outside of any function"),
    "noise": (_noise("abc{};.%r\n ", 200_000), 2, "outside of any function"),
    "no version": (STORE, 3, "this is not PTX"),
    "a version of the future": (HEAD.replace("8.0", "99.9") + STORE, 0, "PTX version 99.9 is not known"),
    "an unknown target": (HEAD.replace("sm_80", "banana") + STORE, 0, "the target banana is not known"),
    "an unknown instruction": (HEAD + STORE.replace(" ret;", " frob.u32 %r2, %r1;\n ret;"), 0, "frob"),
    "too few operands": (HEAD + STORE.replace(" ret;", " add.s32 %r2, %r1;\n ret;"), 0, "has 2 operands and needs 3"),
    "too many operands": (HEAD + STORE.replace(" ret;", " or.b32 %r2, %r1, 1, 2;\n ret;"), 0, "operands and takes 3"),
    "only a semicolon": (HEAD + STORE.replace(" ret;", " ;;\n ret;"), 0, ""),
    "a billion registers": (HEAD + STORE.replace(" ret;", " .reg .f32 %f<1000000000>;\n ret;"), 0, "the limit"),
    "pieces": (HEAD + " ".join(random.Random(1).choices(_PIECES, k=20_000)), 3, "outside of any function"),
    "an endless loop": (HEAD + ".visible .entry round()\n{\nL: bra L;\n}\n", 0, ""),
    "no parameters": (HEAD + ".visible .entry k() { ret; }", 0, ""),
    "recursion": (HEAD + ".func f() { call f; ret; }\n.visible .entry k() { call f; ret; }", 0, ""),
    "braces": (HEAD + ".visible .entry k() " + "{" * 10_000 + "}" * 10_000, 0, ""),
    "brackets": (HEAD + ".visible .entry k() { ld.global.u32 %r1, " + "[" * 10_000 + "; }", 0, "["),
}


@pytest.mark.parametrize(("text", "code", "said"), PTX.values(), ids=list(PTX))
def test_ptx(analyze: Analyze, text: str, code: int, said: str) -> None:
    Path("bad.ptx").write_text(text, "latin-1")
    found_code, found = analyze("bad.ptx", "--fail-on", "never")
    assert found_code == code
    messages = [str(one["message"]) for one in found["diagnostics"]]
    assert any(said in message for message in messages) if said else not messages


def test_a_file_cut_anywhere(analyze: Analyze) -> None:
    text = (KERNELS / "saxpy.ptx").read_bytes() + (KERNELS / "count_if.ptx").read_bytes()
    served = 0
    for end in range(0, len(text), 50):
        Path("cut.ptx").write_bytes(text[:end])
        code, found = analyze("cut.ptx", "--select", "MEM", "--fail-on", "never")
        assert code in (0, 2, 3)
        served += bool(found.get("kernels"))
    assert served > 20


_COPY = (
    "__kernel void k(__global int *o, __local int *s) {\n"
    "  event_t e = async_work_group_copy(s, o, 4, 0); wait_group_events(1, &e); o[0] = s[0];\n}"
)
_CALLS_ITSELF = "int f(int n) { return n ? f(n - 1) : 0; }\n__kernel void k(__global int *a) { a[0] = f(3); }"
DEEP = 3 if has_nvrtc() else 2  # what is too deep for the parser is not for NVRTC
SOURCES = {
    "noise.cu": (_noise("abc(){};<>*&\"'\n ", 100_000) + " __global__", 2, ""),
    "deep.cu": (CUDA.replace("1;", "(" * 10_000 + "1" + ")" * 10_000 + ";"), DEEP, "nested more than 256 deep"),
    "bytes.cu": (CUDA + "// \xff\xfe\xc3(\n", 0, ""),
    "missing.cu": ('#include "nothere.h"\n' + CUDA, 0, "the header nothere.h is not found"),
    "half.cu": (CUDA + "__global__ void bad(int *a) { a[threadIdx.x = 1; }\n", 3, ""),
    "copy.cl": (_COPY, 0, "not modeled: the function wait_group_events, whose text is not here"),
    "calls_itself.cl": (_CALLS_ITSELF, 0, "f calls itself"),
    "none.cu": ("int main() { return 0; }", 0, "has no kernel"),
}  # fmt: skip


def test_sources(analyze: Analyze) -> None:
    for name, (text, code, said) in SOURCES.items():
        Path(name).write_text(text, "latin-1")
        found_code, found = analyze(name, "--fail-on", "never")
        messages = [str(one["message"]) for one in found["diagnostics"]]
        assert found_code == code, (name, messages)
        assert any(said in message for message in messages) or not said, (name, messages)


def test_a_long_line_is_cut_around_the_caret(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.cu").write_text(
        f"/*{'x' * 100_000}*/" + CUDA.replace("\n", " ").replace("= 1", "= mystery(1) /* \x1b[31m */")
    )
    run_guarded(warpsmith, ["analyze", "k.cu", "--isolated"])
    said = capsys.readouterr()
    assert len(said.err) + len(said.out) < 5_000
    assert "\x1b" not in said.err
    shown, carets = next(
        (line, under)
        for line, under in zip(said.err.splitlines(), said.err.splitlines()[1:], strict=False)
        if "^" in under
    )
    assert shown[carets.index("^") :].startswith("mystery")


OPTIONS = {
    ("--block", "0"): "--block takes",
    ("--block", "x"): "--block takes",
    ("--block", "1,2,3,4"): "--block takes",
    ("--arg", "n"): "--arg takes",
    ("--arg", "n=many"): "--arg takes",
    ("--arg", "nobody=1"): "no kernel has a parameter",
    ("--assume", "p is even"): "is not of a form",
    ("--device", "sm_1"): "there is no device",
    ("--select", "MEM9"): "no rule is called",
    ("--kernel", "other"): "no kernel matches",
    ("--format", "xml"): "no format is called",
    ("--fail-on", "often"): "fail-on",
    ("--config", "none.toml"): "does not exist",
    ("--baseline", "none.json"): "cannot be read",
    ("--baseline", "broken.json"): "is not a baseline",
    ("--config", "broken.toml"): "cannot be read",
    ("nothere.ptx",): "does not exist",
    ("--lang", "fortran"): "lang",
}


def test_options_that_make_no_sense_are_named_on_both_ways_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.ptx").write_text(HEAD + STORE)
    Path("broken.json").write_text("{]")
    Path("broken.toml").write_text("[[[")
    for options, said in OPTIONS.items():
        given = ["k.ptx", *options] if options[0].startswith("--") else list(options)
        assert run_guarded(warpsmith, ["analyze", *given]) == 2, options
        told = capsys.readouterr()
        assert said in told.err, options
        assert not told.out or told.out.startswith("No kernel")
        assert run_guarded(warpsmith, ["analyze", *given, "--json"]) == 2, options
        found = json.loads(capsys.readouterr().out)
        VALID.validate(found)
        assert any(said in one["message"] for one in found["diagnostics"]), options


def _mutated(text: bytes, dice: random.Random) -> bytes:
    """Return a text with a few bytes, lines or pieces gone, twice there, or exchanged."""
    for _ in range(dice.choice([1, 1, 2, 5])):
        a, b = sorted(dice.randrange(len(text)) for _ in range(2))
        b = min(b, a + dice.choice([1, 5, 40, 400]))
        match dice.randrange(5):
            case 0:
                text = text[:a] + text[b:]
            case 1:
                text = text[:b] + text[a:b] + text[b:]
            case 2:
                text = text[:a] + bytes(dice.randrange(1, 256) for _ in range(b - a)) + text[b:]
            case 3:
                text = (
                    text[:a] + dice.choice([b"(", b"}", b";", b"*", b"<", b"[", b'"', b"/*", b"0", b"%r1"]) + text[a:]
                )
            case _:
                lines = text.split(b"\n")
                n, m = dice.randrange(len(lines)), dice.randrange(len(lines))
                lines[n], lines[m] = lines[m], lines[n]
                text = b"\n".join(lines)
        if not text:
            return b";"
    return text


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "count"), [("ptx", 400), ("cl", 40), ("cu", 60)])
def test_kernels_with_random_damage(analyze: Analyze, suffix: str, count: int) -> None:
    dice = random.Random(7)
    sources = [path.read_bytes() for path in sorted(KERNELS.glob(f"*.{suffix}"))]
    codes: dict[int, int] = {}
    for _ in range(count):
        Path(f"bad.{suffix}").write_bytes(_mutated(dice.choice(sources), dice))
        start = time.process_time()
        code, _found = analyze(f"bad.{suffix}", "--fail-on", "never", "--timeout", "20")
        assert time.process_time() - start < 60
        codes[code] = codes.get(code, 0) + 1
    assert set(codes) <= {0, 2, 3, 124}, codes
    assert min(codes.get(0, 0), codes.get(2, 0) + codes.get(3, 0)) > count // 20, codes
