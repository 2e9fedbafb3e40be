/* Running values whose parts cannot be computed apart: the element is made by the body, or may be left out.
 * RUN: port --verify off
 * EXPECT: written_first/i scan ported: a running value (+: s) is the only carried dependence, after distribute=written_first/i,groups=1
 * EXPECT: left_out/i sequential host: a running value (*: s) is the only carried dependence, and an iteration may leave out the update of the running value
 * EXPECT: fed_back/i sequential host: carries a flow dependence on a
 */
int written_first(int n, int *restrict a, int *restrict b)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        a[i] = b[i] / 2;
        s += a[i];
        b[i] = s;
    }
    return s;
}

int left_out(int n, const int *restrict a, int *restrict b)
{
    int s = 1;
    for (int i = 0; i < n; i++) {
        if (a[i] < 0)
            continue;
        s *= a[i];
        b[i] = s;
    }
    return s;
}

void fed_back(int n, double *restrict a, const double *restrict b)
{
    for (int i = 1; i < n; i++)
        a[i] = b[i] / (a[i - 1] + 1.0);
}
