// The bytes of every form of a record. Other programs and older archives hold them: a change here is a new version of
// the form.
#include <gtest/gtest.h>

#include "archive/archive.h"
#include "archive/columns.h"
#include "archive/database.h"
#include "archive/segment.h"
#include "archive/trial_fields.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "outcome/example_test_outcome.h"

namespace gemmsmith {
namespace {

Trial FullTrial() {
  Trial trial;
  trial.gemm = {{64, 32, 128}, {kTn}, 136};
  trial.subject = RecordedSource{"fast.cu", "0123456789abcdef0123456789abcdef"};
  trial.outcome = FullOutcome();
  trial.setting = {"h200", "NVIDIA H200", "GPU-0123", "580.1 (CUDA 13.0)", "nvrtc 13.0", "cublas 13.0.2", "0.1.0 aa"};
  trial.seed = 18446744073709551557u;
  trial.unix_ms = 1'795'219'200'000;
  trial.campaign = "example";
  return trial;
}

// Counts the visits of each field. A list's count and an optional's flag are fields too.
class FieldCounter : public CoderBase<FieldCounter> {
 public:
  void Printed(RecordField field, auto&&...) { ++visits[size_t(field)]; }
  void Text(RecordField field, auto&&...) { ++visits[size_t(field)]; }
  void Flag(RecordField field, auto&&...) { ++visits[size_t(field)]; }
  void Integer(RecordField field, auto&&...) { ++visits[size_t(field)]; }
  void Real(RecordField field, auto&&...) { ++visits[size_t(field)]; }
  void Choice(RecordField field, auto&&...) { ++visits[size_t(field)]; }
  void Limits(RecordField field, auto&&...) { ++visits[size_t(field)]; }
  void Presence(RecordField field, auto&&...) { ++visits[size_t(field)]; }
  void Precision(RecordField field, Protocol) { ++visits[size_t(field)]; }
  void Samples(RecordField count, auto&&...) { ++visits[size_t(count)], ++visits[size_t(Next(count))]; }
  void Optional(RecordField given, std::string_view, auto& item, auto&& fields) {
    ++visits[size_t(given)];
    fields(*this, *item);
  }
  void List(RecordField count, std::string_view, auto& items, auto&& fields) {
    ++visits[size_t(count)];
    fields(*this, items.back());
  }

  std::array<int, kRecordFieldCount> visits{};
};

TEST(TrialFields, EachIsVisitedOnce) {
  Trial trial = FullTrial();
  trial.outcome.counters.emplace()[Counter::kWaves] = 1;
  FieldCounter counter;
  VisitFields(counter, trial);
  for (size_t field = 0; field < kRecordFieldCount; ++field) EXPECT_EQ(counter.visits[field], 1) << field;
}

TEST(JsonLine, IsThisTextToTheLastByte) {
  EXPECT_EQ(
      ToJsonLine(FullTrial()),
      R"({"gemmsmith_trial":1,"problem":"gemm 64x32x128 tn f16 f32 lda=136",)"
      R"("plan":"source fast.cu 0123456789abcdef0123456789abcdef","campaign":"example",)"
      R"("seed":18446744073709551557,"unix_ms":1795219200000,"setting":{"device_key":"h200",)"
      R"_("device_name":"NVIDIA H200","gpu_uuid":"GPU-0123","driver":"580.1 (CUDA 13.0)",)_"
      R"("toolchain":"nvrtc 13.0",)"
      R"("libraries":"cublas 13.0.2","harness":"0.1.0 aa"},"outcome":{"kind":"measured","stage":"timing",)"
      R"("reason":"a \"reason\", in words","protocol":"short","facts":{"registers":40,"local_bytes":8,)"
      R"("static_smem_bytes":1024,"code_bytes":4096,"instructions":700,"local_memory_instructions":3,"mma_f32":64,)"
      R"("mma_f16":16,"wgmma_f32":32,"wgmma_f16":48},"verdict":{"passed":true,"test":"relative",)"
      R"("explanation":"element 7","max_abs_error":0.5,"baseline_max_abs_error":0.75,"relative_error":0.0625},)"
      R"("timings":[{"contender":"ours","clock":"device","median_ns":2048.0,"mean_ns":2052.0,)"
      R"("interval_ns":[2040.0,2064.0],"sample_count":3,"samples_ns":[2040.0,2048.0,2064.0]},)"
      R"({"contender":"lt_auto_tn","clock":"device","median_ns":3072.0,"mean_ns":3080.0,"interval_ns":[3064.0,)"
      R"(3088.0],"sample_count":5},{"contender":"ours","clock":"energy","median_ns":2176.0,"mean_ns":2184.0,)"
      R"("interval_ns":[2168.0,2192.0],"sample_count":4,"energy":{"joules":0.875,"interval_joules":[0.8125,)"
      R"(0.9375],"watts":640.0,"sm_clock_mhz":1755.0}}],"comparisons":[{"baseline":"lt_auto_tn","clock":"device",)"
      R"("median":1.5,"mean":1.515625,"interval":[1.4375,1.5625],"pairs":9},{"baseline":"lt_auto_tn",)"
      R"("clock":"device","median":1.25,"mean":1.28125,"interval":[1.125,1.375],"pairs":7,)"
      R"("contender":"cublas_tn"}],"conditions":{"sm_clock_mhz":1980,"power_watts":512.5,"discarded_batches":2,)"
      R"("power_capped":true,"clock_limits":"power_cap sync_boost","is_settled":true},)"
      R"("baseline_algorithms":[{"baseline":"lt_auto_tn","algorithm":"id66, best of 8"}],"compile_seconds":0.125,)"
      R"("evaluate_seconds":6.5,"counters":{"observer":"cupti","lacks":"most of them","tensor_pipe_percent":87.5,)"
      R"("stall_wait":0.4375},"recipe":"kernel _Z4gemm"}})");
}

TEST(Csv, IsThisTextToTheLastByte) {
  EXPECT_EQ(CsvHeader(),
            "unix_ms,campaign,device,m,n,k,problem,plan,protocol,seed,kind,stage,reason,time_ns,time_low_ns,"
            "time_high_ns,tflops,baseline,baseline_ns,ratio,ratio_low,ratio_high,registers,local_bytes,"
            "static_smem_bytes,code_bytes,max_abs_error,baseline_max_abs_error,relative_error,sm_clock_mhz,"
            "power_watts,driver,toolchain,libraries,harness,chained_ns,offline_ns,server_ns,host_ns,cold_ns,"
            "clock_limits,observer,cold_chained_ns,leading_clock,duration_ns,tensor_pipe_percent,tensor_pipe_half_"
            "percent,sm_busy_percent,"
            "issue_active_percent,instructions,achieved_occupancy_percent,theoretical_occupancy_percent,"
            "ctas_per_multiprocessor,waves,registers_per_thread,smem_bytes_per_cta,dram_gbs,dram_percent,l2_percent,"
            "l2_hit_percent,bank_conflicts_load,bank_conflicts_store,bank_conflicts_wgmma,stall_long_scoreboard,"
            "stall_short_scoreboard,stall_barrier,stall_membar,stall_wgmma,stall_math_pipe,stall_mio_throttle,"
            "stall_lg_throttle,stall_wait,stall_branch,stall_no_instruction,stall_sleeping,stall_dispatch,"
            "stall_not_selected");
  EXPECT_EQ(
      ToCsvLine(FullTrial()),
      R"(1795219200000,example,h200,64,32,128,gemm 64x32x128 tn f16 f32 lda=136,)"
      R"(source fast.cu 0123456789abcdef0123456789abcdef,short,18446744073709551557,measured,timing,"a ""reason"",)"
      R"( in words",2048,2040,2064,0.256,lt_auto_tn,3072,1.5,1.4375,1.5625,40,8,1024,4096,0.5,0.75,0.0625,1980,)"
      R"(512.5,580.1 (CUDA 13.0),nvrtc 13.0,cublas 13.0.2,0.1.0 aa,,,,,,power_cap sync_boost,cupti,,device,,87.5,,,,,,,,,,)"
      R"(,,,,,,,,,,,,,,,,0.4375,,,,,)");
}

