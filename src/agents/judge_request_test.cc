#include "agents/judge_request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPlan = "direct tile_m=32 warps_k=8";

Json PlanRequest() { return {{"problem", "64x64x64"}, {"plan", kPlan}}; }
Json SourceRequest() { return {{"problem", "64x64x64 nn bf16 f32"}, {"source", "text"}, {"name", "a name"}}; }

void ExpectRefused(const Json& json, const std::string& part) {
  const Result<JudgeRequest> request = ParseJudgeRequest(json);
  ASSERT_FALSE(request.ok()) << json;
  EXPECT_EQ(request.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(request.status().message().find(part), std::string::npos) << request.status().message();
}

TEST(JudgeRequest, AShapeAloneIsTheUsualProblem) {
  EXPECT_EQ(Print(*ParseProblem("256x512x4096")), "gemm 256x512x4096 tn f16 f32");
  EXPECT_EQ(Print(*ParseProblem("256x512x4096 nn bf16 f32")), "gemm 256x512x4096 nn bf16 f32");
  EXPECT_EQ(Print(*ParseProblem("gemm 256x512x4096 nn bf16 f32")), "gemm 256x512x4096 nn bf16 f32");
  for (const char* wrong : {"", "x", "256x512", "0x1x1", "256x512x4096 tt f16 f32", "256x512x4096 tn"})
    EXPECT_FALSE(ParseProblem(wrong).ok()) << wrong;
}

TEST(JudgeRequest, MatricesThatNoGpuHoldsAreRefused) {
  EXPECT_TRUE(ParseProblem("16384x16384x16384").ok());
  EXPECT_FALSE(ParseProblem("100000x100000x100000").ok());
}

TEST(JudgeRequest, WhatIsPrintedParsesToTheSame) {
  for (Json json : {PlanRequest(), SourceRequest()}) {
    json["protocol"] = "screen", json["counters"] = true;
    const Result<JudgeRequest> request = ParseJudgeRequest(json);
    ASSERT_TRUE(request.ok()) << request.status().message();
    const Result<JudgeRequest> again = ParseJudgeRequest(JsonOf(*request));
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again->gemm, request->gemm);
    EXPECT_EQ(again->subject, request->subject);
    EXPECT_EQ(again->protocol, Protocol::kScreen);
    EXPECT_TRUE(again->counters);
  }
}

TEST(JudgeRequest, WrongMembersAreNamed) {
  ExpectRefused(Json::array(), "object");
  ExpectRefused({{"plan", kPlan}}, "'problem' is missing");
  ExpectRefused({{"problem", 7}, {"plan", kPlan}}, "'problem' is not a string");
  ExpectRefused({{"problem", "64x64x64"}}, "'source'");
  ExpectRefused({{"problem", "64x64x64"}, {"plan", kPlan}, {"source", ""}}, "either");
  ExpectRefused({{"problem", "64x64x64"}, {"plan", "no plan"}}, "");
  ExpectRefused({{"problem", "64x64x64"}, {"plan", kPlan}, {"name", "x"}}, "'name' is for a source");
  ExpectRefused({{"problem", "64x64x64"}, {"source", 1}}, "'source' is not a string");
  ExpectRefused({{"problem", "64x64x64"}, {"source", ""}, {"name", ""}}, "'name'");
  ExpectRefused({{"problem", "64x64x64"}, {"plan", kPlan}, {"protocol", "heat"}}, "'protocol'");
  ExpectRefused({{"problem", "64x64x64"}, {"plan", kPlan}, {"counters", 1}}, "'counters'");
  ExpectRefused({{"problem", "64x64x64"}, {"plan", kPlan}, {"seed", 1}}, "'seed'");
  ExpectRefused({{"problem", "gemm 64x64x64 tn f16 f32 lda=128"}, {"source", ""}}, "packed");
}

TEST(JudgeRequest, RefusalsOfLongTextsAreShort) {
  const std::string large(1 << 20, 'a');
  for (const Json& json :
       {Json{{"problem", large}, {"plan", kPlan}}, Json{{"problem", "64x64x64 " + large}, {"plan", kPlan}},
        Json{{"problem", "64x64x64"}, {"plan", large}},
        Json{{"problem", "64x64x64"}, {"plan", "direct " + large + "=1"}},
        Json{{"problem", "64x64x64"}, {"plan", kPlan}, {large, 1}}}) {
    const Status status = ParseJudgeRequest(json).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_LT(status.message().size(), 300u);
  }
}

TEST(JudgeRequest, TheIdIsOfTheContentAlone) {
  const JudgeRequest request = *ParseJudgeRequest(SourceRequest());
  const std::string id = IdOf(request, "judge");
  EXPECT_EQ(id.size(), 32u);
  Json named = SourceRequest();
  named["name"] = "another";
  EXPECT_EQ(IdOf(*ParseJudgeRequest(named), "judge"), id);
  EXPECT_NE(IdOf(request, "another judge"), id);
  for (const auto& [member, value] : {std::pair<const char*, Json>{"problem", "64x64x64 nn f16 f32"},
                                      {"source", "text "},
                                      {"protocol", "screen"},
                                      {"counters", true}}) {
    Json changed = SourceRequest();
    changed[member] = value;
    EXPECT_NE(IdOf(*ParseJudgeRequest(changed), "judge"), id) << member;
  }
}

}  // namespace
}  // namespace gemmsmith
