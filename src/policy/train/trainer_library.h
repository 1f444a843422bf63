// libtorch as a Trainer, through libgemmsmith_trainer.so where that was built (tools/torch_trainer).
#pragma once

#include <memory>
#include <string>

#include "policy/train/trainer.h"

namespace gemmsmith {

// What matrices are multiplied in. Weights, norms and everything else are f32.
enum class ProductType : uint8_t { kF32, kBf16 };

// On "cpu" or "cuda:0"; all weights 0. Unavailable, with the reason and what to do, where there is no torch or no such
// device.
Result<std::unique_ptr<Trainer>> OpenTorchTrainer(const ModelConfig& config, const std::string& device,
                                                  ProductType products = ProductType::kF32);

}  // namespace gemmsmith