// The columns before compression, whose bytes depend on its library.
std::string HashOfColumns(bool rounds) {
  ColumnEncoder encoder(rounds);
  for (int i = 0; i < 2; ++i) {
    Trial trial = FullTrial();
    trial.unix_ms += i;
    trial.outcome.protocol = Protocol(i);
    VisitFields(encoder, trial);
  }
  std::string bytes;
  for (const std::string& column : encoder.Columns()) bytes += fmt::format("{}:{}", column.size(), column);
  return HashBytes(bytes).Hex();
}

TEST(Segment, HasTheseColumns) {
  EXPECT_EQ(HashOfColumns(false), "2a560dc9712cc2ccaf32e11b86ce9f18");
  EXPECT_EQ(HashOfColumns(true), "f71b37f6d151794a56bf04d9a768fa4d");
}

TEST(Archive, HasTheseRows) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-formats-test");
  ASSERT_TRUE((*Archive::Open(folder.path() / "a.sqlite"))->Add(FullTrial()).ok());
  const auto database = *Database::Open(folder.path() / "a.sqlite");
  const auto row = [&](std::string_view sql, int columns) {
    Statement select = *database->Prepare(sql);
    EXPECT_TRUE(*select.Step()) << sql;
    std::vector<std::string> texts;
    for (int column = 0; column < columns; ++column) texts.emplace_back(select.Text(column));
    return Join(texts, "|");
  };
  EXPECT_EQ(
      row("SELECT hash, device_key, device_name, gpu_uuid, driver, toolchain, libraries, harness FROM setting", 8),
      "1bf5dfe2edaea612e46773f30595fb79|h200|NVIDIA H200|GPU-0123|580.1 (CUDA 13.0)|nvrtc 13.0|cublas 13.0.2|0.1.0 aa");
  EXPECT_EQ(
      row("SELECT campaign, problem.text, subject.text, setting_id, protocol, seed, unix_ms, kind, time_ns, reason"
          " FROM trial JOIN problem JOIN subject",
          10),
      R"(example|gemm 64x32x128 tn f16 f32 lda=136|source fast.cu 0123456789abcdef0123456789abcdef|1|short|-59|)"
      R"(1795219200000|measured|2048.0|a "reason", in words)");
  Statement select = *database->Prepare("SELECT outcome FROM trial");
  ASSERT_TRUE(*select.Step());
  EXPECT_EQ(select.Blob(0), EncodeOutcome(FullOutcome()));
}

}  // namespace
}  // namespace gemmsmith
