// The functions of include/gemmsmith/gemmsmith.h. No exception leaves them.
#include <algorithm>
#include <cstring>
#include <new>

#include "gemmsmith/gemmsmith.h"
#include "runtime/context.h"

struct gemmsmith_context {
  std::unique_ptr<gemmsmith::Context> context;
};
struct gemmsmith_product {
  std::shared_ptr<const gemmsmith::Product> product;
};

namespace {

using gemmsmith::Done;
using gemmsmith::Fail;
using gemmsmith::Failure;
using gemmsmith::Request;
using gemmsmith::Result;

std::string& LastError() {
  static thread_local std::string error;
  return error;
}

template <class Work>
gemmsmith_status Guarded(const Work& work) {
  try {
    Failure failure = work();
    if (!failure.ok()) LastError() = std::move(failure.reason);
    return failure.status;
  } catch (const std::bad_alloc&) {
    return GEMMSMITH_OUT_OF_MEMORY;  // no words: they would need memory
  } catch (const std::exception& exception) {
    LastError() = exception.what();
    return GEMMSMITH_INTERNAL;
  }
}

Failure ToRequest(const gemmsmith_problem* problem, Request& request) {
  if (problem == nullptr) return Fail(GEMMSMITH_INVALID_ARGUMENT, "problem is null");
  const Result<Request> made = gemmsmith::MakeRequest(*problem);
  if (!made.ok())
    return Fail(made.status().code() == gemmsmith::StatusCode::kUnavailable ? GEMMSMITH_NOT_SUPPORTED
                                                                            : GEMMSMITH_INVALID_ARGUMENT,
                made.status().message());
  request = *made;
  return Done();
}

}  // namespace

extern "C" {

const char* gemmsmith_version(void) { return GEMMSMITH_VERSION; }
uint32_t gemmsmith_abi(void) { return GEMMSMITH_ABI; }
const char* gemmsmith_last_error(void) { return LastError().c_str(); }

const char* gemmsmith_status_text(gemmsmith_status status) {
  switch (status) {
    case GEMMSMITH_OK:
      return "ok";
    case GEMMSMITH_INVALID_ARGUMENT:
      return "invalid argument";
    case GEMMSMITH_NOT_SUPPORTED:
      return "not supported";
    case GEMMSMITH_NO_DRIVER:
      return "no NVIDIA driver";
    case GEMMSMITH_NO_DEVICE:
      return "no such GPU";
    case GEMMSMITH_NO_LIBRARY:
      return "no cuBLASLt";
    case GEMMSMITH_OUT_OF_MEMORY:
      return "out of memory";
    case GEMMSMITH_LAUNCH_FAILED:
      return "launch failed";
    case GEMMSMITH_BAD_FILE:
      return "bad file of kernels";
    case GEMMSMITH_INTERNAL:
      return "internal error";
  }
  return "unknown status";
}

gemmsmith_status gemmsmith_context_create(gemmsmith_context** context, const char* overlay) {
  return Guarded([&]() -> Failure {
    if (context == nullptr) return Fail(GEMMSMITH_INVALID_ARGUMENT, "context is null");
    *context = nullptr;
    auto made = std::make_unique<gemmsmith_context>();
    RETURN_FAILURE(gemmsmith::Context::Make(overlay == nullptr ? "" : overlay, made->context));
    *context = made.release();
    return Done();
  });
}

void gemmsmith_context_destroy(gemmsmith_context* context) { delete context; }

void gemmsmith_problem_default(gemmsmith_problem* problem) {
  if (problem == nullptr) return;
  *problem = {};
  problem->size = sizeof *problem;
  problem->batch = 1;
  problem->ab_type = problem->cd_type = GEMMSMITH_F16;
  problem->alpha_is_one = problem->beta_is_zero = 1;
  problem->pointer_alignment = gemmsmith::kTmaAlignment;
}

void gemmsmith_operands_default(gemmsmith_operands* operands) {
  if (operands == nullptr) return;
  *operands = {};
  operands->size = sizeof *operands;
  operands->alpha = 1;
}

gemmsmith_status gemmsmith_prepare(gemmsmith_context* context, const gemmsmith_problem* problem, int device,
                                   gemmsmith_product** product) {
  return Guarded([&]() -> Failure {
    if (context == nullptr || product == nullptr) return Fail(GEMMSMITH_INVALID_ARGUMENT, "context or product is null");
    *product = nullptr;
    if (device < 0 || device > UINT8_MAX) return Fail(GEMMSMITH_NO_DEVICE, "no GPU has this number");
    Request request;
    RETURN_FAILURE(ToRequest(problem, request));
    request.device = uint8_t(device);
    auto made = std::make_unique<gemmsmith_product>();
    RETURN_FAILURE(context->context->Prepare(request, made->product));
    *product = made.release();
    return Done();
  });
}

gemmsmith_status gemmsmith_run(const gemmsmith_product* product, const gemmsmith_operands* operands, void* stream) {
  return Guarded([&]() -> Failure {
    if (product == nullptr || operands == nullptr)
      return Fail(GEMMSMITH_INVALID_ARGUMENT, "product or operands is null");
    return product->product->Run(*operands, static_cast<CUstream>(stream));
  });
}

void gemmsmith_release(gemmsmith_product* product) { delete product; }

gemmsmith_status gemmsmith_multiply(gemmsmith_context* context, const gemmsmith_problem* problem,
                                    const gemmsmith_operands* operands, void* stream) {
  return Guarded([&]() -> Failure {
    if (context == nullptr || problem == nullptr || operands == nullptr)
      return Fail(GEMMSMITH_INVALID_ARGUMENT, "context, problem or operands is null");
    if (problem->size != sizeof *problem || operands->size != sizeof *operands)
      return Fail(GEMMSMITH_INVALID_ARGUMENT, "problem or operands was not set up by this version's defaults");
    gemmsmith_problem asked = *problem;
    asked.alpha_is_one = operands->alpha == 1;
    asked.beta_is_zero = operands->beta == 0;
    asked.pointer_alignment = gemmsmith::AlignmentOf(*operands);
    Request request;
    RETURN_FAILURE(ToRequest(&asked, request));
    return context->context->Multiply(request, *operands, static_cast<CUstream>(stream));
  });
}

gemmsmith_status gemmsmith_explain(const gemmsmith_product* product, char* text, size_t* bytes) {
  return Guarded([&]() -> Failure {
    if (product == nullptr || bytes == nullptr) return Fail(GEMMSMITH_INVALID_ARGUMENT, "product or bytes is null");
    const std::string& whole = product->product->explanation();
    const size_t room = std::exchange(*bytes, whole.size() + 1);
    if (text == nullptr || room == 0) return Done();
    const size_t written = std::min(room - 1, whole.size());
    std::memcpy(text, whole.data(), written);
    text[written] = 0;
    return Done();
  });
}

}  // extern "C"
