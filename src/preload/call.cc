#include "preload/call.h"

#include <fmt/format.h>

namespace gemmsmith {

std::string Call::Print() const {
  Request plain = request;
  plain.batch = 1;
  plain.a_step = plain.b_step = plain.c_step = plain.d_step = 0;
  plain.activation = plain.has_bias = plain.is_f32_result = 0;
  plain.alpha_is_one = plain.beta_is_zero = 1;
  plain.pointer_alignment = kTmaAlignment;
  std::optional<Gemm> gemm = plain.AsGemm();
  if (!gemm) return "";
  if (has_f16_sums) gemm->kind.accumulation = Accumulation::kF16;
  const bool is_whole = !has_settings && other_epilogue == 0 && request.AsGemm().has_value();
  std::string text = gemmsmith::Print(*gemm);
  if (is_whole) return text;
  text.replace(0, std::string_view("gemm").size(), "other");
  if (request.batch != 1)
    text += fmt::format(" batch={} steps={},{},{}", request.batch, request.a_step, request.b_step, request.d_step);
  if (!request.alpha_is_one) text += " alpha";
  if (!request.beta_is_zero) text += " beta";
  if (request.has_bias) text += " bias";
  if (request.activation == GEMMSMITH_RELU) text += " relu";
  if (request.activation == GEMMSMITH_GELU) text += " gelu";
  if (other_epilogue != 0) text += fmt::format(" epilogue={}", other_epilogue);
  if (request.is_f32_result) text += " result=f32";
  if (request.pointer_alignment < kTmaAlignment) text += fmt::format(" alignment={}", request.pointer_alignment);
  if (has_settings) text += " settings";
  return text;
}

}  // namespace gemmsmith
