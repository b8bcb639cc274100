#define PNMF_KERNEL_SET sve
#define PNMF_VECTOR_BYTES 32
#include "linalg/kernels/one_set.hpp"
