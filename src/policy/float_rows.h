// The loops of inference besides its matrix products, on rows of floats. On x86-64 each loop exists twice, with AVX2
// and FMA and without. The last bits of sums differ between the two.
#pragma once

#include <span>

namespace gemmsmith {

float Dot(const float* a, const float* b, int count);
// Dot products of x with each of `count` rows, which lie `stride` apart.
void DotRows(const float* x, int width, const float* rows, int stride, int count, float* dots);
// y += the rows, each scaled by its own number
void AddScaledRows(const float* scales, const float* rows, int stride, int count, int width, float* y);
// y = x over the root of its mean square, times the weights
void Norm(const float* x, std::span<const float> weights, float* y);
void Scale(float scale, int count, float* x);
// Each number by the square of it, or by 0 where it is negative.
void SquarePositive(std::span<float> x);
// Softmax of the first `count` weights, in place. Each exponential is within 1e-6 of its value.
void Softmax(float* weights, int count);

}  // namespace gemmsmith
