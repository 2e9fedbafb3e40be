"""Whole C++ programs as people write them are ported, and the referee compares what they compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sampling import one_in
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions
from warpsmith.report.port.build import loop_entries

FREE_STORE = r"""#include <cstdio>
struct P { double x, y; };
static void ramp(double *out, int n) { for (int i = 0; i < n; i++) out[i] = i * 0.25; }
int main() {
    const int n = 300;
    double *a = new double[n], *c = new double[n]{};
    P *p = new P[n];
    double **rows = new double *[n];
    int *count = new int(3);
    for (int i = 0; i < n; i++) rows[i] = new double[n];
    ramp(a, n);
    for (int i = 0; i < n; i++) { p[i].x = a[i]; p[i].y = c[i] + 1; }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) rows[i][j] = a[i] * p[j].x + *count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) c[i] += rows[i][j];
    double s = 0;
    for (int i = 0; i < n; i++) s += c[i] + p[i].y;
    std::printf("%.10g\n", s);
    for (int i = 0; i < n; i++) delete[] rows[i];
    delete[] rows; delete[] a; delete[] c; delete[] p; delete count;
}
"""

ATTRIBUTES = r"""#include <cstdio>
#define UNROLL _Pragma("GCC unroll 2")
int main() {
    const int n = 256;
    static double a[256][16], b[256][16];
    for (int i = 0; i < n; i++) {
        #pragma unroll
        for (int j = 0; j < 16; j++) a[i][j] = i * 0.5 + j;
    }
    for (int i = 0; i < n; i++) {
        double s = 0;
        #pragma GCC unroll 4
        for (int j = 0; j < 16; j++) s += a[i][j];
        #pragma omp simd
        for (int j = 0; j < 16; j++) b[i][j] = s * j;
        UNROLL
        for (int j = 0; j < 16; j++) b[i][j] += 1.0;
        [[likely]] for (int j = 0; j < 16; j++)
            #pragma unroll 2
            for (int k = 0; k < 2; k++) b[i][j] += k;
    }
    double t = 0;
    for (int i = 0; i < n; i++) t += b[i][3];
    std::printf("%.10g\n", t);
}
"""

OUTPUT = r"""#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>
int main() {
    int n = 2000;
    std::vector<double> a(n), b(n);
    std::string name = "step";
    std::cout << "size " << n << " of " << sizeof(double) << std::endl;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < n; i++) a[i] = i * 0.5;
    for (int i = 0; i < n; i++) b[i] = a[i] * 2.0 + std::sqrt(a[i]);
    auto end = std::chrono::steady_clock::now();
    std::cerr << std::chrono::duration<double>(end - start).count() << "\n";
    double s = 0;
    for (int i = 0; i < n; i++) s += b[i];
    std::cout << std::fixed << std::setprecision(3) << "sum " << s << ' ' << b[3] << '\n';
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < n; i++) b[i] = b[i] * 0.5 + a[i];
        std::cout << name << ' ' << t << ": " << b[n / 2] << std::endl;
    }
}
"""

OWNERS = r"""#include <cstdio>
#include <memory>
class Field {
public:
    explicit Field(int n) : n_(n), data_(new double[n]) {}
    double &operator[](int i) { return data_[i]; }
    double operator[](int i) const { return data_[i]; }
    int size() const { return n_; }
private:
    int n_;
    std::unique_ptr<double[]> data_;
};
class Raw {
public:
    explicit Raw(int n) : n_(n), data_(new double[n]()) {}
    ~Raw() { delete[] data_; }
    Raw(const Raw &) = delete;
    Raw &operator=(const Raw &) = delete;
    double &operator[](int i) { return data_[i]; }
    int n_;
    double *data_;
};
int main() {
    const int n = 900;
    Field u(n), v(n);
    Raw w(n);
    std::unique_ptr<double[]> a(new double[n]);
    auto b = std::make_unique<double[]>(n), c = std::make_unique<double[]>(n);
    for (int i = 0; i < u.size(); i++) u[i] = i * 0.5;
    for (int i = 0; i < u.size(); i++) v[i] = u[i] * 2.0 + 1.0;
    for (int i = 0; i < n; i++) a[i] = v[i] - 1;
    for (int i = 0; i < n; i++) b[i] += a[i] * 2.0 + w[i];
    double *p = b.get();
    for (int i = 0; i < n; i++) p[i] = p[i] * 3.0;
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < n; i++) c[i] = b[i] + 1;
        std::swap(b, c);
    }
    double s = 0;
    for (int i = 0; i < n; i++) s += b[i] + c[i];
    std::printf("%.10g\n", s);
}
"""

ITERATORS = r"""#include <cstdio>
#include <vector>
struct P { double x, y; };
static double total(const std::vector<P> &p) {
    double s = 0;
    for (auto q = p.begin(); q != p.end(); ++q) s += q->y;
    return s;
}
int main() {
    const int n = 2000;
    std::vector<double> a(n);
    std::vector<P> p(n);
    for (int i = 0; i < n; i++) a[i] = i;
    for (auto it = a.begin(); it != a.end(); ++it) *it = *it * 0.5 + 1.0;
    for (std::vector<double>::iterator it = a.begin(); it < a.end(); it++) { double &x = *it; x += 1.0; }
    for (auto q = p.begin(); q != p.end(); ++q) { q->x = 2; q->y = q->x + 1; }
    double s = total(p);
    for (std::vector<double>::const_iterator it = a.cbegin(); it != a.cend(); ++it) s += *it;
    std::printf("%.10g\n", s);
}
"""

VALUES = r"""#include <cmath>
#include <cstdio>
#include <vector>

