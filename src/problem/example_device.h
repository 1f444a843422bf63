// The device that tests take where any would do.
#pragma once

#include "problem/device_model.h"

namespace gemmsmith {

inline const Device& H200() {
  static const Device device = *FindDevice("h200");
  return device;
}

}  // namespace gemmsmith
