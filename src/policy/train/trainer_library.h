// libtorch as a Trainer, through libgemmsmith_trainer.so where that was built (tools/torch_trainer).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/train/trainer.h"

namespace gemmsmith {

// On "cpu" or "cuda:0"; all weights 0. Unavailable, with the reason and what to do, where there is no torch or no such
// device.
Result<std::unique_ptr<Trainer>> OpenTorchTrainer(const ModelConfig& config, const std::string& device);

// Where the library may be, in order: $GEMMSMITH_TRAINER, beside this program, in lib under and beside its folder.
std::vector<std::string> TrainerLibraryPaths();

}  // namespace gemmsmith
