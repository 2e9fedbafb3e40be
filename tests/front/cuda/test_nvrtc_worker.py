"""The process that NVRTC runs in, with a stand-in for NVRTC."""

from __future__ import annotations

import io
import marshal
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from warpsmith.front.cuda import nvrtc_worker
from warpsmith.front.cuda.nvrtc_worker import ABSENT, Request, main

GOOD, BAD = SimpleNamespace(name="NVRTC_SUCCESS"), SimpleNamespace(name="NVRTC_ERROR")


class Standin(SimpleNamespace):
    """Compiles every text without the word `wrong`; knows every kernel but `gone`."""

    nvrtcResult = SimpleNamespace(NVRTC_SUCCESS=GOOD)  # noqa: N815  NVRTC calls it so

    def __getattr__(self, name: str) -> Any:
        answers = {
            "nvrtcCreateProgram": lambda text, *_: (BAD if text == b"bad" else GOOD, text),
            "nvrtcAddNameExpression": lambda program, kernel: (GOOD,),
            "nvrtcCompileProgram": lambda program, *_: (BAD if b"wrong" in program else GOOD,),
            "nvrtcGetProgramLogSize": lambda program: (GOOD, 8),
            "nvrtcGetProgramLog": lambda program, log: None,
            "nvrtcGetLoweredName": lambda program, kernel: (BAD if kernel == b"gone" else GOOD, b"_Z" + kernel),
            "nvrtcGetPTXSize": lambda program: (GOOD, 4),
            "nvrtcGetPTX": lambda program, ptx: None,
        }
        return answers[name]


def answer(text: bytes, *kernels: bytes) -> tuple[bytes | None, dict[bytes, bytes], bytes]:
    request: Request = (text, b"k.cu", [], list(kernels), {})
    return nvrtc_worker._compile_request(cast(ModuleType, Standin()), request)


def test_answers() -> None:
    ptx, names, log = answer(b"text", b"k", b"gone")
    assert (ptx, names, log) == (b"    ", {b"k": b"_Zk"}, b"")
    assert answer(b"wrong", b"k") == (None, {}, b"")
    assert answer(b"bad")[2] == b"NVRTC does not take the text (NVRTC_ERROR)"


def test_one_request_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc_worker, "load_nvrtc", Standin)
    given, made = io.BytesIO(marshal.dumps((b"text", b"k.cu", [], [b"k"], {}))), io.BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=given))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=made))
    main()
    assert marshal.loads(made.getvalue()) == (b"    ", {b"k": b"_Zk"}, b"")


def test_without_nvrtc_the_exit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc_worker, "load_nvrtc", lambda: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ABSENT
