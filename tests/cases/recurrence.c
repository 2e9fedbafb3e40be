/* Linear recurrences: the next value is a * y + b, with a and b of the iteration. Whole numbers are exact.
 * RUN: port
 * EXPECT: smooth/i scan ported: a running value (linear: s) is the only carried dependence
 * EXPECT: hash/i scan ported: a running value (linear: h) is the only carried dependence
 * EXPECT: filter/i scan ported: a running value (linear: y) is the only carried dependence
 * EXPECT: longest/i scan ported: a running value (linear: k) is the only carried dependence
 * EXPECT: bent/i sequential host: carries a flow dependence on s
 * EXPECT: growing/i sequential host: carries a flow dependence on s
 * VERIFY: pass
 */
#define MIX(h, v) ((h) * 31u + (v))

void smooth(int n, const double *restrict x, double *restrict y)
{
    double s = 0.5;
    for (int i = 0; i < n; i++) {
        s = 0.875 * s + 0.125 * x[i];
        y[i] = s;
    }
}

unsigned hash(unsigned n, const unsigned char *text)
{
    unsigned h = 5381, i;
    for (i = 0; i < n; ++i)
        h = MIX(h, text[i]);
    return h + i;
}

void filter(int n, float *restrict y, const float *restrict x)
{
    for (int i = n - 2; i >= 0; i--)
        y[i] = (x[i] - y[i + 1]) * 0.5f;
}

int longest(int n, const int *restrict x, int *restrict run)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        k = x[i] > 0 ? k + 1 : 0;
        run[i] = k;
    }
    return k;
}

/* the coefficient depends on y */
double bent(int n, const double *restrict x, double *restrict y)
{
    double s = 0.5;
    for (int i = 0; i < n; i++) {
        s = s * (s > 0.25 ? 0.5 : 0.75) + x[i];
        y[i] = s;
    }
    return s;
}

/* grows: parts of it may leave the range of numbers where the whole does not */
double growing(int n, const double *restrict x, double *restrict y)
{
    double s = 0.5;
    for (int i = 0; i < n; i++) {
        s = 2 * s - x[i];
        y[i] = s;
    }
    return s;
}
