#include "profile/nsight_compute.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gemmsmith {
namespace {

TEST(NsightCompute, AMetricAColumnIsRead) {
  const auto values = ParseNsightCompute(
      "==PROF== Connected to process 77 (/usr/bin/gemmsmith)\n"
      "==PROF== Profiling \"gemm\" - 0: 0%....100% - 6 passes\n"
      "a word of the program, with a comma\n"
      "==PROF== Disconnected from process 77\n"
      "\"ID\",\"Kernel Name\",\"Block Size\",\"dram__bytes.sum.per_second\",\"gpu__time_duration.sum\","
      "\"smsp__inst_executed.sum\",\"lts__t_sector_hit_rate.pct\"\n"
      "\"\",\"\",\"\",\"byte/second\",\"ns\",\"inst\",\"%\"\n"
      "\"0\",\"gemm\",\"(128, 1, 1)\",\"1,234,567,890.50\",\"9,876\",\"12,345\",\"n/a\"\n");
  ASSERT_TRUE(values.ok()) << values.status().message();
  EXPECT_EQ(values->size(), 3u) << "what is not available is left out";
  EXPECT_EQ(values->at("dram__bytes.sum.per_second"), 1234567890.5);
  EXPECT_EQ(values->at("gpu__time_duration.sum"), 9876);
  EXPECT_EQ(values->at("smsp__inst_executed.sum"), 12345);
}

TEST(NsightCompute, AMetricARowIsRead) {
  const auto values = ParseNsightCompute(
      "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\r\n"
      "\"0\",\"gemm<\"\"a\"\", 3>\",\"Command line profiler "
      "metrics\",\"gpu__time_duration.sum\",\"usecond\",\"1.5\"\r\n"
      "==PROF== a word in between\n"
      "\"0\",\"gemm\",\"Command line profiler metrics\",\"dram__bytes.sum.per_second\",\"Gbyte/second\",\"2.5\"\r\n"
      "\"0\",\"gemm\",\"Command line profiler metrics\",\"a__small.ratio\",\"inst\",\"4.5e-05\"\r\n"
      "\"0\",\"gemm\",\"Command line profiler metrics\",\"a__damaged.ratio\",\"inst\",\"4.5 or so\"\r\n"
      "\"0\",\"gemm\",\"Command line profiler metrics\",\"sm__cycles_active.avg\",\"\",\"nan\"\r\n");
  ASSERT_TRUE(values.ok()) << values.status().message();
  EXPECT_EQ(*values,
            (std::map<std::string, double>{
                {"gpu__time_duration.sum", 1500}, {"dram__bytes.sum.per_second", 2.5e9}, {"a__small.ratio", 4.5e-5}}));
}

TEST(NsightCompute, WhatItComplainsOfIsTheReason) {
  const auto message = [](std::string_view output) { return ParseNsightCompute(output).status().message(); };
  EXPECT_EQ(
      message("==PROF== Connected to process 77\n"
              "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access counters.\n"
              "==PROF== Disconnected\n"),
      "Nsight Compute profiled nothing: ERR_NVGPUCTRPERM - The user does not have permission to access counters.");
  EXPECT_EQ(
      message("==ERROR== An error was reported by the driver:\n==ERROR== The profiler is in use.\n==PROF== Gone\n"),
      "Nsight Compute profiled nothing: An error was reported by the driver: The profiler is in use.");
  EXPECT_EQ(message("==ERROR== An error was reported by the driver:"),
            "Nsight Compute profiled nothing: An error was reported by the driver:");
  EXPECT_EQ(message("==PROF== Connected\n==WARNING== No kernels were profiled.\n"),
            "Nsight Compute profiled nothing: No kernels were profiled.");
  EXPECT_EQ(message("==PROF== Connected\ngemmsmith: no GPU 3: the driver sees 1\n\n==PROF== Disconnected\n"),
            "Nsight Compute profiled nothing: gemmsmith: no GPU 3: the driver sees 1");
  EXPECT_EQ(message(""), "Nsight Compute profiled nothing: it said nothing");
}

TEST(NsightCompute, ATableThatIsCutOffHoldsNothing) {
  EXPECT_FALSE(ParseNsightCompute("\"ID\",\"gpu__time_duration.sum\"\n\"\",\"ns\"\n").ok());
  EXPECT_FALSE(ParseNsightCompute("\"ID\",\"gpu__time_duration.sum\"\n\"\",\"ns\"\n\"0\"\n").ok());
  EXPECT_FALSE(ParseNsightCompute("\"ID\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n").ok());
}

TEST(NsightCompute, TheProgramComesLastAndMetricsAreOneWord) {
  const std::string_view metrics[] = {"a__b.sum", "c__d.pct"};
  const std::vector<std::string> command =
      NsightComputeCommand("/opt/ncu", metrics, "kernel", {"/usr/bin/gemmsmith", "once"});
  EXPECT_EQ(command.front(), "/opt/ncu");
  EXPECT_EQ(command.back(), "once");
  EXPECT_NE(std::find(command.begin(), command.end(), "a__b.sum,c__d.pct"), command.end());
}

}  // namespace
}  // namespace gemmsmith
