#define PNMF_KERNEL_SET baseline
#define PNMF_VECTOR_BYTES 16
#include "linalg/kernels/one_set.hpp"
