"""Every kernel file is read by clang in device mode: a kernel that names a host object does not pass."""

from __future__ import annotations

from warpsmith.base.findings import Finding
from warpsmith.emit.files import OutputFile
from warpsmith.front.device_check import check_device

__all__ = ["check_kernels"]


def check_kernels(files: tuple[OutputFile, ...]) -> tuple[Finding, ...]:
    """Return what clang's device mode says against the `.cu` files (empty: they are device code)."""
    return tuple(
        finding for file in files if file.path.endswith(".cu") for finding in check_device(file.text, file.path)
    )
