/* DawnCC 19: n[i + j] has 1999 elements; different i write the same one, different j do not.
 * RUN: port --all
 * EXPECT: fill/i sequential host: carries an output dependence on n
 * EXPECT: fill/i/j parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
void fill(double n[restrict 1999])
{
    for (int i = 0; i < 1000; i++)
        for (int j = 0; j < 1000; j++)
            n[i + j] = i * j;
}
