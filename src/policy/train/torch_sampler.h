// Texts that a model draws, many at once.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/train/gemmsmith_trainer.h"
#include "policy/train/repeated_launches.h"
#include "policy/train/torch_model.h"

namespace gemmsmith {

// Draws behind some rows of a request's prompts. Prompts are read at once, then all rows get a word at a time. On a GPU
// a word is one CUDA graph, and the host waits for the device at every kWordsBetweenLooks only. Rows that have ended
// are dropped when they are half of all.
class TorchSampler {
 public:
  using Tensor = at::Tensor;

  // `stream`: a GPU's, not its default one; null on the CPU.
  TorchSampler(const TorchModel& model, const GemmsmithTrainerPrompts& prompts, const GemmsmithTrainerDraw& draw,
               const std::optional<c10::Stream>& stream)
      : model_(ForProducts(model)),
        words_(model.embedding.to(model.products).t()),
        prompts_(prompts),
        draw_(draw),
        stream_(stream) {}

  // Each stream has memory of its own in torch's allocator: one is kept for all draws.
  static std::optional<c10::Stream> StreamOn(const at::Device& device) {
    if (!device.is_cuda()) return std::nullopt;
    return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  }

  // So many rows at once, at most.
  static int64_t RowsAtOnce(const TorchModel& model) {
    const int64_t bytes_of_row = 2 * int64_t(model.sizes.layers) * model.sizes.width * model.sizes.positions *
                                 int64_t(at::elementSize(model.products));
    return std::clamp<int64_t>(kMostCacheBytes / bytes_of_row, 1, kMostRows);
  }

  void Sample(int64_t begin, int64_t end, GemmsmithTrainerTexts& texts) const {
    if (!stream_) return SampleHere(begin, end, texts, nullptr);
    c10::impl::VirtualGuardImpl(device().type()).getStream(device()).synchronize();
    const c10::StreamGuard guard(*stream_);
    RepeatedLaunches launches(*stream_);
    SampleHere(begin, end, texts, &launches);
    stream_->synchronize();
  }

 private:
  static constexpr int64_t kMostRows = 256;
  static constexpr int64_t kMostCacheBytes = int64_t{1} << 35;
  static constexpr int64_t kMostWordsRead = int64_t{1} << 16;  // of prompts, at once
  static constexpr int64_t kWordsBetweenLooks = 16;
  // Attention runs over whole blocks of so many columns of the caches, so that words share a graph.
  static constexpr int64_t kColumnsOfBlock = 256;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // Rows that are being written. All prompts end in one column of the caches, so a word of every row has one column
  // too; its position is the row's own.
  struct Drafts {
    std::vector<int64_t> rows;    // in the request, by prompts: equal ones stand together, and those of one length
    int64_t longest = 0;          // prompt
    Tensor lengths, rooms;        // of the prompts, and how many words fit behind them: [rows]
    Tensor chances, words, logs;  // [rows, most]; words are the end where none is drawn yet
    Tensor is_done;               // [rows]
    Tensor done;                  // how many rows: [1]
    Tensor next;                  // the word to draw: [1]
    Tensor logits;                // of that word: [rows, words]
    Tensor mask;                  // [rows, 1, 1, columns]: 0 where a word stands, else -inf
    std::vector<Tensor> caches;   // keys and values of each layer: [2, rows, heads, columns, head width]
  };

  // Matrices in the type of products, so that a word need not convert them.
  static TorchModel ForProducts(TorchModel model) {
    for (Layer& layer : model.layers)
      for (Tensor* matrix : {&layer.qkv, &layer.out, &layer.up, &layer.down}) *matrix = matrix->to(model.products);
    return model;
  }

  at::Device device() const { return words_.device(); }
  at::TensorOptions TypeOfProducts() const { return words_.options(); }

