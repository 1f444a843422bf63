#include "program/wgmma/wgmma_techniques.h"

#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

namespace {

const Technique kTechniques[] = {
    {"persistent",
     "a persistent schedule",
     "one tile a CTA",
     {"schedule", "ctas"},
     [](const Plan& plan) { return std::optional(WgmmaPlan(plan).is_persistent()); }},
    {"pingpong",
     "ping-pong",
     "a cooperative schedule",
     {"schedule"},
     [](const Plan& plan) -> std::optional<bool> {
       const Schedule schedule = WgmmaPlan(plan).schedule;
       if (schedule != Schedule::kPingPong && schedule != Schedule::kCooperative) return std::nullopt;
       return schedule == Schedule::kPingPong;
     }},
    {"split",
     "a split K",
     "a whole K",
     {"split", "reduction"},
     [](const Plan& plan) { return std::optional(WgmmaPlan(plan).split > 1); }},
    {"cluster",
     "clusters",
     "no clusters",
     {"cluster_m", "cluster_n"},
     [](const Plan& plan) { return std::optional(WgmmaPlan(plan).shares_copies()); }},
    {"swapped",
     "swapped roles",
     "straight roles",
     {"roles"},
     [](const Plan& plan) { return std::optional(WgmmaPlan(plan).is_swapped()); }},
    {"raster",
     "a raster of groups",
     "a raster along m or n",
     {"raster"},
     [](const Plan& plan) { return std::optional(WgmmaPlan(plan).raster > kAlongN); }},
    {"stream",
     "a streamed operand",
     "no stream",
     {"stream"},
     [](const Plan& plan) { return std::optional(WgmmaPlan(plan).stream != Stream::kNone); }},
    {"in_turn",
     "a staggered epilogue",
     "an epilogue together",
     {"finish"},
     [](const Plan& plan) { return std::optional(WgmmaPlan(plan).staggers); }},
    {"fixed",
     "fixed dimensions",
     "run-time dimensions",
     {"fixed"},
     [](const Plan& plan) { return std::optional(WgmmaPlan(plan).fixed != FixedDimensions::kNone); }},
};

}  // namespace

std::span<const Technique> WgmmaTechniques() { return kTechniques; }

}  // namespace gemmsmith
