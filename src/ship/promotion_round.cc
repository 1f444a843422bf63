#include "ship/promotion_round.h"

#include <algorithm>

#include "base/all_cores.h"
#include "base/run_workers.h"

namespace gemmsmith {

namespace {

// Problems whose kernels compile while another one races.
constexpr size_t kPromotionsAhead = 8;

class PromotionWorker : public Worker {
 public:
  PromotionWorker(size_t number, const std::vector<Challenge>& challenges, Round<Promotion>& round, Promoter promoter)
      : number_(number), challenges_(challenges), round_(round), promoter_(std::move(promoter)) {}

  void Expect(size_t problem) override { promoter_.Expect(ChallengesOf(problem)); }

  void Do(size_t problem) override {
    std::vector<Result<Promotion>> promotions = promoter_.Promote(ChallengesOf(problem));
    for (size_t i = 0; i < promotions.size(); ++i)
      round_.Report(number_, problem, round_.LayoutsOf(problem)[i], std::move(promotions[i]));
  }

 private:
  std::vector<Challenge> ChallengesOf(size_t problem) const {
    std::vector<Challenge> of_problem;
    for (const size_t item : round_.LayoutsOf(problem)) of_problem.push_back(challenges_[item]);
    return of_problem;
  }

  const size_t number_;
  const std::vector<Challenge>& challenges_;
  Round<Promotion>& round_;
  Promoter promoter_;
};

}  // namespace

PromotionRound PromoteAll(const std::vector<Challenge>& challenges, CatalogueOnDisk& catalogue,
                          std::span<Evaluator* const> evaluators, Compiler& compiler, Archive* archive,
                          const std::string& campaign, StopRule& stop, const OnBegin& on_begin) {
  const int threads = std::max(1, CoreCount() / int(evaluators.size()));
  std::vector<Gemm> gemms;
  for (const Challenge& challenge : challenges) gemms.push_back(challenge.gemm);
  Round<Promotion> round(std::move(gemms), stop, on_begin);
  RunOnAll(round.queue(), evaluators.size(), kPromotionsAhead, [&](size_t worker) {
    return std::make_unique<PromotionWorker>(
        worker, challenges, round, Promoter(catalogue, *evaluators[worker], compiler, archive, campaign, threads));
  });
  PromotionRound result{.failure = round.queue().failure()};
  round.Collect([&](const Gemm& gemm, Promotion promotion) { result.promotions.emplace_back(gemm, promotion); },
                result.failures, result.left);
  return result;
}

}  // namespace gemmsmith
