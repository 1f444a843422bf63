// The best kernels known for a problem: those of the archive, beside the catalogue's.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "archive/archive.h"
#include "catalogue/catalogue.h"

namespace gemmsmith {

// {"problem", "floor_us", "archive": [the fastest subjects, at most `most`], "catalogue": the problem's entry or the
// nearest whose plan runs it, null without}. Answers of replays do not count.
Result<nlohmann::ordered_json> BestKernels(const Gemm& gemm, const Device& device, const Archive& archive,
                                           const Catalogue* catalogue, size_t most);
// The problem's own entry, else the nearest whose plan runs it; null without.
const Entry* EntryFor(const Gemm& gemm, const Device& device, const Catalogue* catalogue);

}  // namespace gemmsmith
