/* What every file of kernels that we write includes, in one header that the parser reads precompiled. */
#ifndef WARPSMITH_PLAIN_PORT_FILE_H
#define WARPSMITH_PLAIN_PORT_FILE_H

#include <cuda_runtime.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>

#endif
