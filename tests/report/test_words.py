"""One table of words: every thing has a word where it is used, texts are told with them, `explain` knows each."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.report.history.samples import small
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.report.history.html import history_html
from warpsmith.report.history.json import history_json
from warpsmith.report.history.layout import draw_history
from warpsmith.report.history.profile_text import profile_text
from warpsmith.report.history.text import history_text
from warpsmith.report.rules import load_terms, word_terms
from warpsmith.report.words import DOCUMENT, NVIDIA, VOCABULARIES, Speech, called, load_things, thing_text

SOURCE = Path(__file__).parents[2] / "src" / "warpsmith"
KERNEL = """__global__ void k(int *a)
{
    __shared__ int s[64];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    if (threadIdx.x & 1)
        a[threadIdx.x] = s[63 - threadIdx.x];
}
"""
WAVE = re.compile(r"\b(wave|waves|ALU|ALUs|core|lane|lanes)\b")
WARP = re.compile(r"\b(warp|warps|block|lane|lanes|shared)\b")


@pytest.mark.parametrize("word", [word for t in load_things().values() for v in VOCABULARIES for word in t.called(v)])
def test_every_word_is_explained(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    if word:
        assert called(word) and run_guarded(warpsmith, ["explain", word]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert all(thing_text(thing) in out for thing in called(word))


def test_what_a_wavefront_and_an_eu_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_guarded(warpsmith, ["explain", "wavefront"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "NVIDIA: warp. AMD: wavefront, wave. Intel: sub-group" in out and "The step of this name" in out
    assert run_guarded(warpsmith, ["explain", "EU", "--words", "amd"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("EU: CU What has places for wavefronts") and "Intel: EU, execution unit" in out
    assert run_guarded(warpsmith, ["explain", "wavefronts"]) == 0
    assert run_guarded(warpsmith, ["explain", "wavefrnt"]) == 2
    assert "wavefront" in capsys.readouterr().err


def test_a_word_with_two_meanings_has_both() -> None:
    assert [thing.name for thing in called("local memory")] == ["shared memory", "memory of a thread"]
    assert [term.name for term in word_terms("Local_Memory", NVIDIA)] == ["Local_Memory: shared memory", "local memory"]
    assert called("nothing of this kind") == ()


def test_texts_ask_for_things_that_there_are() -> None:
    text = "".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py") if "words" in path.read_text("utf-8"))
    asked = set(re.findall(r"""words(?:_of)?\.(?:one|many)\(["']([^"']+)["']\)""", text))
    assert len(asked) > 5 and asked <= set(load_things())
    assert all("nvidia" in thing.words for thing in load_things().values())


def test_numbers_of_things() -> None:
    assert Speech("amd").count(1, "warp") == "1 wavefront" and Speech("amd").count(2048, "thread") == "2,048 work-items"
    assert Speech("intel").one("lane") == "channel" and DOCUMENT.many("core") == "cores"
    assert DOCUMENT.one("shared memory") == "shared memory"  # the document has none: NVIDIA's word


@pytest.mark.parametrize("vocabulary", ["amd", "intel"])
def test_terms_are_told_in_other_words(vocabulary: str) -> None:
    plain, other = load_terms(), load_terms(Speech(vocabulary))  # type: ignore[arg-type]
    assert plain.keys() == other.keys() and "warp" in plain["bank conflict"].what
    assert "warp" not in other["bank conflict"].what and "{" not in "".join(t.what + t.how for t in other.values())


def test_a_history_in_the_words_of_intel_has_no_waves() -> None:
    history = replace(small(), words=Speech("intel"))
    drawn = " ".join(
        [*(one.text for one in draw_history(history).words), *(b.title for b in draw_history(history).boxes)]
    )
    page = history_html(history)
    shown = page[page.index("<body") : page.index('<div id="data"')]
    for text in (history_text(history), profile_text(history), drawn, re.sub(r"lane_id", "", shown)):
        found = set(WAVE.findall(text.replace("lane_id", "").replace("two waves", "")))
        assert not found, (found, text)
    assert "no sub-group" in drawn and "FPU 0" in drawn and WAVE.search(history_text(small()))


def test_json_is_the_same_in_all_words() -> None:
    assert history_json(replace(small(), words=Speech("amd")), (), profile=True) == history_json(
        small(), (), profile=True
    )


def test_simulate_speaks_of_wavefronts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.cu"
    file.write_text(KERNEL)
    asked = ["simulate", str(file), "--block", "64", "--arg", "a=iota:i32[64]", "--profile"]
    texts = {}
    for words in ("", "amd", "intel"):
        said = ["--words", words] if words else []
        assert run_guarded(warpsmith, [*asked, *said, "--timeline", "ascii"]) == 0
        texts[words] = capsys.readouterr().out
    rest = texts["amd"].replace("__shared__", "").replace("work-group", "").replace("blocks", "")
    assert set(WARP.findall(rest)) <= {"lane", "lanes"} and "work-group 0 wavefront 0" in texts["amd"]
    assert "load LDS" in texts["amd"] and "load shared" in texts[""]
    assert "lost channel slots" in texts["intel"] and "64 sub-groups" not in texts["intel"]
    assert run_guarded(warpsmith, [*asked, "--words", "intel", "--timeline", "svg"]) == 0
    assert "channels 0 to 31" in capsys.readouterr().out
    assert run_guarded(warpsmith, [*asked, "--words", "amd", "--json"]) == 0
    in_amd = json.loads(capsys.readouterr().out)
    assert run_guarded(warpsmith, [*asked, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    in_amd.pop("timing_s"), plain.pop("timing_s")
    assert in_amd == plain


def test_a_debugger_says_that_it_has_its_own_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.mask"
    file.write_text("ret\n")
    assert run_guarded(warpsmith, ["simulate", str(file), "-i", "--words", "amd"]) == 2
    assert "leave --words out" in capsys.readouterr().err
