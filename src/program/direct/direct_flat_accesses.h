// Device functions of a flat direct kernel that hold one instruction each.
#pragma once

#include "program/flat_text.h"

namespace gemmsmith {

// Load1 to Load8. Read-only: memory that nothing writes during the launch.
void AddLoad(int elements, bool is_read_only, FlatText& text);
// Load1UpTo to Load8UpTo.
void AddLoadUpTo(int elements, FlatText& text);
void AddStore(int elements, FlatText& text);
void AddMma(bool is_bf16, bool sums_f16, FlatText& text);
void AddPack(bool is_bf16, FlatText& text);
void AddUnpack(FlatText& text);

}  // namespace gemmsmith
