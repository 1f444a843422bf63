#include "evaluate/time/ring.h"

#include <algorithm>
#include <cmath>

#include "base/unpredictable.h"

namespace gemmsmith {

namespace {

constexpr uint64_t kBandBytes = uint64_t{64} << 10, kAlignment = 256;

uint64_t StepBytes(const Operand& operand) {
  return (uint64_t(operand.SpanBytes()) + kAlignment - 1) / kAlignment * kAlignment;
}

uint64_t ArrayBytes(const Operand& operand, int sets) { return 2 * kBandBytes + uint64_t(sets) * StepBytes(operand); }

uint64_t ChecksumBytes(int sets) { return uint64_t(sets) * sizeof(uint64_t); }

// Memory for the check of so many sets.
uint64_t SumBytes(const Gemm& gemm, int sets) {
  const RingSums sums = RingSums::For(gemm, Maker::kCandidate);
  const int64_t floats = sums.VectorCount(gemm.shape.k) + 2 * sums.SumCount();
  return 2 * ChecksumBytes(sets) + uint64_t(sets) * uint64_t(floats) * sizeof(float);
}

// A NaN of f16 and of bf16.
uint16_t DrawPoison(Random& random) { return uint16_t(0x7f80 | (1 + random.Below(127)) | random.Below(2) << 15); }

}  // namespace

RingPlan RingPlan::For(const Gemm& gemm) {
  constexpr double kBytesPerNs = 4500, kFlopsPerNs = 800e3, kLaunchNs = 1500;
  constexpr double kBriefNs = 0.06e6, kLongNs = 0.6e6, kBytes = 512 << 20;
  constexpr int kMost = 256, kFewestBrief = 2, kFewestLong = 3;
  const Task task = MakeTask(gemm);
  const double call_ns = kLaunchNs + std::max(task.bytes / kBytesPerNs, task.flops / kFlopsPerNs);
  const uint64_t set_bytes = StepBytes(task.inputs[0]) + StepBytes(task.inputs[1]) + StepBytes(task.output);
  const int most = int(std::min<double>(kMost, kBytes / double(set_bytes)));
  const auto sets = [&](double ns, int fewest) {
    return std::max(std::min(int(std::ceil(ns / call_ns)), most), fewest);
  };
  return {sets(kBriefNs, kFewestBrief), sets(kLongNs, kFewestLong)};
}

uint64_t Ring::BytesFor(const Gemm& gemm) {
  const Task task = MakeTask(gemm);
  const int sets = RingPlan::For(gemm).long_sets;
  return 2 * ArrayBytes(task.inputs[0], sets) + 2 * ArrayBytes(task.inputs[1], sets) + ArrayBytes(task.output, sets) +
         5 * ChecksumBytes(sets) + SumBytes(gemm, sets);
}

Ring::Ring(Gpu& gpu, HarnessKernels& harness, const RingKernels& kernels, const Gemm& gemm)
    : gpu_(&gpu),
      harness_(&harness),
      kernels_(&kernels),
      plan_(RingPlan::For(gemm)),
      keys_(UnpredictableSeed()),
      bands_key_(keys_.Next()) {}

Result<Ring> Ring::Create(Gpu& gpu, HarnessKernels& harness, const Gemm& gemm) {
  ASSIGN_OR_RETURN(const RingKernels* const kernels, harness.Ring());
  Ring ring(gpu, harness, *kernels, gemm);
  ASSIGN_OR_RETURN(ring.scratch_, gpu.Allocate(sizeof(uint64_t)));
  ASSIGN_OR_RETURN(ring.output_, ring.MakeArray(MakeTask(gemm).output, true));
  ASSIGN_OR_RETURN(ring.sums_, gpu.Allocate(SumBytes(gemm, ring.plan_.long_sets)));
  constexpr int64_t kLine = 8192;
  const int64_t lines = int64_t(2 * gpu.identity().l2_bytes / (kLine * sizeof(uint16_t))) + 1;
  ASSIGN_OR_RETURN(ring.sweep_, GuardedMatrix::Create(gpu, {"sweep", ScalarType::kF16, lines, kLine, kLine}, true));
  return ring;
}

uint64_t Ring::size_bytes() const {
  uint64_t bytes = output_.memory.size_bytes() + sums_.size_bytes();
  for (const auto& [key, array] : inputs_) bytes += array.memory.size_bytes();
  return bytes;
}

Result<Ring::Array> Ring::MakeArray(const Operand& operand, bool lines_are_rows) {
  const uint64_t bytes = ArrayBytes(operand, plan_.long_sets);
  Array array;
  ASSIGN_OR_RETURN(array.memory, gpu_->Allocate(bytes));
  ASSIGN_OR_RETURN(array.checksums, gpu_->Allocate(ChecksumBytes(plan_.long_sets)));
  RETURN_IF_ERROR(gpu_->Fill16(array.memory.address(), kCanary, bytes / sizeof(uint16_t)));
  array.operand.matrix = {array.memory.as<char>() + kBandBytes,
                          operand.lines,
                          operand.line_length,
                          operand.stride,
                          lines_are_rows ? 1 : 0,
                          operand.type == ScalarType::kF16 ? ElementType::kF16 : ElementType::kBf16};
  array.operand.step = int64_t(StepBytes(operand) / sizeof(uint16_t));
  array.operand.drawn = array.checksums.as<uint64_t>();
  return array;
}

// A brief batch leaves sets unused: its band stands where the first of them would.
RingBands Ring::BandsOf(std::array<const Array*, 3> arrays, int sets) {
  constexpr auto kWords = int64_t(kBandBytes / sizeof(uint32_t));
  RingBands bands;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i] == nullptr) continue;
    const Array& array = *arrays[i];
    auto* const first = static_cast<uint16_t*>(array.operand.matrix.data);
    bands[2 * i] = {array.memory.as<uint32_t>(), kWords};
    bands[2 * i + 1] = {reinterpret_cast<uint32_t*>(first + sets * array.operand.step), kWords};
  }
  return bands;
}

