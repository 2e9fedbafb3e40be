/* What the parts of the judge's run time share. */
#ifndef JUDGE_RECORD_H
#define JUDGE_RECORD_H
#include <cstddef>

namespace judge {
/* Fill with what nobody has written: NaN, large, or small numbers, by the run. */
void fill(void *at, size_t bytes);
/* Hide the host's memory from a kernel; give it back, and end the program where the kernel wrote there. */
void hide_host();
void show_host();
[[noreturn]] void stop(const char *why);
int run_number(); /* JUDGE_RUN: 0, 1, 2 */
} // namespace judge
#endif
