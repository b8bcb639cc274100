#define PNMF_KERNEL_SET avx2
#define PNMF_VECTOR_BYTES 32
#include "linalg/kernels/one_set.hpp"
