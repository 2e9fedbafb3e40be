/* Clocks that can be bent: the original's second run sees time pass differently, so that every number of its output
   that depends on time differs between its two runs and is known for what it is, also where it is printed too
   coarsely to differ by itself ("0.00 s").

   WS_CLOCK unset: the real time. Set: each question adds 1.37 s times that number, and time stands a year ahead.
   WS_EPOCH: the time of day at the first question, in seconds; each further question about the time of day adds 1/64 s,
   however long the program takes. One that draws its random numbers from it does the same in every run where it is the
   same, also where they are drawn late and the run is a slow one.
   WS_DAY: the time of day is not bent. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static long long questions;

static double bend(void)
{
    const char *text = getenv("WS_CLOCK");
    if (!text)
        return 0.0;
    return 31557600.0 + 1.37 * atof(text) * (double)__atomic_add_fetch(&questions, 1, __ATOMIC_RELAXED);
}

/* Tell the time of day by the questions about it that were asked since WS_EPOCH. */
static void restart(struct timespec *now)
{
    static long long asked;
    const char *text = getenv("WS_EPOCH");
    if (!text)
        return;
    const long long before = __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    now->tv_sec = (time_t)(atoll(text) + before / 64);
    now->tv_nsec = (long)(before % 64 * (1000000000 / 64));
}

static int read_clock(clockid_t clock_id, struct timespec *result)
{
    const int day = clock_id == CLOCK_REALTIME;
    double ahead = day && getenv("WS_DAY") ? 0.0 : bend();
    int status = (int)syscall(SYS_clock_gettime, clock_id, result);
    if (day && status == 0)
        restart(result);
    long long nanoseconds = result->tv_nsec + (long long)((ahead - (double)(long long)ahead) * 1e9);
    result->tv_sec += (time_t)ahead + (time_t)(nanoseconds / 1000000000);
    result->tv_nsec = (long)(nanoseconds % 1000000000);
    return status;
}

int clock_gettime(clockid_t clock_id, struct timespec *result)
{
    return read_clock(clock_id, result);
}

int gettimeofday(struct timeval *restrict result, void *restrict zone)
{
    struct timespec now = {0, 0};
    (void)zone;
    read_clock(CLOCK_REALTIME, &now);
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result)
{
    struct timespec now = {0, 0};
    read_clock(CLOCK_REALTIME, &now);
    if (result)
        *result = now.tv_sec;
    return now.tv_sec;
}

clock_t clock(void)
{
    struct timespec now = {0, 0};
    read_clock(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (clock_t)(now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1000000000 / CLOCKS_PER_SEC));
}

/* Programs have functions of these names more often than of those above. */
#define WS_WEAK __attribute__((weak))

WS_WEAK int timespec_get(struct timespec *result, int base)
{
    return base == TIME_UTC && read_clock(CLOCK_REALTIME, result) == 0 ? base : 0;
}

WS_WEAK int getrusage(__rusage_who_t who, struct rusage *usage)
{
    double ahead = bend();
    int status = (int)syscall(SYS_getrusage, who, usage);
    long long microseconds = usage->ru_utime.tv_usec + (long long)((ahead - (double)(long long)ahead) * 1e6);
    usage->ru_utime.tv_sec += (time_t)ahead + (time_t)(microseconds / 1000000);
    usage->ru_utime.tv_usec = (suseconds_t)(microseconds % 1000000);
    return status;
}

WS_WEAK clock_t times(struct tms *used)
{
    clock_t ahead = (clock_t)(bend() * (double)sysconf(_SC_CLK_TCK));
    clock_t now = (clock_t)syscall(SYS_times, used);
    if (used)
        used->tms_utime += ahead;
    return now + ahead;
}
