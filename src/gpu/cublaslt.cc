#include "gpu/cublaslt.h"

#include <dlfcn.h>

#include "base/installation.h"
#include "gpu/symbol.h"

namespace gemmsmith {

Result<LtFunctions> LtFunctions::Of(void* library) {
  LtFunctions functions;
#define GEMMSMITH_RESOLVE(name)                                                                        \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, GEMMSMITH_SYMBOL(name))); \
  if (functions.name == nullptr) return Unavailable("cuBLASLt has no " GEMMSMITH_SYMBOL(name));
  GEMMSMITH_LT_FUNCTIONS(GEMMSMITH_RESOLVE)
#undef GEMMSMITH_RESOLVE
  return functions;
}

Result<LtFunctions> LtFunctions::OfToolkit() {
  ASSIGN_OR_RETURN(void* const library, OpenLibrary("libcublasLt.so.13"));
  return Of(library);
}

Result<LtFunctions> LtFunctions::OfProcess() {
  for (const char* soname : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (void* const library = dlopen(soname, RTLD_NOW | RTLD_NOLOAD)) return Of(library);
  return OfToolkit();
}

ColumnMajorProduct AsColumnMajor(int64_t m, int64_t n, int64_t k, bool a_is_column, bool b_is_column) {
  const auto operand = [](bool is_transposed, int64_t rows, int64_t columns) {
    ColumnMajorProduct::Operand plain{CUBLAS_OP_N, uint64_t(rows), uint64_t(columns)};
    return is_transposed ? ColumnMajorProduct::Operand{CUBLAS_OP_T, plain.columns, plain.rows} : plain;
  };
  return {operand(b_is_column, n, k), operand(a_is_column, k, m), operand(false, n, m)};
}

}  // namespace gemmsmith
