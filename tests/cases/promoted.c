/* Numbers in memory that a loop reads and writes at one address, and near misses.
 * RUN: port --all --verify off
 * EXPECT: pack/i scan ported: a running value (+: count_value) is the only carried dependence, after promote=pack/i,place=*count
 * EXPECT: last/i sequential ported: may carry an output dependence on p, under a condition that depends on data
 * EXPECT: total/i sequential ported: carries a flow dependence on sum
 * EXPECT: count/i sequential ported: may carry an anti dependence on p, under a condition that depends on data
 * EXPECT: largest/i sequential ported: may carry an anti dependence on best, under a condition that depends on data
 * EXPECT: whole/i sequential host: carries a flow dependence on p
 * EXPECT: early/i unanalyzable host: the loop may be left early by return
 * EXPECT: seen/i unanalyzable host: calls report, which is not defined here
 * EXPECT: spread/i parallel-after ported: parallel after row-starts=spread/i
 */
struct tally {
    int count;
    double total;
};

/* the values above zero, and how many there are */
void pack(int n, const double *x, double *out, int *count)
{
    *count = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 0.0)
            out[(*count)++] = x[i];
}

/* the last value above zero */
void last(int n, const double *x, double *p)
{
    for (int i = 0; i < n; i++)
        if (x[i] > 0.0)
            *p = x[i];
}

void total(int n, const double *x, double *sum)
{
    for (int i = 0; i < n; i++)
        *sum += x[i];
}

void count(int n, const double *x, struct tally *p)
{
    for (int i = 0; i < n; i++)
        if (x[i] > 0.0)
            p->count++;
}

/* the largest value, and where it is */
void largest(int n, const double *x, double *best, int *where)
{
    for (int i = 0; i < n; i++)
        if (x[i] > *best) {
            *best = x[i];
            *where = i;
        }
}

/* the struct is read as a whole */
void whole(int n, const double *x, double *y, struct tally *p)
{
    for (int i = 0; i < n; i++) {
        p->total = p->total * 0.5 + x[i];
        struct tally now = *p;
        y[i] = now.total;
    }
}

/* a return leaves the loop */
int early(int n, const double *x, double *sum)
{
    for (int i = 0; i < n; i++) {
        *sum = *sum * 0.5 + x[i];
        if (x[i] < 0.0)
            return 0;
    }
    return 1;
}

extern void report(int i);

/* somebody may look */
void seen(int n, const double *x, double *sum)
{
    for (int i = 0; i < n; i++) {
        *sum += x[i];
        report(i);
    }
}

/* the address moves */
void spread(int n, const double *x, double **at)
{
    for (int i = 0; i < n; i++)
        *at[i] += x[i];
}
