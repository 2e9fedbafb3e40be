/* Constants of a namespace as sizes of rows and as bounds, memory of rows that `new` gives, a macro for a function's name,
 * questions about floating-point numbers.
 * RUN: port
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2/j parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2/j/k reduction ported: an associative update (+: steps) is the only carried dependence
 * EXPECT: main/i#3 reduction ported: an associative update (+: sum) is the only carried dependence
 * EXPECT: main/i#3/j reduction ported: an associative update (+: sum) is the only carried dependence
 * VERIFY: pass
 */
#include <cmath>
#include <cstdio>

#define ROOT sqrtf

constexpr int side = 24;
constexpr int rows = side / 2, columns = side + 6;
namespace table {
const unsigned int shift = 3;
}

int main()
{
    float(*height)[columns] = new float[rows][columns];
    float(*slope)[columns] = new float[rows][columns];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            height[i][j] = ROOT((float)((i * columns + 7 * j) % side)) - (float)table::shift;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float steps = 0.0f;
            for (int k = 0; k < columns; k++)
                steps += ROOT(height[i][k] * height[i][k] + (float)(j % rows));
            const float scaled = height[i][j] / (steps - steps * (float)(j % 5 != 4));
            slope[i][j] = std::isfinite(scaled) ? scaled : std::signbit(height[i][j]) ? -1.0f : 1.0f;
        }
    double sum = 0.0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            sum += slope[i][j] * (i + 1) - height[i][j];
    std::printf("%.6f\n", sum);
    delete[] height;
    delete[] slope;
    return 0;
}
