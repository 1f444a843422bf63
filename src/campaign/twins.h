// Plans that differ from another in the value of one parameter, or in what belongs to it: those that a heat meets
// beside the screened ones.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// The same plan with another value of one parameter; as it is where the family has no such parameter.
Plan With(Plan plan, std::string_view parameter, int value);
// The same plan with its tiles by where multiprocessors stand, all of them, in groups of eight tiles along m and more,
// or of all where there are no more than eight; none where places save nothing.
std::optional<Plan> PlacedTwin(const Plan& plan, const Shape& shape);
// The same plan with the raster whose waves ask L2 for least; none where its own is nearly as good, or its tiles go by
// place.
std::optional<Plan> SquareTwin(const Plan& plan, const Gemm& gemm, const Device& device);
// The same plan walking back and forth, where it stores by the copy engine with lines of C that leave L2 first; none
// where it does already, where that is not legal, or where K is too short for it to pay.
std::optional<Plan> BackAndForthTwin(const Plan& plan, const Gemm& gemm, const Device& device);
// The same plan in launches that alternate, with the longer operand streamed where few read it: with the two largest
// shares of its lines that are legal, then without any; none where it alternates with a share of lines already, or
// where alternating is not legal.
std::vector<Plan> AlternatingTwins(const Plan& plan, const Gemm& gemm, const Device& device);
// The same plan with the longest ring that takes no more than so many bytes; none where it takes no more as it is, and
// where K is not split among CTAs that wait for each other.
std::optional<Plan> ShortRingTwin(const Plan& plan, const Gemm& gemm, int64_t most_bytes);

}  // namespace gemmsmith
