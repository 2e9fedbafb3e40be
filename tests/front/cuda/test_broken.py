"""Names that the parser did not understand: only the code that uses them is lost."""

from __future__ import annotations

from tests.front.test_kernels import functions, load

BROKEN = """
struct node { int keys[ORDER]; };
typedef missing_t fp;
__constant__ float table[NN];
__global__ void of_struct(node *n) { n->keys[0] = 1; }
__global__ void of_alias(float *f) { fp x = 3; f[0] = x; }
__global__ void of_table(float *f) { f[0] = table[1]; }
__global__ void of_body(float *f) { f[0] = undefined; }
__device__ float lost(float x) { return x + wrong; }
__global__ void calls(float *f) { f[0] = lost(f[1]); }
__device__ int down(int n) { return n ? down(n - 1) : 0; }
__global__ void good(int *f) { f[0] = down(3); }
void host() { nowhere(); }
"""


def test_errors_lose_only_what_names_them() -> None:
    unit = load(BROKEN)
    assert unit.kernels == ("calls", "good")
    assert "lost" not in functions(unit) and "down" in functions(unit)
    said = {f.span.line: f for f in unit.findings if f.span is not None}
    assert set(said) == {2, 3, 4, 8, 9}
    assert all(f.rule == "INP001" and f.severity == "error" for f in said.values())
    assert said[8].span is not None and said[8].span.text == "undefined"