Status Ring::Add(const Gemm& gemm) {
  const Task task = MakeTask(gemm);
  const Layout& layout = gemm.kind.layout;
  for (const auto& [name, order, operand] :
       {std::tuple('A', layout.a, task.inputs[0]), std::tuple('B', layout.b, task.inputs[1])}) {
    if (inputs_.contains({name, order})) continue;
    ASSIGN_OR_RETURN(Array array, MakeArray(operand, order == Order::kRow));
    inputs_.emplace(std::pair(name, order), std::move(array));
  }
  return OkStatus();
}

const Ring::Array& Ring::InputOf(char name, const Layout& layout) const {
  return inputs_.at({name, name == 'A' ? layout.a : layout.b});
}

std::vector<CallAddresses> Ring::SetsFor(const Layout& layout, Batch batch) const {
  const auto in = [](const Array& array, int set) {
    return static_cast<uint16_t*>(array.operand.matrix.data) + set * array.operand.step;
  };
  std::vector<CallAddresses> sets;
  for (int set = 0; set < plan_.SetsOf(batch); ++set)
    sets.push_back({in(InputOf('A', layout), set), in(InputOf('B', layout), set), in(output_, set)});
  return sets;
}

Status Ring::RestoreBands(int sets) {
  const auto restore = [&](const Array& array) {
    return kernels_->DrawBands(*gpu_, BandsOf({&array}, sets), bands_key_, scratch_.as<uint64_t>());
  };
  for (const auto& [key, array] : inputs_) RETURN_IF_ERROR(restore(array));
  return restore(output_);
}

// A matrix has the same values in both orders. The lead-in lets the host get ahead, so that no batch holds its time.
Status Ring::Draw(int sets) {
  RETURN_IF_ERROR(harness_->LeadIn());
  const uint64_t key_of_a = keys_.Next(), key_of_b = keys_.Next();
  RingChecksumKey checksum_key{.place = keys_.Next()};
  for (uint32_t& word : checksum_key.words) word = uint32_t(keys_.Next());
  for (auto& [key, array] : inputs_) {
    array.operand.key = key.first == 'A' ? key_of_a : key_of_b;
    array.operand.checksum_key = checksum_key;
    RETURN_IF_ERROR(kernels_->Draw(*gpu_, array.operand, sets));
  }
  return OkStatus();
}

// The sweep reads twice what L2 holds: nothing is left to be written back in the batch.
Status Ring::PutBeforeBatch(int sets) {
  RingRanges ranges;
  size_t count = 0;
  const auto add = [&](const Array& array) {
    const int64_t bytes = sets * array.operand.step * int64_t(sizeof(uint16_t));
    ranges[count++] = {array.memory.as<void>(), bytes + 2 * int64_t(kBandBytes)};
  };
  for (const auto& [key, array] : inputs_) add(array);
  add(output_);
  poison_ = DrawPoison(keys_);
  RETURN_IF_ERROR(kernels_->Poison(*gpu_, output_.operand, sets, poison_, ranges));
  RETURN_IF_ERROR(kernels_->ClearSharedMemory(*gpu_, uint32_t(keys_.Next())));
  return harness_->Inspect({.a = &sweep_});
}

Status Ring::PutCheck(const Gemm& gemm, Maker maker, int sets, int round, uint64_t* fault) {
  const RingSums sums = RingSums::For(gemm, maker);
  const int64_t k = gemm.shape.k;
  const Array &a = InputOf('A', gemm.kind.layout), &b = InputOf('B', gemm.kind.layout);
  RingCheck check;
  sums.Enter(k, check);
  check.a = a.operand;
  check.b = b.operand;
  check.c = output_.operand;
  check.bands = BandsOf({&a, &b, &output_}, sets);
  check.bands_key = bands_key_;
  check.weights_key = keys_.Next();
  check.sets = sets;
  check.a.found = sums_.as<uint64_t>();
  check.b.found = check.a.found + sets;
  check.vectors = reinterpret_cast<float*>(check.b.found + sets);
  check.differences = check.vectors + sets * sums.VectorCount(k);
  check.fault = fault;
  check.poison = poison_;
  check.round = uint32_t(round);
  RETURN_IF_ERROR(gpu_->Fill8(sums_.address(), 0, SumBytes(gemm, sets)));
  return kernels_->Check(*gpu_, check);
}

}  // namespace gemmsmith
