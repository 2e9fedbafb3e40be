/* Rows of every kind: in blocks of their own, in one, shared, of the stack, freed and made again, swapped, missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    double x;
    float y;
};

static double **separate(int n, int m)
{
    double **a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++) {
        a[i] = malloc((m + i % 3) * sizeof *a[i]);
        for (int j = 0; j < m + i % 3; j++)
            a[i][j] = (i * 7 + j * 3) % 11;
        free(malloc(24 + 8 * (i % 5)));
    }
    return a;
}

static void released(int n, double **a)
{
    for (int i = 0; i < n; i++)
        free(a[i]);
    free(a);
}

static double sum(int n, int m, double **a)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += a[i][j] * (i + 2 * j);
    return s;
}

static void relax(int n, int m, double **u, double **v)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

/* y may be a row, or lie in one's block */
static void rowwise(int n, int m, double **a, double *y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = y[j] + a[i][j] * 0.5;
}

/* rows may be shared: then the order counts */
static void scaled(int n, int m, double **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = a[i][j] * 1.25 + i;
}

/* rows that are only read may be shared, and overlap */
static void gathered(int n, int m, double **a, const int *which, double *restrict y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = a[which[i]][j];
}

/* each row has a length of its own; some have none */
static void ragged(int n, const int *length, double **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < length[i]; j++)
            a[i][j] += i + j;
}

static void paired(int n, int m, struct pair **p)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            p[i][j].x += p[i][j].y;
            p[i][j].y *= 2;
        }
}

static void through_rows(int n, int m, float **a, float **b)
{
    for (int i = 0; i < n; i++) {
        float *to = a[i];
        const float *from = b[n - 1 - i] + 1;
        for (int j = 0; j < m - 1; j++)
            to[j] = from[j] + to[j];
    }
}

static void print_rows(const char *what, int n, int m, double **a)
{
    printf("%s %.17g\n", what, sum(n, m, a));
}

static void touched(int n, double **a)
{
    for (int k = 1; k < n; k += 5)
        a[k][k % 3] = k;
}

static void (*volatile access)(int n, double **a) = touched;

static void data_region(int n, int m)
{
    double **u = separate(n, m), **v = separate(n, m);
    for (int t = 0; t < 24; t++) {
        relax(n, m, u, v);
        double **w = u;
        u = v;
        v = w;
        if (t % 5 == 0)
            printf("%.17g\n", u[3][4]);
        if (t == 7) {
            double *p = u[2];
            p[5] = t;
        }
        if (t == 9)
            memset(u[6] + 1, 0, 3 * sizeof **u);
        if (t == 11) {
            double *row = u[5];
            u[5] = u[9];
            u[9] = row;
        }
        if (t == 13) {
            double *row = u[5];
            u[5] = v[8];
            v[8] = row;
        }
        if (t == 15) {
            free(v[4]);
            v[4] = calloc(m + 4, sizeof **v);
        }
        if (t == 17) {
            u[7] = realloc(u[7], (m + 90) * sizeof **u);
            v[7] = realloc(v[7], (m + 3) * sizeof **v);
        }
        if (t == 19)
            scaled(n, m, u);
        if (t > 20)
            access(n, u);
    }
    print_rows("held", n, m, u);
    released(n, u);
    released(n, v);
}

