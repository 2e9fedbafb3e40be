"""`warpsmith completion`: what lets a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from warpsmith.app.cli.command import Command
from warpsmith.app.cli.global_options import global_options
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding

__all__ = ["command"]


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the script that lets SHELL complete commands and options.

    \b
    bash   eval "$(warpsmith completion bash)"                 in ~/.bashrc
    zsh    eval "$(warpsmith completion zsh)"                  in ~/.zshrc
    fish   warpsmith completion fish > ~/.config/fish/completions/warpsmith.fish
    """
    if global_options().json:
        finding = Finding("INP000", "error", "a script for a shell has no JSON form", help=("leave out --json",))
        raise UsageError(finding)
    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(click.get_current_context().find_root().command, {}, "warpsmith", "_WARPSMITH_COMPLETE")
    # the shell's version is no business of who only prints
    click.echo(ShellComplete.source(made))
    return 0
