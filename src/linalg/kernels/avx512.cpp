#define PNMF_KERNEL_SET avx512
#define PNMF_VECTOR_BYTES 64
#include "linalg/kernels/one_set.hpp"