  void SampleHere(int64_t begin, int64_t end, GemmsmithTrainerTexts& texts, RepeatedLaunches* launches) const {
    Drafts drafts = BeginDrafts(begin, end);
    ReadPrompts(drafts);
    const int64_t most = drafts.rooms.max().item<int64_t>();
    int64_t kept_columns = 0;  // what the graph attends to
    for (int64_t word = 0; word < most; ++word) {
      if (word > 0 && word % kWordsBetweenLooks == 0) {
        const int64_t done = drafts.done.item<int64_t>(), all = drafts.is_done.size(0);
        if (done == all) break;
        if (2 * done >= all) {
          HandOut(drafts, texts);
          DropDone(word, drafts);
          kept_columns = 0;
        }
      }
      const int64_t columns = InBlocks(drafts.longest + word + 1);
      if (launches == nullptr || columns != kept_columns) {
        // Libraries set themselves up in a first call, which no graph may have.
        if (launches != nullptr) launches->Forget();
        DrawWord(columns, drafts);
        kept_columns = columns;
        continue;
      }
      if (!launches->is_kept()) launches->Keep([&] { DrawWord(columns, drafts); });
      launches->Launch();
    }
    HandOut(drafts, texts);
  }

  static int64_t InBlocks(int64_t columns) {
    return (columns + kColumnsOfBlock - 1) / kColumnsOfBlock * kColumnsOfBlock;
  }

  Drafts BeginDrafts(int64_t begin, int64_t end) const {
    Drafts drafts;
    drafts.rows.resize(size_t(end - begin));
    std::iota(drafts.rows.begin(), drafts.rows.end(), begin);
    std::stable_sort(drafts.rows.begin(), drafts.rows.end(), [&](int64_t a, int64_t b) {
      const Prompt one = PromptOf(a), other = PromptOf(b);
      if (one.size() != other.size()) return one.size() < other.size();
      return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end());
    });
    std::vector<int64_t> lengths;
    for (const int64_t row : drafts.rows) lengths.push_back(int64_t(PromptOf(row).size()));
    drafts.longest = lengths.back();
    drafts.lengths = OnDevice(lengths);
    drafts.rooms = (model_.sizes.positions - drafts.lengths).clamp_max(draw_.most);
    const int64_t rows = end - begin, columns = InBlocks(drafts.longest + drafts.rooms.max().item<int64_t>());
    const at::TensorOptions whole_numbers = drafts.lengths.options();
    drafts.chances = Chances(draw_.seed, drafts.rows, draw_.most).to(device());
    drafts.words = at::full({rows, draw_.most}, draw_.end, whole_numbers);
    drafts.logs = at::zeros({rows, draw_.most}, whole_numbers.dtype(at::kFloat));
    drafts.is_done = at::zeros({rows}, whole_numbers.dtype(at::kBool));
    drafts.next = at::zeros({1}, whole_numbers);
    drafts.done = at::zeros({1}, whole_numbers);
    drafts.logits = at::zeros({rows, model_.sizes.words}, whole_numbers.dtype(at::kFloat));
    const Tensor column = at::arange(columns, whole_numbers);
    const Tensor is_of_prompt =
        column.ge((drafts.longest - drafts.lengths).unsqueeze(1)).logical_and(column.lt(drafts.longest));
    drafts.mask = at::zeros({rows, columns}, TypeOfProducts())
                      .masked_fill(is_of_prompt.logical_not(), -kInfinity)
                      .view({rows, 1, 1, columns});
    for (size_t i = 0; i < model_.layers.size(); ++i) drafts.caches.push_back(NewCache(rows, columns));
    return drafts;
  }

  // Numbers in [0, 1) for the words of some rows. Those of a row depend neither on the rows beside it nor on the
  // devices.
  static Tensor Chances(uint64_t seed, const std::vector<int64_t>& rows, int64_t words) {
    const Tensor chances = at::zeros({int64_t(rows.size()), words}, at::kDouble);
    double* next = chances.data_ptr<double>();
    for (const int64_t row : rows) {
      std::seed_seq seeds{uint32_t(seed), uint32_t(seed >> 32), uint32_t(row)};
      std::mt19937_64 random(seeds);
      for (int64_t word = 0; word < words; ++word) *next++ = double(random() >> 11) * 0x1p-53;
    }
    return chances;
  }

