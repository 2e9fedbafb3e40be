/* The pool of device memory, for launchers that stand before it. */
#pragma once

extern "C" void *ws_device_acquire(long long bytes, const char *name, const char *file, int line);
extern "C" void ws_device_release(void *memory);
