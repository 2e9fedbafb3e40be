/* Running values in all forms: in place, before and after the update, through a temporary, downwards, min, xor.
 * RUN: port
 * EXPECT: in_place/i scan ported: a running value (+: a) is the only carried dependence
 * EXPECT: exclusive/i scan ported: a running value (+: s) is the only carried dependence
 * EXPECT: suffix/i scan ported: a running value (+: a) is the only carried dependence
 * EXPECT: lowest/i scan ported: a running value (min: m) is the only carried dependence
 * EXPECT: mixed/i scan ported: a running value (^: h) is the only carried dependence
 * VERIFY: pass
 */
void in_place(int n, int *a, const int *b)
{
    for (int i = 1; i < n; i++)
        a[i] = a[i - 1] + b[i];
}

int exclusive(int n, int *restrict a)
{
    int s = 3;
    for (int i = 0; i < n; i++) {
        int t = a[i];
        a[i] = s;
        s += t;
    }
    return s;
}

void suffix(int n, long *restrict a, const int *restrict b)
{
    for (int i = n - 2; i >= 0; i--)
        a[i] = b[i] + a[i + 1] - 2;
}

double lowest(int n, const double *restrict a, double *restrict b)
{
    double m = 1e30;
    int i;
    for (i = 0; i < n; i++) {
        m = a[i] < m ? a[i] : m;
        b[i] = m * 2;
    }
    return m + i;
}

unsigned mixed(int n, const unsigned *restrict a, unsigned *restrict b)
{
    unsigned h = 7, x;
    for (int i = 0; i < n; i++) {
        x = a[i] * 3;
        b[i] = h;
        h ^= x;
    }
    return h;
}