  // Columns without a word have no weight in a sum, but NaN times zero is NaN.
  Tensor NewCache(int64_t rows, int64_t columns) const {
    const GemmsmithTrainerModel& sizes = model_.sizes;
    return at::zeros({2, rows, sizes.heads, columns, sizes.width / sizes.heads}, TypeOfProducts());
  }

  // Leaves the logits behind each prompt. Equal prompts are read once.
  void ReadPrompts(Drafts& drafts) const {
    for (size_t begin = 0; begin < drafts.rows.size();) {
      PromptBlock block{.first_row = int64_t(begin), .length = PromptOf(drafts.rows[begin]).size()};
      std::vector<int64_t> words, copies;
      for (; begin < drafts.rows.size(); ++begin) {
        const Prompt prompt = PromptOf(drafts.rows[begin]);
        if (prompt.size() != block.length) break;
        const bool is_copy =
            !words.empty() && std::equal(prompt.begin(), prompt.end(), words.end() - long(block.length));
        if (!is_copy && int64_t(words.size() + block.length) > kMostWordsRead && !words.empty()) break;
        if (!is_copy) words.insert(words.end(), prompt.begin(), prompt.end());
        copies.push_back(int64_t(words.size() / block.length) - 1);
      }
      block.words = OnDevice(words).view({-1, int64_t(block.length)}), block.copies = OnDevice(copies);
      ReadBlock(block, drafts);
    }
  }

  using Prompt = std::span<const int32_t>;
  Prompt PromptOf(int64_t row) const {
    return {prompts_.tokens + prompts_.from[row], prompts_.tokens + prompts_.from[row + 1]};
  }

  // Different prompts of one length: [prompts, length]; `copies` says which of them each row has.
  struct PromptBlock {
    int64_t first_row = 0;
    size_t length = 0;
    Tensor words, copies;
  };

  void ReadBlock(const PromptBlock& block, Drafts& drafts) const {
    const int64_t length = block.words.size(1), rows = block.copies.size(0);
    Tensor x = at::embedding(model_.embedding, block.words) + model_.position.slice(0, 0, length);
    for (size_t i = 0; i < model_.layers.size(); ++i) {
      const Tensor qkv = model_.Heads(model_.layers[i], x);
      drafts.caches[i]
          .narrow(1, block.first_row, rows)
          .narrow(3, drafts.longest - length, length)
          .copy_(qkv.narrow(0, 1, 2).index_select(1, block.copies));
      x = model_.BehindCausalHeads(model_.layers[i], x, qkv);
    }
    drafts.logits.narrow(0, block.first_row, rows)
        .copy_(WordLogits(x.select(1, length - 1)).index_select(0, block.copies));
  }

  // Draws a word of every row, and leaves the logits of the next. Attention sees so many columns. Nothing depends on
  // the word's number but through `next`, and nothing moves that a later word needs: a graph of this is of any word.
  void DrawWord(int64_t columns, Drafts& drafts) const {
    const Tensor chances = drafts.chances.index_select(1, drafts.next).squeeze(1);
    const Tensor drawn = Drawn(drafts.logits, chances).masked_fill(drafts.is_done, draw_.end).unsqueeze(1);
    drafts.words.index_copy_(1, drafts.next, drawn);
    drafts.logs.index_copy_(1, drafts.next, drafts.logits.log_softmax(-1).gather(-1, drawn));
    drafts.is_done.logical_or_(drawn.squeeze(1) == draw_.end).logical_or_(drafts.rooms <= drafts.next + 1);
    drafts.done.copy_(drafts.is_done.sum());
    const Tensor positions = (drafts.lengths + drafts.next).clamp_max(model_.sizes.positions - 1);
    drafts.logits.copy_(LogitsBehind(drawn, positions, columns, drafts));
    drafts.next.add_(1);
  }