static void shared(int n, int m)
{
    double **a = separate(n, m), **b = malloc(n * sizeof *b);
    double *block = malloc((n + m + 8) * sizeof *block), stack[64], *y = malloc(n * m * sizeof *y);
    static double fixed[64];
    int *which = malloc(n * sizeof *which);
    for (int i = 0; i < n + m + 8; i++)
        block[i] = i % 9;
    for (int i = 0; i < 64; i++)
        stack[i] = fixed[i] = i % 7;
    for (int i = 0; i < n; i++) {
        b[i] = block + i;
        which[i] = i * 5 % n;
    }
    gathered(n, m, b, which, y);
    printf("overlapping, read %.17g\n", y[n * m - 1] + y[m + 3]);
    scaled(n, m, b);
    print_rows("overlapping, written", n, m, b);
    memcpy(b, a, n * sizeof *b);
    b[3] = b[6];
    scaled(n, m, b);
    print_rows("one row twice", n, m, b);
    gathered(n, m, b, which, y);
    printf("one row twice, read %.17g\n", y[n * m - 1] + y[m + 3]);
    memcpy(b, a, n * sizeof *b);
    b[2] = stack;
    scaled(n, m, b);
    print_rows("a row of the stack", n, m, b);
    b[2] = fixed;
    scaled(n, m, b);
    print_rows("a row of a variable", n, m, b);
    b[2] = fixed + 8;
    relax(n, m, a, b);
    print_rows("rows of two grids", n, m, b);
    b[2] = a[2];
    rowwise(n, m, a, a[4]);
    print_rows("an array that is a row", n, m, a);
    rowwise(n, m, a, y);
    print_rows("an array that is none", n, m, a);
    rowwise(n, m, b, fixed);
    print_rows("a variable", n, m, b);
    scaled(n - 2, m, b + 2);
    print_rows("from the third row", n, m, b);
    free(which);
    free(y);
    free(block);
    free(b);
    released(n, a);
}

static void missing(int n)
{
    double **a = calloc(n, sizeof *a);
    int *length = malloc(n * sizeof *length);
    for (int i = 0; i < n; i++) {
        length[i] = i % 4 == 0 ? 0 : i % 7;
        if (i % 4 != 0 || i % 3 == 0)
            a[i] = calloc(length[i], sizeof **a);
    }
    free(a[0]);
    a[0] = NULL;
    ragged(n, length, a);
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < length[i]; j++)
            s += a[i][j] * (i + 1);
    printf("missing %.17g\n", s);
    for (int i = 0; i < n; i++)
        free(a[i]);
    free(length);
    free(a);
}

/* a block becomes longer by an element, and begins where it did */
static void longer(int n)
{
    double **a = malloc(n * sizeof *a), s = 0;
    int *length = malloc(n * sizeof *length);
    for (int k = 8; k < 10; k++) {
        for (int i = 0; i < n; i++) {
            a[i] = k == 8 ? malloc(k * sizeof **a) : realloc(a[i], k * sizeof **a);
            memset(a[i], 0, k * sizeof **a);
            length[i] = k;
        }
        ragged(n, length, a);
        for (int i = 0; i < n; i++)
            s += a[i][k - 1];
    }
    printf("longer %g\n", s);
    for (int i = 0; i < n; i++)
        free(a[i]);
    free(length);
    free(a);
}

static void kinds(int n, int m)
{
    struct pair **p = malloc(n * sizeof *p);
    float **a = malloc(n * sizeof *a), **b = malloc((n + 3) * sizeof *b);
    for (int i = 0; i < n; i++) {
        p[i] = malloc(m * sizeof **p);
        a[i] = malloc(m * sizeof **a);
        b[i] = malloc((m + i) * sizeof **b);
        for (int j = 0; j < m; j++) {
            p[i][j].x = i - j;
            p[i][j].y = (float)(j % 5);
            a[i][j] = (float)(i + j);
            b[i][j] = (float)(i * j % 13);
        }
    }
    b[n] = b[n + 1] = b[n + 2] = NULL;
    paired(n, m, p);
    through_rows(n, m, a, b);
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += p[i][j].x + p[i][j].y * 3 + a[i][j] * (j + 1);
    printf("kinds %.17g\n", s);
    for (int i = 0; i < n; i++) {
        free(p[i]);
        free(a[i]);
        free(b[i]);
    }
    free(p);
    free(a);
    free(b);
}

int main(void)
{
    data_region(20, 30);
    shared(12, 17);
    missing(23);
    longer(5);
    kinds(9, 21);
    return 0;
}
