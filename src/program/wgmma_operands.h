// The operands as device/tma.cuh stages them: panels of lines, copied in slices by the CTAs that share them.
#pragma once

#include <cstdint>

#include "problem/gemm.h"
#include "program/launch.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

struct StagedOperand {
  TensorMap::Matrix matrix;
  bool panels_along_k;
  int panels, lines, width;            // of a stage; elements a line
  int peers;                           // CTAs that share the copies
  uint64_t inner_extent, line_extent;  // of the matrix: contiguous direction, the other
  uint64_t leading;                    // elements between lines

  bool SlicesArePanels() const { return panels % peers == 0; }
  int SliceLines() const { return SlicesArePanels() ? lines : lines / peers; }
  // Panels that one operation brings. Deep maps see the contiguous direction as (panel, place in it), which needs whole
  // panels: a last, partial one would continue in the next line.
  int Depth() const {
    const bool whole_lines = SliceLines() == lines;
    const int slice_panels = SlicesArePanels() ? panels / peers : panels;
    return whole_lines && inner_extent % width == 0 ? slice_panels : 1;
  }
};

StagedOperand OperandA(const WgmmaPlan& plan, const Gemm& gemm);
StagedOperand OperandB(const WgmmaPlan& plan, const Gemm& gemm);

// The widest panels that so many columns fill; PanelWidth() of src/device/tma.cuh.
inline int PanelWidth(int columns) {
  return columns % 64 == 0 ? 64 : columns % 32 == 0 ? 32 : columns % 16 == 0 ? 16 : 8;
}

}  // namespace gemmsmith