  // The words' keys and values join the caches.
  Tensor LogitsBehind(const Tensor& drawn, const Tensor& positions, int64_t columns, Drafts& drafts) const {
    const Tensor column = drafts.next + drafts.longest;
    drafts.mask.index_fill_(3, column, 0);
    const Tensor mask = drafts.mask.narrow(3, 0, columns);
    Tensor x = at::embedding(model_.embedding, drawn) + at::embedding(model_.position, positions).unsqueeze(1);
    for (size_t i = 0; i < model_.layers.size(); ++i) {
      const Tensor qkv = model_.Heads(model_.layers[i], x);
      drafts.caches[i].index_copy_(3, column, qkv.narrow(0, 1, 2));
      const Tensor known = drafts.caches[i].narrow(3, 0, columns);
      x = model_.BehindHeads(model_.layers[i], x, at::scaled_dot_product_attention(qkv[0], known[0], known[1], mask));
    }
    return WordLogits(x.squeeze(1));
  }

  Tensor WordLogits(const Tensor& x) const {
    return model_.Times(TorchModel::Norm(x, model_.final_norm), words_).to(at::kFloat);
  }

  // A word of each row. Sums are of whole numbers: those of floating-point numbers come in no fixed order on a GPU.
  Tensor Drawn(const Tensor& logits, const Tensor& chances) const {
    if (draw_.temperature == 0) return logits.argmax(-1);
    Tensor parts = ((logits / draw_.temperature).softmax(-1).to(at::kDouble) * 0x1p40).to(at::kLong), words;
    if (draw_.top_p < 1) {
      std::tie(parts, words) = parts.sort(true, -1, true);
      const Tensor before = parts.cumsum(-1) - parts;
      parts = parts.masked_fill(before >= parts.sum(-1, true).to(at::kDouble) * draw_.top_p, 0);
    }
    const Tensor sums = parts.cumsum(-1);
    const Tensor mark = (sums.select(-1, model_.sizes.words - 1).to(at::kDouble) * chances).to(at::kLong);
    const Tensor found = (sums <= mark.unsqueeze(-1)).sum(-1).clamp_max(model_.sizes.words - 1);
    return words.defined() ? words.gather(-1, found.unsqueeze(-1)).squeeze(-1) : found;
  }

  // Leaves the rows that have not ended before this word.
  void DropDone(int64_t word, Drafts& drafts) const {
    const Tensor kept = drafts.is_done.logical_not().nonzero().squeeze(1), on_host = kept.cpu();
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < on_host.size(0); ++i) rows.push_back(drafts.rows[size_t(on_host[i].item<int64_t>())]);
    drafts.rows = std::move(rows);
    for (Tensor* tensor : {&drafts.lengths, &drafts.rooms, &drafts.chances, &drafts.words, &drafts.logs,
                           &drafts.is_done, &drafts.logits, &drafts.mask})
      *tensor = tensor->index_select(0, kept);
    const int64_t filled = drafts.longest + word;
    for (Tensor& cache : drafts.caches) {
      const Tensor all = cache.narrow(3, 0, filled);
      cache = NewCache(kept.size(0), cache.size(3));
      cache.narrow(3, 0, filled).copy_(all.index_select(1, kept));
    }
  }

  void HandOut(const Drafts& drafts, GemmsmithTrainerTexts& texts) const {
    const Tensor words = drafts.words.cpu(), logs = drafts.logs.cpu(), rooms = drafts.rooms.cpu();
    for (size_t i = 0; i < drafts.rows.size(); ++i) {
      const int64_t* const from = words.data_ptr<int64_t>() + int64_t(i) * draw_.most;
      const int64_t room = rooms.data_ptr<int64_t>()[i];
      const int64_t count = std::min<int64_t>(std::find(from, from + room, int64_t(draw_.end)) - from + 1, room);
      const int64_t row = drafts.rows[i];
      texts.lengths[row] = int32_t(count);
      std::copy_n(from, count, texts.words + row * draw_.most);
      std::copy_n(logs.data_ptr<float>() + int64_t(i) * draw_.most, count, texts.logs + row * draw_.most);
    }
  }

  Tensor OnDevice(const std::vector<int64_t>& values) const {
    return at::tensor(values, at::TensorOptions().dtype(at::kLong)).to(device());
  }

  const TorchModel model_;
  const Tensor words_;  // the embedding in the type of products: [width, words]
  const GemmsmithTrainerPrompts& prompts_;
  const GemmsmithTrainerDraw& draw_;
  const std::optional<c10::Stream> stream_;
};

}  // namespace gemmsmith
