"""Kernels in PTX, which are read in no time, and how they are explained."""

from __future__ import annotations

from warpsmith.flows.explain import ExplainOptions
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile
from warpsmith.settings.model import KernelSettings, Setting, Settings
from warpsmith.settings.read import Wanted, read_settings

__all__ = ["STRIDED", "file", "kernel", "options", "settings_of"]

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
STRIDED = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 128; add.s64 %rd3, %rd1, %rd2;\n" \
          "st.global.u32 [%rd3], %r1;\n"  # fmt: skip


def kernel(name: str = "k", body: str = STRIDED) -> str:
    """Return a kernel `name(a, n)`."""
    registers = ".reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %rd<9>;"
    return f".visible .entry {name}(.param .u64 a, .param .u32 n)\n{{ {registers}\n{body}ret;\n}}\n"


def file(*kernels: str, path: str = "k.ptx") -> KernelFile:
    """Return a file with these kernels."""
    return KernelFile(path, text=HEAD + "".join(kernels or (kernel(),)))


def settings_of(*kernels: KernelSettings, **flags: Setting) -> Settings:
    """Return a configuration with these flags alone; `fail_on` is --fail-on."""
    given: dict[str, Setting] = {name.replace("_", "-"): value for name, value in flags.items()}
    found = read_settings(Wanted({"jobs": 1} | given, None, files=False, environment=False))
    return Settings(found.values, found.origins, found.root, kernels=kernels) if kernels else found


def options(*kernels: str, **flags: Setting) -> ExplainOptions:
    """Return what EXPLAIN is told: blocks of 64 threads, these kernels."""
    return ExplainOptions(settings_of(**flags), Launching((64, 1, 1)), kernels)
