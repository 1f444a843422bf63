// The addresses of weights that no kernel in flight writes: a promise of the caller (docs/torch.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace gemmsmith::aten {

struct AddressRange {
  uintptr_t begin, end;
};

// Replaces all ranges. They are sorted and apart. Readers take no lock; what they may still read is never freed, so
// this is for calls that are made some times in a process.
void SetConstantWeights(const AddressRange* ranges, size_t count);
bool IsConstantWeight(const void* address);

}  // namespace gemmsmith::aten
