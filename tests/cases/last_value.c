/* What the last iteration that has a reason to leaves behind: one variable, two, downwards, with a temporary.
 * RUN: port
 * EXPECT: last_below/i reduction ported: an associative update (max: i_last) is the only carried dependence, after find-last=last_below/i
 * EXPECT: last_two/i reduction ported: an associative update (max: i_last2) is the only carried dependence, after find-last=last_two/i
 * EXPECT: first_from_behind/i reduction ported: an associative update (max: i_last3) is the only carried dependence, after find-last=first_from_behind/i
 * EXPECT: chained/i sequential host: may carry an anti dependence on last, under a condition that depends on data
 * VERIFY: pass
 */
int last_below(int n, const int *x)
{
    int last = 0;
    for (int i = 0; i < n; i++)
        if (x[i] < 50)
            last = x[i];
    return last;
}

double last_two(unsigned n, const double *x, int *where)
{
    double v = -1;
    int at = -1;
    unsigned i;
    for (i = 0; i < n; i++) {
        double t = x[i];
        if (!(t * t > 0.1))
            continue;
        v = t * 2;
        at = i;
    }
    *where = at;
    return v + i;
}

#define SIGN(v) ((v) > 0 ? 1 : -1)
long first_from_behind(long n, const short *x)
{
    long place = -1, i;
    for (i = 0; i < n; i += 3)
        if (SIGN(x[i]) == 1 && i % 2)
            place = i;
    return place + i;
}

/* the value depends on what was set before: no iteration stands alone */
int chained(int n, const int *x)
{
    int last = 1;
    for (int i = 0; i < n; i++)
        if (x[i] % 3)
            last = x[i] - last;
    return last;
}
