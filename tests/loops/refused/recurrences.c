#include <stdlib.h>

/* TSVC-like recurrences, anti dependences, scalars that are carried */
void first_order(int n, double *restrict a, const double *restrict b)
{
    for (int i = 1; i < n; i++)
        a[i] = a[i - 1] * b[i] * a[i - 1];
}

void distance_two(int n, double *restrict a)
{
    for (int i = 2; i < n; i++)
        a[i] = a[i - 2] * a[i - 2];
}

void gauss_seidel(int n, double *restrict a)
{
    for (int i = 1; i < n - 1; i++)
        a[i] = 0.5 * (a[i - 1] + a[i + 1]);
}

void shift_left(int n, double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n - 1; i++)
        a[i] = a[i + 1] + b[i];
}

void look_ahead(int n, double *restrict a)
{
    for (int i = 0; i < n - 3; i++)
        a[i] = a[i + 1] + 2.0 * a[i + 3];
}

void shift_of_two(int n, double *restrict a, double *restrict b)
{
    for (int i = 0; i < n - 1; i++) {
        a[i] = b[i] + 1.0;
        b[i] = a[i + 1];
    }
}

void mixed(int n, double *restrict x, double *restrict y)
{
    for (int i = 0; i < n - 1; i++) {
        x[i + 1] = x[i] * x[i];
        y[i] = 2.0 * i;
    }
}

void wave(int n, int m, double a[n][m])
{
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            a[i][j] = a[i - 1][j] + a[i][j - 1];
}

void rows_down(int n, int m, double a[n][m])
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = a[i - 1][j] * 0.5;
}

void wrap_around(int n, double *restrict a, const double *restrict b)
{
    double last = b[n - 1];
    for (int i = 0; i < n; i++) {
        a[i] = b[i] + last;
        last = b[i];
    }
}

void running_maximum(int n, double *restrict a, const double *restrict b)
{
    double m = b[0];
    for (int i = 0; i < n; i++) {
        if (b[i] > m)
            m = b[i];
        a[i] = m;
    }
}

void exponential(int n, double *restrict a, const double *restrict b)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        s = 0.9 * s + b[i] * s * s;
        a[i] = s;
    }
}

void fold(int n, double *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i / 2] = a[i] + 1.0;
}

void reverse_in_place(int n, double *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = a[n - 1 - i];
}

void stride(int n, double *restrict a, const double *restrict c)
{
    for (int i = 0; i < n; i++)
        a[2 * i] = a[i] + c[i];
}

void compact(int n, double *restrict a, const double *restrict b)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (b[i] > 0)
            a[k++] = b[i];
}

double last_positive(int n, const double *b)
{
    double v = 0;
    for (int i = 0; i < n; i++)
        if (b[i] > 0)
            v = b[i];
    return v;
}

int any_flag(int n, const double *b)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (found)
            continue;
        if (b[i] > 9)
            found = i;
    }
    return found;
}

int first_index(int n, const double *b, double v)
{
    int at = -1;
    for (int i = 0; i < n; i++) if (b[i] == v) {
        at = i;
        break;
    }
    return at;
}

int first_by_return(int n, const double *b, double v)
{
    for (int i = 0; i < n; i++)
        if (b[i] == v)
            return i;
    return -1;
}

double until_small(int n, const double *b)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        s += b[i];
        if (s > 10)
            break;
    }
    return s;
}

double while_loop(double x)
{
    int k = 0;
    while (x > 1.0) {
        x = x / 2.0;
        k++;
    }
    return k;
}

double product_state(int n, const double *b)
{
    double s = 1;
    for (int i = 0; i < n; i++)
        s = s * b[i] + 1.0;
    return s;
}

void horner(int n, int m, double *restrict y, const double *restrict c, const double *restrict x)
{
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int k = 0; k < m; k++)
            y[i] = y[i] * x[i] + c[k];
    }
}

void toggling(int n, double *restrict a)
{
    int sign = 1;
    for (int i = 0; i < n; i++) {
        a[i] = sign * a[i];
        sign = -sign;
    }
}

void previous_value(int n, double *restrict a, const double *restrict b)
{
    double t = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0)
            t = b[i];
        a[i] = t;
    }
}

void prefix_of_products(int n, double *restrict a)
{
    for (int i = 1; i < n; i++)
        a[i] = a[i] * a[i - 1] + a[i - 1];
}

void bubble(int n, double *restrict a)
{
    for (int i = 0; i < n - 1; i++) if (a[i] > a[i + 1]) {
        double t = a[i];
        a[i] = a[i + 1];
        a[i + 1] = t;
    }
}

void fibonacci(int n, unsigned *restrict a)
{
    unsigned p = 0, q = 1;
    for (int i = 0; i < n; i++) {
        a[i] = p;
        unsigned t = p + q;
        p = q;
        q = t;
    }
}

