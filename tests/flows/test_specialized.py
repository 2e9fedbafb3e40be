"""Templates with several instances, ported apart from the project: each has a specialization, and is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.tree import specializations
from warpsmith.tree.nodes import Function

PROGRAM = """#include <cstdio>
#include <vector>
namespace field {
template <typename T, int N = 2>
static inline void smooth(const T *__restrict in, T *out, int n, T weight = T(1))
{
    const T one = static_cast<T>(1) / (2 * N + 1);
    for (int i = N; i < n - N; i++) {
        T sum = 0;
        for (int k = -N; k <= N; k++)
            sum += in[i + k];
        out[i] = sum * one * weight;
    }
}
template <bool Square, typename T> void scale(std::vector<T> &v, T f)
{
    for (auto &x : v)
        x = Square ? x * x * f : x * f;
}
struct Box {
    template <typename T> static void fill(T *a, int n, T v)
    {
        for (int i = 0; i < n; i++)
            a[i] = v;
    }
};
}  // namespace field
int main()
{
    const int n = 300;
    std::vector<double> a(n), b(n, 1.0);
    std::vector<float> c(n), d(n, 1.0f);
    field::Box::fill(a.data(), n, 1.5);
    field::Box::fill(c.data(), n, 1.5f);
    field::smooth(a.data(), b.data(), n);
    field::smooth<float, 3>(c.data(), d.data(), n, 0.5f);
    field::smooth<double, 1>(b.data(), a.data(), n, 2.0);
    field::scale<true>(a, 0.25);
    field::scale<false>(d, 2.0f);
    std::printf("%.12g %.6g\\n", a[7], d[9]);
}
"""


def ported(folder: Path) -> PortResult:
    path = folder / "case.cpp"
    path.write_text(PROGRAM)
    return port([str(path)], PortOptions())


@pytest.mark.slow
def test_instances_are_ported_and_compared(tmp_path: Path) -> None:
    result = ported(tmp_path)
    assert result.verification is not None and result.verification.status == "pass"
    host = next(file.text for file in result.files if file.path == "case.cpp")
    for head in (
        "template <> inline void smooth<double, 2>(const double *__restrict in, double *out, int n, double weight)",
        "template <> inline void smooth<float, 3>(const float *__restrict in, float *out, int n, float weight)",
        "template <> inline void smooth<double, 1>(",
        "template <> void scale<true, double>(std::vector<double> &v, double f)",
        "template <> void scale<false, float>(std::vector<float> &v, float f)",
    ):
        assert host.count(head) == 1
    # what the template makes of other types is as it was
    assert PROGRAM[PROGRAM.index("template <typename T, int N") : PROGRAM.index("template <bool")] in host
    assert "template <> void fill" not in host


@pytest.mark.slow
def test_seeded_a_specialization_with_the_arguments_of_another_instance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = specializations.specialization

    def other(function: Function, body: str) -> str:
        return known(function, body).replace("constexpr int N = 1;", "constexpr int N = 2;")

    monkeypatch.setattr("warpsmith.tree.printing.patch.specialization", other)
    with pytest.raises(AssertionError):
        test_instances_are_ported_and_compared(tmp_path)
