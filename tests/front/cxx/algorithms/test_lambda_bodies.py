"""What the body of a lambda is where its call stands: new variables, and one value on each way through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import VarDecl
from warpsmith.tree.printing.printer import Printer, nothing
from warpsmith.tree.walk import walk

HEAD = """static double f(int n, double *a, double *b, double s)
{ %s for (int i = 0; i < n; i++) b[i] = g(a[i]); return s; }
"""
# the body of g; what stands for it where it is called, as text without blanks (None: the call stays)
BODIES: dict[str, str | None] = {
    "if (x > 1) return s; double w = x; return w * 2;": "b[i]=a[i]>1?s:a[i]*2;",
    "double s = x; s = s + 1; return s;": "b[i]=a[i]+1;",
    "while (x > 1) { x = x / 2; if (x < 3) break; } return x;":
    "doublevalue;doublex_=a[i];while(x_>1){x_=x_/2;if(x_<3){break;}}value=x_;b[i]=value;",
    "while (x > 9) x = x / 2; if (x > 1) return s; double s = x; while (s > 2) s = s / 3; return s;":
    "doublex_=a[i];while(x_>9){x_=x_/2;}if(x_>1){value=s;}else{doubles_=x_;while(s_>2){s_=s_/3;}value=s_;}b[i]=value;",
    "double w = x; { double w = 2; b[0] = w; } return w;": None,
    "for (int k = 0; k < 3; k++) if (x < k) return s; return x;": None,
    "switch (n) { case 1: return s; default: return x; }": None,
    "static double w = 0; w += x; return w;": None,
}  # fmt: skip


def _written(body: str, folder: Path) -> tuple[str, list[str]]:
    path = folder / "a.cpp"
    path.write_text(HEAD % f"auto g = [&](double x) {{ {body} }};" + "int main() { return 0; }\n")
    program = load_program([str(path)], FrontOptions()).program
    (function,) = (f for _, f in program.functions() if f.symbol.name == "f")
    names = [node.symbol.name for node in walk(function) if isinstance(node, VarDecl)]
    return "".join(Printer(nothing).top(function).split()), names


@pytest.mark.parametrize("body", BODIES)
def test_a_body_where_its_call_stands(body: str, tmp_path: Path) -> None:
    text, names = _written(body, tmp_path)
    expected = BODIES[body]
    assert ("=(g(a[i]));" in text) is (expected is None)
    if expected is not None:
        assert expected in text, text
        assert len(names) == len(set(names)), "each variable has a name of its own"
