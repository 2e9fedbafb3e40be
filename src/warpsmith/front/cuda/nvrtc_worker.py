"""The process that NVRTC runs in: a compiler may crash, or never end, without harm to us.

Standard input: one marshalled (text, name, options, kernels, headers). Standard output: (PTX or None, names, log).
"""

from __future__ import annotations

import marshal
import sys
from types import ModuleType
from typing import Final

from warpsmith.base.nvidia import load_nvrtc

__all__ = ["ABSENT", "Answer", "Request", "main"]

ABSENT: Final = 3
"""How the process exits where NVRTC is not installed."""

Request = tuple[bytes, bytes, list[bytes], list[bytes], dict[bytes, bytes]]
Answer = tuple[bytes | None, dict[bytes, bytes], bytes]
"""The PTX; the name in it of each kernel, by the name that one writes; what NVRTC says where there is no PTX."""


def main() -> None:
    """Serve one request."""
    nvrtc = load_nvrtc()
    if nvrtc is None:
        sys.exit(ABSENT)
    request: Request = marshal.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(marshal.dumps(_compile_request(nvrtc, request)))


def _compile_request(nvrtc: ModuleType, request: Request) -> Answer:
    text, name, options, kernels, headers = request
    good = nvrtc.nvrtcResult.NVRTC_SUCCESS
    status, program = nvrtc.nvrtcCreateProgram(text, name, len(headers), list(headers.values()), list(headers))
    if status != good:
        return None, {}, f"NVRTC does not take the text ({status.name})".encode()
    for kernel in kernels:
        nvrtc.nvrtcAddNameExpression(program, kernel)
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if status != good:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        return None, {}, log.rstrip(b"\0 \n")
    names: dict[bytes, bytes] = {}
    for kernel in kernels:
        status, lowered = nvrtc.nvrtcGetLoweredName(program, kernel)
        if status == good:
            names[kernel] = bytes(lowered)
    _, size = nvrtc.nvrtcGetPTXSize(program)
    ptx = b" " * size
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.rstrip(b"\0"), names, b""


if __name__ == "__main__":
    main()
