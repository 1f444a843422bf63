// The values of the ring as C++, for tests.
#pragma once

#include <cstdint>

namespace gemmsmith::on_cpu {

using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;
#include "harness/input_values.cuh"
#include "harness/ring_values.cuh"

}  // namespace gemmsmith::on_cpu
