// The f32 product on the CPU (OpenBLAS): the definition of truth that the GPU's reference is checked against.
#pragma once

namespace gemmsmith {

// Row-major, packed c[rows, columns] = a[rows, depth] * b[depth, columns], on every core of the machine.
void CpuProduct(int threads, int rows, int columns, int depth, const float* a, const float* b, float* c);

// The same by the definition, in f64 and on one core: for infinities and NaN, about which a library may think its own.
void CpuProductOneByOne(int rows, int columns, int depth, const float* a, const float* b, float* c);

}  // namespace gemmsmith
