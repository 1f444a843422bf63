#include "llm/writing.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/seconds.h"
#include "base/text.h"
#include "llm/answer.h"
#include "llm/prompt.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

// The fastest of all islands goes to each of them after so many rounds.
constexpr int kRoundsApart = 4;
constexpr size_t kFinalists = 2;

// One question to the model, and what follows from its answers.
struct Conversation {
  size_t island = 0;
  std::vector<ChatMessage> messages;
  std::vector<std::string> shown;  // sources that edits may be of
  int answers = 0;
  std::string source;  // of the last answer; empty where it could not be read
  bool is_over = false;
};

class Writing {
 public:
  Writing(const WritingOptions& options, ChatModel& model, SourceJudge& judge, Documentation* documentation,
          StopRule& stop, const std::function<void(const WritingEvent&)>& on_event)
      : options_(options),
        model_(model),
        judge_(judge),
        documentation_(documentation),
        stop_(stop),
        on_event_(on_event),
        islands_(size_t(options.islands)) {}

  Result<WritingResult> Run() {
    RETURN_IF_ERROR(Begin());
    for (int round = 0; stop_reason_.empty(); ++round) {
      std::vector<Conversation> conversations = OpenRound(round);
      while (!conversations.empty() && !IsOver()) RETURN_IF_ERROR(TakeTurn(round, conversations));
      if ((round + 1) % kRoundsApart == 0) ShareFastest();
    }
    return Finish();
  }

 private:
  JudgeRequest RequestFor(const std::string& source, Protocol protocol) const {
    return {.gemm = options_.gemm,
            .subject = FreeForm{.name = options_.model, .text = source},
            .protocol = protocol,
            .counters = protocol == Protocol::kShort};
  }

  // Every island begins with the example. It must pass: else this machine cannot judge at all.
  Status Begin() {
    ASSIGN_OR_RETURN(const std::vector<Json> verdicts, judge_.Judge({RequestFor(options_.example, Protocol::kScreen)}));
    ASSIGN_OR_RETURN(const SourceVerdict verdict, ReadSourceVerdict(verdicts.at(0)));
    if (!verdict.has_passed)
      return Unavailable(fmt::format("the example source does not pass on this machine: {}", verdict.words));
    for (Population& island : islands_) island.Add({options_.example, verdict});
    ASSIGN_OR_RETURN(documents_, QuoteFor(options_.query));
    if (documentation_ != nullptr && documents_.empty())
      return NotFound("--documents: no section and no kernel has a word of the problem: name another folder");
    return OkStatus();
  }

  Result<std::string> QuoteFor(const DocumentQuery& query) {
    if (documentation_ == nullptr || query.words.empty()) return std::string();
    return documentation_->QuoteFor(query);
  }

  std::vector<Conversation> OpenRound(int round) const {
    std::vector<Conversation> conversations;
    for (size_t island = 0; island < islands_.size(); ++island) {
      Random random = Random(options_.seed).Fork(fmt::format("exemplars {} {}", island, round));
      const std::vector<const Member*> exemplars = islands_[island].DrawExemplars(random);
      Conversation& conversation = conversations.emplace_back();
      conversation.island = island;
      conversation.messages = OpeningMessages(options_.task, documents_, exemplars);
      for (const Member* exemplar : exemplars) conversation.shown.push_back(exemplar->source);
    }
    return conversations;
  }

  // One answer in each conversation, as far as the budget goes; all sources are judged together.
  Status TakeTurn(int round, std::vector<Conversation>& conversations) {
    const int64_t left = options_.answers - counts_.answers;
    if (int64_t(conversations.size()) > left) conversations.resize(size_t(left));
    ASSIGN_OR_RETURN(const std::vector<std::optional<ChatAnswer>> answers, AskAll(round, conversations));
    std::vector<JudgeRequest> requests;
    for (size_t i = 0; i < conversations.size(); ++i) {
      if (answers[i])
        TakeAnswer(*answers[i], conversations[i]);
      else
        End(conversations[i]);
      if (!conversations[i].source.empty()) requests.push_back(RequestFor(conversations[i].source, Protocol::kScreen));
    }
    ASSIGN_OR_RETURN(const std::vector<Json> verdicts, judge_.Judge(requests));
    size_t next = 0;
    for (Conversation& conversation : conversations) {
      if (conversation.source.empty()) continue;
      ASSIGN_OR_RETURN(SourceVerdict verdict, ReadSourceVerdict(verdicts.at(next++)));
      RETURN_IF_ERROR(TakeVerdict(std::move(verdict), conversation));
    }
    std::erase_if(conversations, [](const Conversation& conversation) { return conversation.is_over; });
    on_event_({counts_, Fastest()});
    return OkStatus();
  }

