/* The stop watch of NVIDIA's samples. */
#ifndef WARPSMITH_HELPER_TIMER_H
#define WARPSMITH_HELPER_TIMER_H

#include <time.h>

struct StopWatchInterface {
    double started, total;
};
inline double ws_milliseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}
inline bool sdkCreateTimer(StopWatchInterface **timer) {
    *timer = new StopWatchInterface{0.0, 0.0};
    return true;
}
inline bool sdkDeleteTimer(StopWatchInterface **timer) {
    delete *timer;
    *timer = nullptr;
    return true;
}
inline bool sdkStartTimer(StopWatchInterface **timer) {
    (*timer)->started = ws_milliseconds();
    return true;
}
inline bool sdkStopTimer(StopWatchInterface **timer) {
    (*timer)->total += ws_milliseconds() - (*timer)->started;
    return true;
}
inline bool sdkResetTimer(StopWatchInterface **timer) {
    (*timer)->total = 0.0;
    (*timer)->started = ws_milliseconds();
    return true;
}
inline float sdkGetTimerValue(StopWatchInterface **timer) { return (float)(*timer)->total; }
inline float sdkGetAverageTimerValue(StopWatchInterface **timer) { return (float)(*timer)->total; }

#endif
