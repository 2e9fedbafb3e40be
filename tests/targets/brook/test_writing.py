"""Statements and expressions in Brook+."""

from __future__ import annotations

import pytest

from tests.targets.brook.test_export import HERE, brook
from warpsmith.base.errors import InputError


def body(text: str) -> list[str]:
    """Return the lines of a kernel's body behind its place."""
    return brook(f"__global__ void k(float *o, const int *b, int n) {{ {HERE}o[i] = 0; {text} }}").splitlines()[4:-1]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("if (n > 1) o[i] = n; else { o[i] = 2; }", ["if ((n > 1))", "    o = n;", "else", "{", "    o = 2;", "}"]),
        ("for (int j = 0; j < n; ++j) o[i] += b[j];", ["for (int j = 0; (j < n); ++j)", "    o += b[j];"]),
        ("do n--; while (n > 0);", ["do", "    n--;", "while ((n > 0));"]),
        (
            "while (true) { if (n) break; }",
            ["while (1)", "{", "    if (n)", "        break;", "}"],
        ),
        ("unsigned u = 3u; o[i] = n ? -u : ~n;", ["uint u = 3u;", "o = (n ? (-u) : (~n));"]),
        ("double d = n * 0.5; o[i] = (float)d;", ["double d = (n * ((double)0.5f));", "o = (float)d;"]),
        ("o[i] = fmaxf(*b, 1.5f) + b[(size_t)n];", ["o = (max((float)b[0], 1.5f) + b[n]);"]),
        ("o[i] = fmaxf(n, 2) / 2;", ["o = (max((float)n, (float)2) / 2);"]),
        ("float f = n; o[i] = b[(int)f] + b[(unsigned)n];", ["float f = n;", "o = (b[(int)f] + b[n]);"]),
        ("o[i] = (float)(blockIdx.x * blockDim.x + threadIdx.x) / 2;", ["o = ((float)(uint)instance().x / 2);"]),
        ("o[i] = blockIdx.y * blockDim.y + threadIdx.y;", ["o = (uint)instance().y;"]),
        ("if (n) return;", ["if (n)", "    return;"]),
    ],
)
def test_it_is_written_as_c_but_for_places(text: str, wanted: list[str]) -> None:
    assert [line[4:] for line in body(text)] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "int t[4]; t[0] = n; o[i] = t[0];",
        "o[i] = gridDim.x;",
        "goto end; end: ;",
        "o[i] = b[(size_t)n * n];",
        "o[i] = (long long)n;",
        "o[i] = blockIdx.z * blockDim.z + threadIdx.z;",
        "int *p = &n; o[i] = *p;",
        "o[i] = *(b + n);",
    ],
)
def test_what_brook_has_not_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        body(text)
    assert caught.value.findings[0].span is not None
