"""Pages and pictures from templates (Jinja2) that stand beside what they show, named by their place in `report`.

Invariant: a value that is put into a template is text, and is escaped there; no template and no value says otherwise
(`safe`, `Markup`), so that no name of the user's is ever markup. What a template asks for and is not given is an error.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from warpsmith import __version__
from warpsmith.base.findings import printable
from warpsmith.report.legible import legible

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["page"]


def page(template: str, **values: object) -> str:
    """Return a template with values in it; `template`: its place in `report`, `survey/survey.html`."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loaded only where a page is written

    made = Environment(
        loader=PackageLoader("warpsmith.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["version"] = __version__
    made.filters |= {"legible": _legible, "printable": printable, "fixed": _format_fixed}
    return made


def _legible(value: object) -> str:
    return legible(str(value))


def _format_fixed(value: float, digits: int = 1) -> str:
    """Return a number with so many digits after its point."""
    return f"{value:.{digits}f}"
