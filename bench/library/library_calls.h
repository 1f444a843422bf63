// The library's C interface with owners, and its statuses as ours.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "gemmsmith/gemmsmith.h"

namespace gemmsmith {

struct DestroyContext {
  void operator()(gemmsmith_context* context) const { gemmsmith_context_destroy(context); }
};
struct ReleaseProduct {
  void operator()(gemmsmith_product* product) const { gemmsmith_release(product); }
};
using OwnedContext = std::unique_ptr<gemmsmith_context, DestroyContext>;
using OwnedProduct = std::unique_ptr<gemmsmith_product, ReleaseProduct>;

inline Status LibraryStatus(gemmsmith_status status, const std::string& what) {
  if (status == GEMMSMITH_OK) return OkStatus();
  return Unavailable(what + ": " + gemmsmith_status_text(status) + ": " + gemmsmith_last_error());
}

inline Result<OwnedContext> OpenLibrary() {
  gemmsmith_context* context = nullptr;
  RETURN_IF_ERROR(LibraryStatus(gemmsmith_context_create(&context, nullptr), "gemmsmith_context_create"));
  return OwnedContext(context);
}

inline Result<OwnedProduct> Prepare(gemmsmith_context* context, const gemmsmith_problem& problem) {
  gemmsmith_product* product = nullptr;
  RETURN_IF_ERROR(LibraryStatus(gemmsmith_prepare(context, &problem, 0, &product), "gemmsmith_prepare"));
  return OwnedProduct(product);
}

inline std::string Explain(const gemmsmith_product* product) {
  size_t bytes = 0;
  gemmsmith_explain(product, nullptr, &bytes);
  std::string text(bytes, 0);
  gemmsmith_explain(product, text.data(), &bytes);
  text.resize(text.find('\0'));
  return text;
}
inline bool IsGeneral(const std::string& explanation) {
  return explanation.find("without dimensions") != std::string::npos;
}
inline bool IsOurs(const std::string& explanation) { return explanation.find("\nkernel: ") != std::string::npos; }

}  // namespace gemmsmith
