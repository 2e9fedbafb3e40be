"""One small kernel for each construct: the sections of text/constructs.cu, each headed by its name."""

from __future__ import annotations

from tests.lower.programs import text

CONSTRUCTS = dict(section.split("\n", 1) for section in text("constructs").split("//// ")[1:])
"""Each runs in one block of eight threads."""


def kernel(name: str, body: str, parameters: str) -> str:
    """Return the text of a construct's kernel."""
    return f"__global__ void {name}({parameters}) {{ int t = threadIdx.x;\n{body} }}"
