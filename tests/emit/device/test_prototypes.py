"""How a kernel's parameters are declared: in the kernel, in its launcher, and where const may be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.base.errors import RefusedError
from warpsmith.emit.device.prototypes import kernel_type, launcher_type, launcher_words, plain, read_only
from warpsmith.tree.printing.printer import print_type
from warpsmith.tree.program import Kernel, KernelParameter
from warpsmith.tree.types import INT, Array, Pointer, Scalar

HEAD = "struct point { double x; float row[4]; }; enum color { RED };\nvoid use(const double *p);\n"
ARGS = (
    "double *a, double (*rows)[8], struct point *p, const struct point value, _Bool flag, const int n, "
    "unsigned char *bytes"
)


def kernel(body: str, folder: Path, *written: str) -> tuple[Kernel, dict[str, KernelParameter]]:
    function = analyzed(f"{HEAD}void f({ARGS}) {{ {body} }}", folder).function()
    parameters = {
        s.name: KernelParameter(s, s, "buffer" if isinstance(s.type, Pointer) else "value", s.name in written)
        for s in function.parameters
    }
    made = Kernel(
        "ws_f_k1", "f", "f", function.span, (), (), (1, 1, 1), tuple(parameters.values()), (), function.body, ()
    )  # fmt: skip
    return made, parameters


@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        ("bytes[0] = a[n];", "a", True),
        ("bytes[0] = a[n] + a[0];", "a", True),
        ("bytes[0] = rows[n][2];", "rows", True),
        ("bytes[0] = p[n].x;", "p", True),
        # written, used as a whole, its address or a part of it goes elsewhere
        ("a[0] = 1;", "a", False),
        ("use(a);", "a", False),
        ("use(&a[2]);", "a", False),
        ("use(rows[1]);", "rows", False),
        ("const float *q = p[1].row; bytes[0] = q[0];", "p", False),
        ("bytes[0] = p[1].row[2];", "p", True),
        ("bytes[0] = n;", "n", False),
    ],
)
def test_what_is_only_read_can_be_const(body: str, name: str, expected: bool, tmp_path: Path) -> None:
    made, parameters = kernel(body, tmp_path, "bytes", *(["a"] if body.startswith("a[0] =") else []))
    assert read_only(made, parameters[name]) == expected


def test_types_in_the_kernel_and_in_its_launcher(tmp_path: Path) -> None:
    made, parameters = kernel("bytes[0] = a[n] + rows[n][2] + p[n].x + value.x + flag;", tmp_path, "bytes")
    inside = {name: print_type(kernel_type(made, one)) for name, one in parameters.items()}
    outside = {name: print_type(launcher_type(made, one)) for name, one in parameters.items()}
    assert inside["a"] == "const double *" and inside["bytes"] == "unsigned char *" and inside["n"] == "int"
    assert "const double" in inside["rows"] and "[8]" in inside["rows"] and "struct point" in inside["value"]
    assert outside == {
        "a": "const double *", "rows": "const double *", "p": "const void *", "value": "const void *", "flag": "int",
        "n": "int", "bytes": "unsigned char *",
    }  # fmt: skip
    words = launcher_words(made, {parameters["a"].symbol: "a_gpu"})
    assert words.startswith("void ws_f_k1(const double *a_gpu, const double *rows, ") and words.endswith("*bytes)")


def test_a_buffer_is_a_pointer(tmp_path: Path) -> None:
    made, parameters = kernel("bytes[0] = n;", tmp_path, "bytes")
    n = parameters["n"].symbol
    with pytest.raises(RefusedError, match="n is not a pointer on the device"):
        kernel_type(made, KernelParameter(n, n, "cell", True))


def test_a_plain_type_has_no_names_of_the_users() -> None:
    colors = Scalar("unsigned int", 32, "unsigned", const=True, spelling="enum color")
    assert plain(colors) == Scalar("unsigned int", 32, "unsigned")
    assert plain(Pointer(Array(colors, None, 4))) == Pointer(Array(Scalar("unsigned int", 32, "unsigned"), None, 4))
    assert plain(INT) == INT
