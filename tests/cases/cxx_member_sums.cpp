/* Sums, counts and extremes in members of an object, its base and what references are bound to, and near misses.
 * RUN: port --all
 * EXPECT: Gas::Gas/i parallel-after ported: parallel after localize=Gas::Gas/i
 * EXPECT: Gas::step/i reduction ported: an associative update (+: energy_value) is the only carried dependence, after localize=Gas::step/i, promote=Gas::step/i,place=this->energy
 * EXPECT: Gas::measure/i reduction ported: an associative update (+: total_value, max: fastest_value, +: steps_value, +: first_value) is the only carried dependence, after localize=Gas::measure/i, promote=Gas::measure/i,place=this->total, promote=Gas::measure/i,place=this->fastest, promote=Gas::measure/i,place=this->steps, promote=Gas::measure/i,place=this->ends.first
 * EXPECT: Gas::largest/one_at reduction ported: an associative update (max: furthest_value) is the only carried dependence, after localize=Gas::largest/one_at, promote=Gas::largest/one_at,place=this->furthest
 * EXPECT: Gas::add_to/one_at reduction ported: an associative update (+: sum_value) is the only carried dependence, after localize=Gas::add_to/one_at, promote=Gas::add_to/one_at,place=sum
 * EXPECT: Gas::drift/i sequential host: carries a flow dependence on this
 * EXPECT: Gas::watch/i scan ported: a running value (+: total_value3) is the only carried dependence, after localize=Gas::watch/i, promote=Gas::watch/i,place=this->total
 * EXPECT: main/t unanalyzable host: gas.step(0.5) may touch any part of out
 * VERIFY: pass
 */
#include <algorithm>
#include <cstdio>
#include <vector>

struct Ledger {
    double energy = 0;
};

class Gas : public Ledger {
public:
    explicit Gas(int n) : at(n), speed(n)
    {
        for (int i = 0; i < n; i++) {
            at[i] = i % 17;
            speed[i] = i * 7 % 13;
        }
    }

    void step(double dt)
    {
        int n = (int)at.size();
        for (int i = 0; i < n; i++) {
            at[i] += dt * speed[i];
            energy += 0.5 * speed[i] * speed[i];
        }
    }

    void measure()
    {
        for (std::size_t i = 0; i < at.size(); i++) {
            total += at[i];
            fastest = std::max(fastest, speed[i]);
            this->steps++;
            ends.first += at[i] * 2;
        }
    }

    void largest()
    {
        for (double one : at)
            if (one > furthest)
                furthest = one;
    }

    void add_to(double &sum) const
    {
        for (double one : at)
            sum += one;
    }

    // what is summed up decides what is written
    void drift()
    {
        for (int i = 0; i < (int)at.size(); i++) {
            total = 0.5 * total + at[i];
            at[i] = total;
        }
    }

    // the object looks at itself
    void watch(std::vector<double> &out)
    {
        for (std::size_t i = 0; i < at.size(); i++) {
            total += at[i];
            out[i] = mean();
        }
    }

    double mean() const { return steps ? total / steps : total; }

    void print() const
    {
        std::printf("%.6g %.6g %.6g %.6g %ld %.6g\n", energy, total, fastest, furthest, steps, ends.first);
    }

private:
    std::vector<double> at, speed;
    double total = 0, fastest = -1, furthest = -1;
    long steps = 0;
    struct {
        double first, last;
    } ends{0, 0};
};

int main()
{
    Gas gas(700);
    std::vector<double> out(700);
    double sum = 0;
    for (int t = 0; t < 3; t++) {
        gas.step(0.5);
        gas.measure();
    }
    gas.largest();
    gas.add_to(sum);
    gas.drift();
    gas.watch(out);
    gas.print();
    std::printf("%.6g %.6g\n", sum, out[699]);
}
