#include <math.h>
void with_cutoff(int n, const double *restrict x, double *restrict f, double cut)
{
    for (int i = 0; i < n - 1; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            if (d * d > cut)
                continue;
            if (d > 0) {
                f[i] += 1.0 / d;
                f[j] -= 1.0 / d;
            }
            else {
                f[j] = f[j] * 0.5;
                f[i] = f[i] + d;
            }
        }
    }
}

void in_planes(int n, double x[restrict][3], double f[restrict][3])
{
    for (int i = 0; i < n; i++) {
        double xi = x[i][0], yi = x[i][1];
        for (int j = i + 1; j < n; j++) {
            double dx = xi - x[j][0], dy = yi - x[j][1], r = 1.0 / (dx * dx + dy * dy + 0.1);
            f[i][0] += dx * r;
            f[i][1] += dy * r;
            f[j][0] -= dx * r;
            f[j][1] -= dy * r;
        }
    }
}

void counters_before(int n, const double *restrict x, double *restrict f)
{
    int i, j;
    double d;
    for (i = 1; i < n; i++) {
        for (j = i + 1; j < n; j++) {
            d = x[i] * x[j];
            f[i] += d;
            f[j] *= 1.0 + d;
        }
    }
}

void read_elsewhere(int n, const double *restrict x, double *restrict f)
{
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - f[j];
            f[i] += d;
            f[j] -= d;
        }
    }
}

double with_energy(int n, const double *restrict x, double *restrict f)
{
    double e = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            f[i] = f[i] * 0.5 + d;
            f[j] = f[j] * 0.5 - d;
            e += d;
        }
    }
    return e;
}

void every_second(int n, const double *restrict x, double *restrict f)
{
    for (int i = 0; i < n; i++) {
        for (int j = i + 2; j < n; j++) {
            double d = x[i] - x[j];
            f[i] = f[i] * 0.5 + d;
            f[j] = f[j] * 0.5 - d;
        }
    }
}

void then_scaled(int n, const double *restrict x, double *restrict f)
{
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            f[i] = f[i] * 0.5 + d;
            f[j] = f[j] * 0.5 - d;
        }
        f[i] *= 2.0;
    }
}

void other_range(int n, int m, const double *restrict x, double *restrict f)
{
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < m; j++) {
            double d = x[i] - x[j];
            f[i] = f[i] * 0.5 + d;
            f[j] = f[j] * 0.5 - d;
        }
    }
}

void by_parity(int n, const double *restrict x, double *restrict f)
{
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            f[i / 2] = f[i / 2] * 0.5 + d;
            f[j / 2] = f[j / 2] * 0.5 - d;
        }
    }
}

void left_early(int n, const double *restrict x, double *restrict f)
{
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            double d = x[i] - x[j];
            if (d > 9)
                break;
            f[i] += d;
            f[j] -= d;
        }
    }
}

unsigned from_three(int n, unsigned *restrict a, unsigned s)
{
    for (int i = 3; i <= n; i++) {
        a[i] = s >> 3;
        s = 69069u * s + 1u;
    }
    return s;
}

unsigned by_remainder(int n, unsigned *restrict a, unsigned s)
{
    for (int i = 0; i < n; i++) {
        s = s * 171u % 30269u;
        a[i] = s;
    }
    return s;
}

unsigned wraps_before_remainder(int n, unsigned *restrict a, unsigned s)
{
    for (int i = 0; i < n; i++) {
        s = s * 1103515245u % 2147483647u;
        a[i] = s;
    }
    return s;
}

unsigned two_factors(int n, unsigned *restrict a, unsigned s)
{
    for (int i = 0; i < n; i++) {
        s = s * 5u + 1u;
        a[i] = s;
        s = s * 9u + 1u;
    }
    return s;
}

unsigned short narrow(int n, unsigned *restrict a, unsigned short s)
{
    for (int i = 0; i < n; i++) {
        s = s * 5u + 1u;
        a[i] = s;
    }
    return s;
}

unsigned in_inner_loop(int n, int m, unsigned *restrict a, unsigned s)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            s = s * 5u + 1u;
            a[i * m + j] = s;
        }
    }
    return s;
}

void sometimes_ahead(int n, double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n - 1; i++) {
        if (b[i] > 0)
            a[i] = a[i + 1];
    }
}

void ahead_to_the_end(int n, double *restrict a)
{
    for (int i = 2; i <= n; i++)
        a[i - 2] = a[i] * a[i - 1] + a[i - 2];
}

void counted_in_between(int n, const double *restrict x, double *restrict f)
{
    for (int i = 0; i < n; i++) {
        double c = 0;
        for (int j = i + 1; j < n; j++) {
            c += x[j];
            f[i] = f[i] * 0.5 + c;
            f[j] = f[j] * 0.5 - c;
        }
    }
}

unsigned skipped_sometimes(int n, unsigned *restrict a, unsigned s)
{
    for (int i = 0; i < n; i++) {
        s = s * 5u + 1u;
        a[i] = s;
        if (i % 3 == 0)
            continue;
        s = s * 5u + 1u;
    }
    return s;
}

static unsigned shown;
static unsigned look(void)
{
    return shown;
}

void looked_at(int n, unsigned *restrict a)
{
    for (int i = 0; i < n; i++) {
        shown = shown * 5u + 1u;
        a[i] = look();
    }
}

struct packed {
    unsigned low : 3, high : 5;
};

void bit_field(int n, const int *restrict a, struct packed *restrict s)
{
    for (int i = 0; i < n; i++)
        s->low += a[i];
}

union both
{
    float f;
    int i;
};

void in_union(int n, const int *restrict a, union both *restrict s)
{
    for (int i = 0; i < n; i++)
        s->i += a[i];
}


#define ROOM 40
#define FACTOR 1103515245
void macro_bounds(double *restrict a, const double *restrict b)
{
    for (int i = 0; i < ROOM - 1; i++)
        a[i] = b[i] + a[i + 1];
}

unsigned macro_factor(int n, unsigned *restrict a, unsigned s)
{
    for (int i = 0; i < n; i++) {
        s = s * FACTOR + 12345;
        a[i] = s ^ (s >> 16);
    }
    return s;
}

unsigned wider_sum(int n, unsigned *restrict a, unsigned s)
{
    for (int i = 0; i < n; i++) {
        s = (s * 171u + 4294967000L) % 30269u;
        a[i] = s;
    }
    return s;
}
