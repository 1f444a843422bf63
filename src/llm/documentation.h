// Documentation that is quoted in the questions to a model that writes: passages found by words.
#pragma once

#include <string>
#include <vector>

#include "corpus/retrieve/passages.h"
#include "llm/source_verdict.h"
#include "problem/gemm.h"

namespace gemmsmith {

struct DocumentQuery {
  std::string words;
  std::vector<std::string> names;  // a passage must show one of them; empty: any passage is taken
};
// The words of the problem and of the device's instructions.
DocumentQuery QueryOnProblem(const Gemm& gemm, const Device& device);
// The names that the compiler's errors quote. Without a name there is nothing to search for.
DocumentQuery QueryOnRefusal(const SourceVerdict& verdict);

class Documentation {
 public:
  virtual ~Documentation() = default;
  // A part of a question, safe to paste; empty where nothing is found.
  virtual Result<std::string> QuoteFor(const DocumentQuery& query) = 0;
};

inline constexpr size_t kPassageBytes = 2000;  // of one quotation, its origin and licence included
inline constexpr size_t kSectionsOnProblem = 2, kKernelsOnProblem = 2, kPassagesOnNames = 2;

class QuotedPassages : public Documentation {
 public:
  explicit QuotedPassages(const Passages& passages) : passages_(passages) {}
  // With names: the best passages that show one. Else the best sections, then the best kernels.
  Result<std::string> QuoteFor(const DocumentQuery& query) override;

 private:
  Result<std::vector<Passages::Found>> Find(const DocumentQuery& query) const;

  const Passages& passages_;
};

}  // namespace gemmsmith
