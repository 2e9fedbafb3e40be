"""The generated pages know every command, rule, step and key; a page that asks another machine for a thing is found."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from warpsmith.app.cli.main import COMMANDS
from warpsmith.catalogue import STEPS
from warpsmith.report.rules import load_rules, load_terms

MANUAL = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(MANUAL / "_ext"))

import generated  # noqa: E402
from generated.markdown import prose  # noqa: E402
from offline import main, requests_of_page, requests_of_style  # noqa: E402

SOURCES = Path(__file__).parents[2] / "src" / "warpsmith"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return dict(generated.pages())


def test_there_is_a_page_for_each_command_rule_and_step(pages: dict[str, str]) -> None:
    wanted = {f"commands/{name}.md" for name in COMMANDS}
    wanted |= {f"rules/{code}.md" for code in load_rules()}
    wanted |= {f"steps/{step.name}.md" for step in STEPS}
    assert wanted | {f"{name}.md" for name in ("commands", "rules", "steps")} <= set(pages)


def test_options_of_commands_below_commands_are_listed(pages: dict[str, str]) -> None:
    assert "`--min-certainty [proven|witnessed|conditional|heuristic]`\n: Show what is" in pages["commands/analyze.md"]
    assert "## baseline prune" in pages["commands/baseline.md"]


def test_every_key_family_and_term_is_there(pages: dict[str, str]) -> None:
    for key in tomllib.loads((SOURCES / "settings" / "keys.toml").read_text("utf-8")):
        assert f"## `{key}`" in pages["configuration.md"]
    families = tomllib.loads((SOURCES / "tree" / "effects.toml").read_text("utf-8"))["functions"]
    assert pages["effects.md"].count("\n| `") == len(families)
    said = pages["terms.md"].replace("\\_", "_")
    assert all(f"## {term}\n" in said for term in load_terms())


def test_what_is_no_markup_does_not_become_markup() -> None:
    assert prose("a[i] * b_x `n % 32` <k>") == r"a\[i\] \* b\_x `n % 32` \<k\>"
    assert prose("an `odd one") == r"an \`odd one"


def test_pages_of_what_is_gone_go(tmp_path: Path) -> None:
    old = tmp_path / "rules" / "XYZ999.md"
    old.parent.mkdir()
    old.write_text("gone")
    generated.write(tmp_path)
    assert not old.exists()
    assert (tmp_path / "rules" / "MEM001.md").is_file()


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example.org/a.js"></script>',
        '<script src="//cdn.example.org/a.js"></script>',
        '<link rel="stylesheet" href="https://fonts.example.org/css">',
        '<link rel="icon" href="http://example.org/a.ico">',
        '<img src="http://example.org/a.png">',
        '<img srcset="a.png, https://example.org/b.png 2x">',
        '<svg><image xlink:href="https://example.org/a.png"/></svg>',
        '<p style="background: url(https://example.org/a.png)">',
        "<style>@import 'https://example.org/a.css';</style>",
    ],
)
def test_a_request_of_a_page_is_found(text: str) -> None:
    assert len(requests_of_page(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://example.org">a link</a>',
        '<link rel="canonical" href="https://example.org/">',
        '<script src="_static/a.js"></script><img src="data:image/svg+xml;//x">',
        "<p>url(https://example.org) in the text of a page</p>",
    ],
)
def test_what_is_no_request_passes(text: str) -> None:
    assert requests_of_page(text) == []


def test_style_sheets_and_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert requests_of_style("src: url('https://example.org/f.woff2')") == ["https://example.org/f.woff2"]
    assert requests_of_style("src: url(f.woff2)") == []
    assert main(tmp_path) == 2
    (tmp_path / "index.html").write_text("<p>fine</p>")
    assert main(tmp_path) == 0
    (tmp_path / "more.css").write_text("@import url(http://example.org/a.css)")
    assert main(tmp_path) == 1
    assert "more.css: http://example.org/a.css" in capsys.readouterr().out