  // Nothing where a repair is refused: the conversation has become too long for the model.
  Result<std::vector<std::optional<ChatAnswer>>> AskAll(int round, const std::vector<Conversation>& conversations) {
    std::vector<Result<ChatAnswer>> answers(conversations.size(), Unavailable("not asked"));
    const auto ask = [&](size_t i) {
      const Conversation& asked = conversations[i];
      const std::string purpose = fmt::format("answer {} {} {}", asked.island, round, asked.answers);
      answers[i] = model_.Ask({.model = options_.model,
                               .messages = asked.messages,
                               .temperature = options_.temperature,
                               .answer_tokens = options_.answer_tokens,
                               .seed = Random(options_.seed).Fork(purpose).Next()});
    };
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < conversations.size(); ++i) threads.emplace_back(ask, i);
    }
    std::vector<std::optional<ChatAnswer>> all;
    for (size_t i = 0; i < answers.size(); ++i) {
      if (conversations[i].answers > 0 && IsRefusal(answers[i])) {
        all.emplace_back();
        continue;
      }
      RETURN_IF_ERROR(answers[i].status());
      all.emplace_back(*std::move(answers[i]));
    }
    return all;
  }

  static void End(Conversation& conversation) {
    conversation.source.clear();
    conversation.is_over = true;
  }

  void TakeAnswer(const ChatAnswer& answer, Conversation& conversation) {
    ++counts_.answers;
    ++conversation.answers;
    counts_.prompt_tokens += answer.prompt_tokens;
    counts_.answer_tokens += answer.answer_tokens;
    counts_.dollars +=
        (double(answer.prompt_tokens) * options_.price.prompt + double(answer.answer_tokens) * options_.price.answer) /
        1e6;
    conversation.messages.push_back({"assistant", answer.text});
    Result<WrittenAnswer> written = ReadAnswer(answer.text, conversation.shown);
    conversation.source = written.ok() ? std::move(written->source) : "";
    if (written.ok()) return;
    ++counts_.unreadable;
    GoOn(TextAfterUnreadable(written.status().message(), answer.is_cut), conversation);
  }

  Status TakeVerdict(SourceVerdict verdict, Conversation& conversation) {
    ++counts_.outcomes[verdict.outcome];
    if (verdict.has_passed) {
      conversation.is_over = true;
      islands_[conversation.island].Add({std::move(conversation.source), std::move(verdict)});
      return OkStatus();
    }
    conversation.shown = {conversation.source};
    ASSIGN_OR_RETURN(std::string documents, QuoteFor(QueryOnRefusal(verdict)));
    const bool is_known = std::ranges::any_of(conversation.messages, [&](const ChatMessage& message) {
      return message.content.find(documents) != std::string::npos;
    });
    if (is_known) documents.clear();
    GoOn(TextAfterRefusal(verdict, documents), conversation);
    return OkStatus();
  }

  void GoOn(std::string text, Conversation& conversation) const {
    conversation.is_over = conversation.answers > options_.repairs;
    conversation.messages.push_back({"user", std::move(text)});
  }

  void ShareFastest() {
    const Member* const fastest = Fastest();
    if (fastest == nullptr) return;
    const Member shared = *fastest;
    for (Population& island : islands_) island.Add(shared);
  }

  const Member* Fastest() const {
    const Member* fastest = nullptr;
    for (const Population& island : islands_)
      if (const Member* member = island.Fastest();
          member != nullptr && (fastest == nullptr || IsFaster(*member, *fastest)))
        fastest = member;
    return fastest;
  }

  bool IsOver() {
    const double seconds = SecondsSince(start_);
    const int64_t tokens = counts_.prompt_tokens + counts_.answer_tokens;
    if (const auto reason = stop_.ShouldStop({int(counts_.answers), seconds}))
      stop_reason_ = *reason;
    else if (counts_.answers >= options_.answers)
      stop_reason_ = fmt::format("budget of {} used", Plural(options_.answers, "answer"));
    else if (options_.seconds && seconds >= *options_.seconds)
      stop_reason_ = fmt::format("budget of {:g} s used", *options_.seconds);
    else if (options_.tokens && tokens >= *options_.tokens)
      stop_reason_ = fmt::format("budget of {} used", Plural(*options_.tokens, "token"));
    else if (options_.dollars && counts_.dollars >= *options_.dollars)
      stop_reason_ = fmt::format("budget of {:g} dollars used", *options_.dollars);
    return !stop_reason_.empty();
  }

  // All sources that passed, each once, the fastest first.
  std::vector<Member> Passed() const {
    Population all;
    for (const Population& island : islands_)
      for (const Member& member : island.members())
        if (member.source != options_.example) all.Add(member);
    std::vector<Member> passed = all.members();
    std::stable_sort(passed.begin(), passed.end(), IsFaster);
    return passed;
  }

  // The fastest are judged once more, with care.
  Result<WritingResult> Finish() {
    WritingResult result{.counts = counts_, .best = Passed(), .stop_reason = stop_reason_};
    if (result.best.empty() || !result.best.front().verdict.is_timed || stop_.ShouldStop({})) return result;
    result.best.resize(std::min(result.best.size(), kFinalists));
    std::vector<JudgeRequest> requests;
    for (const Member& member : result.best) requests.push_back(RequestFor(member.source, Protocol::kShort));
    ASSIGN_OR_RETURN(const std::vector<Json> verdicts, judge_.Judge(requests));
    for (size_t i = 0; i < verdicts.size(); ++i) {
      ASSIGN_OR_RETURN(result.best[i].verdict, ReadSourceVerdict(verdicts[i]));
    }
    std::erase_if(result.best, [](const Member& member) { return !member.verdict.is_timed; });
    std::stable_sort(result.best.begin(), result.best.end(), IsFaster);
    return result;
  }

  const WritingOptions& options_;
  ChatModel& model_;
  SourceJudge& judge_;
  Documentation* const documentation_;  // null: none
  StopRule& stop_;
  const std::function<void(const WritingEvent&)>& on_event_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Population> islands_;
  std::string documents_;  // on the problem
  WritingCounts counts_;
  std::string stop_reason_;
};

}  // namespace

Result<WritingResult> WriteKernels(const WritingOptions& options, ChatModel& model, SourceJudge& judge,
                                   Documentation* documentation, StopRule& stop,
                                   const std::function<void(const WritingEvent&)>& on_event) {
  return Writing(options, model, judge, documentation, stop, on_event).Run();
}

}  // namespace gemmsmith
