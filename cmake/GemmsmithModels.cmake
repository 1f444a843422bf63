# The products of public models (docs/models.md) as text inside the program, so that the set is there wherever it runs.
set(models ${CMAKE_SOURCE_DIR}/src/problem/model_products.csv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${models})
file(READ ${models} model_products)
set(GEMMSMITH_MODELS_CC ${CMAKE_BINARY_DIR}/generated/model_products.cc)
file(CONFIGURE OUTPUT ${GEMMSMITH_MODELS_CC} CONTENT [[
// Generated from src/problem/model_products.csv by cmake/GemmsmithModels.cmake.
#include "problem/models.h"

namespace gemmsmith {

std::string_view ModelProductsCsv() { return R"GEMMSMITH(@model_products@)GEMMSMITH"; }

}  // namespace gemmsmith
]] @ONLY)