struct Vec3 {
    double x, y, z;
    Vec3() : x(0), y(0), z(0) {}
    Vec3(double x_, double y_, double z_) : x(x_), y(y_), z(z_) {}
    Vec3 operator+(const Vec3 &o) const { return Vec3(x + o.x, y + o.y, z + o.z); }
    Vec3 operator-(const Vec3 &o) const { return Vec3(x - o.x, y - o.y, z - o.z); }
    Vec3 operator*(double s) const { return Vec3(x * s, y * s, z * s); }
    Vec3 &operator+=(const Vec3 &o) {
        x += o.x;
        y += o.y;
        z += o.z;
        return *this;
    }
    double norm2() const { return x * x + y * y + z * z; }
};

int main() {
    const int n = 120;
    std::vector<Vec3> pos(n), vel(n), force(n);
    std::vector<double> mass(n);
    for (int i = 0; i < n; i++) {
        pos[i] = Vec3(0.1 * i, 0.2 * (i % 7), 0.3 * (i % 11));
        mass[i] = 1.0 + i % 3;
    }
    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < n; i++) {
            Vec3 f;
            for (int j = 0; j < n; j++) {
                Vec3 d = pos[j] - pos[i];
                double r2 = d.norm2() + 0.01;
                f += d * (mass[j] / (r2 * std::sqrt(r2)));
            }
            force[i] = f;
        }
        for (int i = 0; i < n; i++) {
            vel[i] += force[i] * 0.01;
            pos[i] = pos[i] + vel[i] * 0.01;
        }
    }
    double e = 0;
    for (int i = 0; i < n; i++) e += mass[i] * vel[i].norm2();
    std::printf("%.6f\n", e);
    return 0;
}
"""

CLASSES = r"""#include <cmath>
#include <cstdio>
#include <vector>
class P {
public:
    P(float a = 0, float b = 0) : a_(a), b_(b) {}
    float len() const { return std::sqrt(a_ * a_ + b_ * b_); }
    P operator*(float s) const { P r(*this); r.a_ *= s; r.b_ *= s; return r; }
    P &operator-=(const P &o) { a_ -= o.a_; b_ -= o.b_; return *this; }
    friend P operator+(P l, const P &r) { l.a_ += r.a_; l.b_ += r.b_; return l; }
    float a() const { return a_; }
private:
    float a_, b_;
};
template <class T> struct M {
    T u, v;
    M operator+(const M &o) const { return {u + o.u, v + o.v}; }
    T dot(const M &o) const { return u * o.u + v * o.v; }
};
template <class T> M<T> operator*(T s, const M<T> &m) { return M<T>{s * m.u, s * m.v}; }
static M<double> &operator+=(M<double> &l, const M<double> &r) { l.u += r.u; l.v += r.v; return l; }
static double dist(const M<double> &a, const M<double> &b) { M<double> d = a + -1.0 * b; return std::sqrt(d.dot(d)); }
int main() {
    const int n = 500;
    std::vector<P> p(n), q(n);
    M<double> m[500], k[500];
    for (int i = 0; i < n; i++) { p[i] = P(i * 0.5f, 1); q[i] = P(2, i); }
    for (int i = 0; i < n; i++) q[i] = p[i] + q[i] * 0.5f;
    for (int i = 0; i < n; i++) q[i] -= p[i] * 0.25f;
    for (int i = 0; i < n; i++) { m[i] = {i * 1.0, 2.0}; k[i] = M<double>{1.0, 0.5 * i}; }
    for (int i = 0; i < n; i++) m[i] += 0.5 * k[i];
    double s = 0;
    for (int i = 0; i < n; i++) s += q[i].len() + p[i].a() + dist(m[i], k[i]);
    std::printf("%.8g\n", s);
}
"""

ALGORITHMS = r"""#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>
static double mean(double x, double y) { return (x + y) / 2; }
int main() {
    const int n = 700;
    double t = 0, u = 0, *raw = new double[n];
    std::vector<double> a(n), b(n), c(n);
    std::vector<int> k(n);
    std::fill(a.begin(), a.end(), 1.5);
    std::iota(k.begin(), k.end(), 5);
    std::fill_n(raw, n, 2.0);
    std::copy(a.begin(), a.end(), c.begin());
    std::for_each(a.begin() + 1, a.end(), [](double &x) { x = x * 2.0 + 1.0; });
    std::transform(k.begin(), k.end(), b.begin(), [](int i) { double d = i % 7; return d * d; });
    std::transform(a.begin(), a.end(), b.begin(), c.begin(), mean);
    std::transform(raw, raw + n - 1, c.begin() + 1, raw, std::multiplies<double>());
    t = std::accumulate(c.begin(), c.end(), 0.0);
    u += std::inner_product(a.begin(), a.end(), raw, 0.0);
    for (int i = 0; i < n; i++) {
        double part[8], total = 0;
        std::fill(part, part + 8, 1.0);
        std::for_each(part, part + 8, [&](double x) { total += x; });
        std::for_each(raw + i, raw + i + 1, [i, total](double &x) { x += total * i; });
    }
    std::printf("%g %g %g %d\n", t, u, raw[n / 2], k[n - 1]);
    delete[] raw;
}
"""

ALGORITHM_LOOPS = {
    "main/a_at", "main/k_at", "main/raw_at", "main/a_at#2", "main/a_at#3", "main/k_at#2", "main/a_at#4",
    "main/raw_at#2", "main/c_at", "main/a_at#5", "main/i",
}  # fmt: skip

PROGRAMS = {
    "free_store": (FREE_STORE, {"ramp/i", "main/i#2", "main/i#3/j", "main/i#4"}),
    "attributes": (ATTRIBUTES, {"main/i", "main/i/j", "main/i#2", "main/i#2/j#4/k"}),
    "owners": (OWNERS, {"main/i", "main/i#2", "main/i#3"}),
    "iterators": (ITERATORS, {"main/i", "main/it_at", "main/it_at#2", "main/q_at", "total/q_at", "main/it_at#3"}),
    "values": (VALUES, {"main/i", "main/step/i", "main/step/i/j", "main/step/i#2", "main/i#2"}),
    "classes": (CLASSES, {"main/i", "main/i#2", "main/i#3", "main/i#4", "main/i#5", "main/i#6"}),
    "algorithms": (ALGORITHMS, ALGORITHM_LOOPS),
    "output": (OUTPUT, {"main/i", "main/i#2", "main/i#3", "main/t/i"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(11, sorted(PROGRAMS)))
def test_programs_are_ported(name: str, tmp_path: Path) -> None:
    text, kernels = PROGRAMS[name]
    path = tmp_path / f"{name}.cpp"
    path.write_text(text)
    result = port([str(path)], PortOptions(front=FrontOptions()))
    assert kernels <= {entry.id for entry in loop_entries(result.prepared, result.plan) if entry.ported}
    assert result.verification is not None and result.verification.status == "pass", result.verification
