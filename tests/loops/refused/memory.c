#include <stdlib.h>
#include <string.h>
void scatter(int n, double *restrict a, const double *restrict c, const int *restrict p)
{
    for (int i = 0; i < n; i++)
        a[p[i]] = c[i];
}

void scatter_two(int n, double *restrict a, const double *restrict c, const int *restrict p, const int *restrict q)
{
    for (int i = 0; i < n; i++) {
        a[p[i]] = c[i];
        a[q[i]] = 2.0 * c[i];
    }
}

void scatter_product(int n, double *restrict a, const double *restrict c, const int *restrict p)
{
    for (int i = 0; i < n; i++)
        a[p[i] * p[i]] = c[i];
}

void scatter_nested(int n, double *restrict a, const double *restrict c, const int *restrict p, const int *restrict q)
{
    for (int i = 0; i < n; i++)
        a[p[q[i]]] = c[i];
}

void scatter_unclear(int n, double *a, double *c, int *p)
{
    for (int i = 0; i < n; i++)
        a[p[i]] = c[i];
}

void clash(int n, double *restrict a, const double *restrict c)
{
    int p[100];
    for (int i = 0; i < 100; i++)
        p[i] = i / 2;
    for (int i = 0; i < 100; i++)
        a[p[i]] = c[i];
}

void keys(int n, double *restrict a, const double *restrict c, int *restrict p)
{
    for (int i = 0; i < n; i++)
        p[i] = i % 7;
    for (int i = 0; i < n; i++)
        a[p[i]] = c[i];
}

void drawn(int n, double *restrict a, const double *restrict c, int *restrict p)
{
    for (int i = 0; i < n; i++)
        p[i] = rand() % n;
    for (int i = 0; i < n; i++)
        a[p[i]] = c[i];
}

void zeroed(int n, double *restrict a, const double *restrict c)
{
    int *p = calloc(n, sizeof *p);
    for (int i = 0; i < n; i++)
        a[p[i]] = c[i];
    free(p);
}

void update_of_read(int n, double *restrict a, const int *restrict p)
{
    for (int i = 0; i < n; i++)
        a[p[i]] = a[i] * a[i];
}

void by_square(int n, double *restrict a, const double *restrict c)
{
    for (int i = 0; i < n; i++)
        a[i * i % n] = c[i];
}

void by_mask(int n, unsigned *restrict a)
{
    for (int i = 0; i < n; i++)
        a[(i * 17) & 63] = i;
}

struct cell {
    double v;
    struct cell *next;
};

double list_sum(struct cell *p)
{
    double s = 0;
    for (; p; p = p->next)
        s += p->v;
    return s;
}

void list_set(struct cell *p)
{
    while (p != NULL) {
        p->v = 0;
        p = p->next;
    }
}

void through_rows(int n, int m, double **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = i + j;
}

void through_cells(int n, struct cell **c)
{
    for (int i = 0; i < n; i++)
        c[i]->v = i;
}

void maybe_same(int n, double *a, double *b, int k)
{
    for (int i = 0; i < n; i++)
        a[i + k] = b[i];
}

void in_one(int n, int k, double *restrict a)
{
    for (int i = 0; i < n; i++)
        a[i] = a[i + k] + 1.0;
}

void lengths(int n, char **s, int *restrict len)
{
    for (int i = 0; i < n; i++)
        len[i] = (int)strlen(s[i]);
}

void moving(int n, double *restrict a, const double *restrict b)
{
    double *q = a;
    for (int i = 0; i < n; i++) {
        *q = b[i];
        if (b[i] > 0)
            q++;
    }
}

void byte_counter(double *restrict a, unsigned char m)
{
    for (unsigned char i = 0; i <= m; i++)
        a[i] = i;
}

void wrapping(unsigned n, double *restrict a, const double *restrict b)
{
    for (unsigned i = 0; i < n - 1; i++)
        a[i + n] = b[i];
}

void grow(int n, double **rows)
{
    for (int i = 0; i < n; i++)
        rows[i] = malloc(8 * sizeof(double));
}

void csr(int n, const int *restrict start, const int *restrict col, const double *restrict v, double *restrict y)
{
    for (int i = 0; i < n; i++)
        for (int k = start[i]; k < start[i + 1]; k++)
            y[col[k]] = v[k];
}

void edges(int m, const int *restrict u, const int *restrict w, double *restrict d)
{
    for (int e = 0; e < m; e++)
        if (d[u[e]] + 1 < d[w[e]])
            d[w[e]] = d[u[e]] + 1;
}

void parents(int n, int *restrict p)
{
    for (int i = 0; i < n; i++)
        p[i] = p[p[i]];
}

void with_volatile(int n, volatile int *flag, double *restrict a)
{
    for (int i = 0; i < n; i++) {
        a[i] = *flag;
    }
}

