"""The device code of a program that somebody hands in, read by compilers for devices before it runs on the emulation.

The emulation compiles kernels for the host, where a variable of the host is in reach. clang's device mode, and NVRTC
where it is installed, know what runs where.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.nvidia import has_nvrtc
from warpsmith.front.cuda.host_uses import find_host_uses
from warpsmith.run.native.cuda_text import has_cuda_syntax
from warpsmith.run.native.device_compile import compile_nvrtc
from warpsmith.run.verification import Sources

__all__ = ["host_uses"]

_HELP: Final = ("pass it to the kernel as a parameter, or give it a __device__ definition",)
# What NVRTC says of objects of the host; other complaints are about host code, which it does not read.
_OF_THE_HOST: Final = re.compile(r"is undefined in device code|calling a __host__ function")


def host_uses(sources: Sources) -> tuple[Finding, ...]:
    """Return where device code of the program uses variables or functions of the host (VER049)."""
    texts = {file.path: file.text for file in sources.files}
    found: list[Finding] = []
    for path, text in texts.items():
        if not path.endswith(".cu") and not has_cuda_syntax(text):
            continue
        if path.endswith((".h", ".hpp", ".cuh")):
            continue
        own = sources.own.get(path, sources.arguments)
        options = tuple(word for word in own if not word.startswith("-std="))
        found += find_host_uses(texts, path, options, sources.directory) or _ask_nvrtc(text, path)
    unique = {(finding.message, str(finding.span)): finding for finding in found}
    return tuple(replace(finding, rule="VER049", help=finding.help or _HELP) for finding in unique.values())


def _ask_nvrtc(text: str, path: str) -> tuple[Finding, ...]:
    if not has_nvrtc():
        return ()
    finding = compile_nvrtc(text, name=path)
    return (finding,) if finding is not None and _OF_THE_HOST.search(finding.message) else ()
