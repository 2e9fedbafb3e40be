#include <math.h>
#include <stdio.h>
#include <stdlib.h>
struct body {
    double x, y, z, vx, vy, vz, m;
};

void bodies(int n, struct body *b, double dt)
{
    for (int i = 0; i < n; i++) {
        struct body *p = &b[i];
        for (int j = i + 1; j < n; j++) {
            struct body *q = &b[j];
            double dx = p->x - q->x, dy = p->y - q->y, dz = p->z - q->z;
            double d = sqrt(dx * dx + dy * dy + dz * dz + 0.01), g = dt / (d * d * d);
            p->vx -= dx * q->m * g;
            p->vy -= dy * q->m * g;
            p->vz -= dz * q->m * g;
            q->vx += dx * p->m * g;
            q->vy += dy * p->m * g;
            q->vz += dz * p->m * g;
        }
    }
    for (int i = 0; i < n; i++) {
        struct body *p = &b[i];
        p->x += dt * p->vx;
        p->y += dt * p->vy;
        p->z += dt * p->vz;
    }
}

void members(int n, struct body *b)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
        double d = b[i].x - b[j].x, g = 1.0 / (d * d + 0.01);
        b[i].vx -= d * g * b[j].m;
        b[j].vx += d * g * b[i].m;
    }
}

void forces(int n, const double *restrict x, double *restrict f)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
        double d = x[i] - x[j], g = d / (d * d + 0.5);
        f[i] += g;
        f[j] -= g;
    }
}

void neighbours(int n, int m, const int *restrict count, const int *restrict list, const double *restrict x,
                double *restrict f)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < count[i]; k++) {
        int j = list[i * m + k];
        double d = x[i] - x[j];
        f[i] = f[i] * 0.5 + d;
        f[j] = f[j] * 0.5 - d;
    }
}

struct stats {
    double sum, most;
    long count;
};

void collect(int n, const double *a, struct stats *s)
{
    for (int i = 0; i < n; i++) {
        s->sum += a[i];
        s->count++;
    }
}

void extreme(int n, const double *a, struct stats *s)
{
    for (int i = 0; i < n; i++)
        if (a[i] > s->most)
            s->most = a[i];
}

void decay(int n, const double *a, struct stats *s)
{
    for (int i = 0; i < n; i++)
        s->sum = s->sum * 0.5 + a[i];
}

void into_pointer(int n, const double *a, double *s)
{
    for (int i = 0; i < n; i++)
        *s += a[i];
}

void average(int n, const double *a, double *m, struct stats *s)
{
    for (int i = 0; i < n; i++) {
        s->sum += a[i];
        m[i] = s->sum / (i + 1);
    }
}

static unsigned state = 12345;
double monte_carlo(int n)
{
    int in = 0;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        double x = state / 4294967296.0;
        state = state * 1664525u + 1013904223u;
        double y = state / 4294967296.0;
        if (x * x + y * y < 1.0)
            in++;
    }
    return 4.0 * in / n;
}

void noise(int n, double *restrict a)
{
    unsigned s = 7;
    for (int i = 0; i < n; i++) {
        s = s * 1103515245u + 12345u;
        a[i] = s / 4294967296.0;
    }
}

void noise_masked(int n, double *restrict a, unsigned s)
{
    for (int i = 0; i < n; i++) {
        s = (s * 1103515245u + 12345u) & 0x7fffffffu;
        a[i] = s;
    }
}

void noise_prime(int n, double *restrict a, unsigned long long s)
{
    for (int i = 0; i < n; i++) {
        s = s * 16807ull % 2147483647ull;
        a[i] = (double)s / 2147483647.0;
    }
}

void noise_signed(int n, double *restrict a, int s)
{
    for (int i = 0; i < n; i++) {
        s = (s * 1103 + 12345) % 65536;
        a[i] = s;
    }
}

void noise_sometimes(int n, double *restrict a, const double *restrict b)
{
    unsigned s = 7;
    for (int i = 0; i < n; i++) if (b[i] > 0) {
        s = s * 1103515245u + 12345u;
        a[i] = s;
    }
}

void xorshift(int n, unsigned *restrict a)
{
    unsigned s = 1;
    for (int i = 0; i < n; i++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        a[i] = s;
    }
}

void library_random(int n, double *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = rand() / (double)RAND_MAX;
}

static unsigned hidden = 1;
static double draw(void)
{
    hidden = hidden * 1664525u + 1013904223u;
    return hidden / 4294967296.0;
}

double with_draw(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += draw();
    return s;
}

void step_random(int n, double *restrict a, unsigned *restrict seed)
{
    for (int i = 0; i < n; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        a[i] += *seed * 1e-10;
    }
}

void histogram_kept(int n, const int *restrict k, int *restrict h, int *restrict place)
{
    for (int i = 0; i < n; i++)
        place[i] = h[k[i]]++;
}

void histogram_max(int n, const int *restrict k, int *restrict h)
{
    for (int i = 0; i < n; i++)
        if (h[k[i]] < 255)
            h[k[i]]++;
}

void prints(int n, const double *a)
{
    for (int i = 0; i < n; i++)
        printf("%f\n", a[i]);
}

void progress(int n, double *restrict a)
{
    for (int i = 0; i < n; i++) {
        a[i] = sqrt(a[i]);
        if (i % 1000 == 0)
            printf("at %d\n", i);
    }
}

extern double outside(double);
void unknown_call(int n, double *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = outside(a[i]);
}

void by_function_pointer(int n, double *restrict a, double (*f)(double))
{
    for (int i = 0; i < n; i++)
        a[i] = f(a[i]);
}

static int depth(int n)
{
    return n < 2 ? 1 : 1 + depth(n / 2);
}

void recursive(int n, int *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = depth(i);
}

static double t_static;
static double keeps(double x)
{
    t_static = x * x;
    return t_static + 1;
}

void static_temporary(int n, double *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = keeps(a[i]);
}

double scratch[8];
void shared_scratch(int n, double *restrict a)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 8; k++)
            scratch[k] = a[i] * k;
        double s = 0;
        for (int k = 0; k < 8; k++)
            s += scratch[k];
        a[i] = s;
    }
}

void escapes_by_goto(int n, double *restrict a)
{
    for (int i = 0; i < n; i++) {
        if (a[i] < 0)
            goto out;
        a[i] = sqrt(a[i]);
    }
    out: return;
}

