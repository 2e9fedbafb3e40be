"""What the global options of one invocation say."""

from __future__ import annotations

from typing import Final, Literal, cast

import click
from msgspec import Struct

__all__ = ["META", "GlobalOptions", "global_options"]

META: Final = "warpsmith.global"
"""Where command.py keeps them in click's context."""
_Color = Literal["auto", "always", "never"]


class GlobalOptions(Struct, frozen=True):
    """The global options of one invocation; `directory` is where the command runs (-C), None means "not given"."""

    verbose: int = 0
    quiet: bool = False
    color: _Color = "auto"
    no_progress: bool = False
    config: str | None = None
    no_config: bool = False
    isolated: bool = False
    cache_dir: str | None = None
    no_cache: bool = False
    jobs: int | None = None
    timeout: float | None = None
    output: str | None = None
    force: bool = False
    log_file: str | None = None
    json: bool = False
    exit_zero: bool = False
    directory: str | None = None


def global_options() -> GlobalOptions:
    """Return the global options of the command that runs; the defaults where none runs."""
    context = click.get_current_context(silent=True)
    known = context.meta.get(META, {}) if context is not None else {}
    return GlobalOptions(**cast("dict[str, object]", known))  # type: ignore[arg-type]
