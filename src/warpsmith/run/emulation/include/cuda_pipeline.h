/* The pipeline interface of asynchronous copies, of which there are the primitives. */
#include "cuda_pipeline_primitives.h"
