/* CUDA on the CPU: what a CUDA program includes when warpsmith runs it on its emulation. C and C++.
   The host API serves every language; device words, intrinsics and launches need C++, as in CUDA itself. */
#ifndef WARPSMITH_CUDA_RUNTIME_H
#define WARPSMITH_CUDA_RUNTIME_H

#include "ws_api.h"

#ifdef __cplusplus
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>

#include "ws_launch.h"
#include "ws_device.h"
#include "ws_atomics.h"
#include "ws_math.h"
#endif

#endif
