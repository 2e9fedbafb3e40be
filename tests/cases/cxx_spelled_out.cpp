/* A class of numbers that spells out how it is copied, assigned and destroyed, with constructors that take references: the
 * objects are their members in loops and kernels, and `new` of them gives memory.
 * RUN: port --all
 * EXPECT: advance/i parallel ported: no carried dependence (if what is touched of p and of v does not overlap)
 * EXPECT: push/i parallel ported: no carried dependence (if what is touched of e and of p does not overlap; what is touched of e and of v does not overlap; what is touched of p and of v does not overlap)
 * EXPECT: scatter/b unanalyzable host: the subscript of p[k].x is not affine
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/t unanalyzable host: advance(n, p, v, 0.01) may touch any part of p
 * EXPECT: main/i#2 reduction ported: an associative update (+: s) is the only carried dependence
 * VERIFY: pass
 */
#include <cmath>
#include <cstdio>
struct vec2 {
    double x, y;
    vec2() : x(0.), y(0.) {}
    vec2(const double &x_, const double &y_) : x(x_), y(y_) {}
    vec2(const vec2 &v) : x(v.x), y(v.y) {}
    ~vec2() {}
    vec2 &operator=(const vec2 &v)
    {
        x = v.x;
        y = v.y;
        return (*this);
    }
    vec2 &operator+=(const vec2 &v)
    {
        x += v.x;
        y += v.y;
        return (*this);
    }
};
vec2 operator+(const vec2 &a, const vec2 &b) { return vec2(a.x + b.x, a.y + b.y); }
vec2 operator*(const double &r, const vec2 &a) { return vec2(r * a.x, r * a.y); }
double dot(const vec2 &a, const vec2 &b) { return a.x * b.x + a.y * b.y; }
static void advance(int n, vec2 *p, const vec2 *v, const double dt)
{
    for (int i = 0; i < n; i++)
        p[i] = p[i] + dt * v[i];
}
static void push(int n, vec2 *p, const vec2 *v, double *e)
{
    for (int i = 0; i < n; i++) {
        vec2 h = 0.5 * (p[i] + v[i]);
        h += v[i];
        e[i] = std::sqrt(dot(h, p[i]) + 1);
        p[i] = h;
    }
}
static void scatter(int n, vec2 *p, const int *map, const vec2 *v)
{
    for (int b = 0; b < n; b++) {
        int k = map[b];
        p[k] = 0.5 * (p[k] + v[b]);
    }
}
int main()
{
    const int n = 1000;
    int map[3] = {7, 900, 7};
    vec2 *p = new vec2[n], *v = new vec2[n];
    double *e = new double[n], s = 0;
    for (int i = 0; i < n; i++) {
        p[i] = vec2(i, 0.5 * i);
        v[i] = vec2(1.0 / (i + 1), 2.0);
    }
    for (int t = 0; t < 3; t++) {
        advance(n, p, v, 0.01);
        push(n, p, v, e);
    }
    scatter(3, p, map, v);
    for (int i = 0; i < n; i++)
        s += e[i] + p[i].x;
    printf("%.10g\n", s);
    delete[] p;
    delete[] v;
    delete[] e;
}
