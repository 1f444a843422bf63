#include "archive/archive.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "archive/database.h"
#include "archive/schema.h"
#include "archive/sound_trial.h"
#include "archive/stats.h"
#include "base/hash.h"
#include "base/text.h"
#include "outcome/outcome_fields.h"

namespace gemmsmith {
namespace {

// The fields of a Setting, which are columns of the table `setting`.
struct SettingColumns {
  explicit SettingColumns(Setting setting = {}) { VisitFields(*this, setting); }
  void Text(RecordField, std::string_view name, const std::string& text) {
    names.emplace_back(name);
    texts.push_back(text);
  }
  std::string Names() const { return Join(names, ", "); }

  std::vector<std::string> names, texts;
};

struct SettingReader {
  void Text(RecordField, std::string_view, std::string& text) { text = row.Text(column++); }
  const Statement& row;
  int column;
};

std::string HashOf(const SettingColumns& setting) {
  std::string all;
  for (const std::string& text : setting.texts) all.append(text).push_back('\0');
  return HashBytes(all).Hex();
}

std::optional<double> RecordedTime(const Outcome& outcome) {
  const Timing* ours = outcome.Ours();
  return ours == nullptr ? std::nullopt : std::optional(ours->median_ns);
}

constexpr std::string_view kSelectTrials =
    "SELECT trial.id, problem.text, subject.text, trial.outcome, trial.seed, trial.unix_ms, trial.campaign, "
    "trial.setting_id"
    " FROM trial JOIN problem ON problem.id = problem_id JOIN subject ON subject.id = subject_id";

// The conditions of a filter as SQL; the values are bound in the same order.
struct Conditions {
  std::string sql;
  std::vector<std::string> values;

  explicit Conditions(const TrialFilter& filter) {
    if (filter.campaign) Add("campaign = ?", *filter.campaign);
    if (filter.gemm) Add("problem_id = (SELECT id FROM problem WHERE text = ?)", Print(*filter.gemm));
    if (filter.device_key) Add("setting_id IN (SELECT id FROM setting WHERE device_key = ?)", *filter.device_key);
    if (filter.protocol) Add("protocol = ?", std::string(Name(*filter.protocol)));
    if (filter.after) Add("trial.id > ?", fmt::to_string(*filter.after));
    if (filter.up_to) Add("trial.id <= ?", fmt::to_string(*filter.up_to));
  }

 private:
  void Add(std::string_view condition, std::string value) {
    sql += fmt::format(" {} {}", values.empty() ? "WHERE" : "AND", condition);
    values.push_back(std::move(value));
  }
};

Result<std::map<int64_t, Setting>> LoadSettings(const Database& database) {
  std::map<int64_t, Setting> settings;
  ASSIGN_OR_RETURN(Statement select,
                   database.Prepare(fmt::format("SELECT id, {} FROM setting ORDER BY id", SettingColumns().Names())));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return settings;
    SettingReader reader{select, 1};
    VisitFields(reader, settings[select.Integer(0)]);
  }
}

Result<Trial> ReadTrial(const Statement& row, const std::map<int64_t, Setting>& settings) {
  Trial trial;
  ASSIGN_OR_RETURN(trial.gemm, ParseGemm(row.Text(1)));
  ASSIGN_OR_RETURN(trial.subject, ParseTrialSubject(row.Text(2)));
  ASSIGN_OR_RETURN(trial.outcome, DecodeOutcome(row.Blob(3)));
  RETURN_IF_ERROR(CheckTimes(trial.outcome));
  trial.seed = uint64_t(row.Integer(4));
  trial.unix_ms = row.Integer(5);
  trial.campaign = row.Text(6);
  const auto setting = settings.find(row.Integer(7));
  if (setting == settings.end()) return DataLoss("its setting is missing");
  trial.setting = setting->second;
  return trial;
}

}  // namespace

struct Archive::State {
  State(std::unique_ptr<Database> opened, Statement setting, Statement problem, Statement subject, Statement trial)
      : database(std::move(opened)),
        insert_setting(std::move(setting)),
        insert_problem(std::move(problem)),
        insert_subject(std::move(subject)),
        insert_trial(std::move(trial)) {}

  Status Insert(const Trial& trial);

  std::unique_ptr<Database> database;
  std::mutex mutex;  // for the statements, and for the connection where several threads use it
  Statement insert_setting, insert_problem, insert_subject, insert_trial;
};

Status Archive::State::Insert(const Trial& trial) {
  const SettingColumns setting(trial.setting);
  const std::string setting_hash = HashOf(setting);
  insert_setting.Bind(setting_hash);
  for (const std::string& text : setting.texts) insert_setting.Bind(text);
  RETURN_IF_ERROR(insert_setting.Run());
  const std::string problem = Print(trial.gemm);
  RETURN_IF_ERROR(insert_problem.Bind(problem).Run());
  const std::string subject = Print(trial.subject);
  RETURN_IF_ERROR(insert_subject.Bind(subject).Run());
  const Outcome& outcome = trial.outcome;
  const std::string encoded = EncodeOutcome(outcome);
  return insert_trial.Bind(trial.campaign)
      .Bind(problem)
      .Bind(subject)
      .Bind(setting_hash)
      .Bind(Name(outcome.protocol))
      .Bind(int64_t(trial.seed))
      .Bind(trial.unix_ms)
      .Bind(Name(outcome.kind))
      .Bind(RecordedTime(outcome))
      .Bind(outcome.reason)
      .BindBlob(encoded)
      .Run();
}

Archive::Archive(std::unique_ptr<State> state) : state_(std::move(state)) {}
Archive::~Archive() = default;

Result<std::unique_ptr<Archive>> Archive::Open(const std::filesystem::path& path) {
  std::error_code error;
  if (!path.parent_path().empty()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) return IoError(fmt::format("archive {}: its folder cannot be made: {}", path.string(), error.message()));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(path));
  RETURN_IF_ERROR(PrepareSchema(*database));
  return Prepare(std::move(database));
}

// SQLite writes files next to one that it reads. An archive that cannot be written is read as it stands, unless its log
// holds trials that are not in it yet.
Result<std::unique_ptr<Archive>> Archive::OpenToRead(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    return NotFound(fmt::format("no archive at {}", path.string()));
  if (error) return IoError(fmt::format("cannot read archive {}: {}", path.string(), error.message()));
  if (std::filesystem::file_size(path, error) == 0 && !error)
    return NotFound(fmt::format("archive {} is empty", path.string()));
  Result<std::unique_ptr<Archive>> opened = Open(path);
  if (opened.ok() || opened.status().code() != StatusCode::kIoError) return opened;
  const auto log_bytes = std::filesystem::file_size(path.string() + "-wal", error);
  if (!error && log_bytes > 0)
    return IoError(
        fmt::format("{}; what {}-wal holds is read where it may be written", opened.status().message(), path.string()));
  Result<std::unique_ptr<Database>> database = Database::OpenAsItStands(path);
  if (!database.ok()) return opened;
  RETURN_IF_ERROR(CheckSchema(**database));
  return Prepare(*std::move(database));
}

Result<std::unique_ptr<Archive>> Archive::Prepare(std::unique_ptr<Database> database) {
  ASSIGN_OR_RETURN(Statement setting,
                   database->Prepare(fmt::format("INSERT INTO setting (hash, {}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                                                 " ON CONFLICT (hash) DO NOTHING",
                                                 SettingColumns().Names())));
  ASSIGN_OR_RETURN(Statement problem,
                   database->Prepare("INSERT INTO problem (text) VALUES (?) ON CONFLICT (text) DO NOTHING"));
  ASSIGN_OR_RETURN(Statement subject,
                   database->Prepare("INSERT INTO subject (text) VALUES (?) ON CONFLICT (text) DO NOTHING"));
  ASSIGN_OR_RETURN(
      Statement trial,
      database->Prepare("INSERT INTO trial (campaign, problem_id, subject_id, setting_id, protocol, seed,"
                        " unix_ms, kind, time_ns, reason, outcome) VALUES (?,"
                        " (SELECT id FROM problem WHERE text = ?), (SELECT id FROM subject WHERE text = ?),"
                        " (SELECT id FROM setting WHERE hash = ?), ?, ?, ?, ?, ?, ?, ?)"
                        " ON CONFLICT (campaign, problem_id, subject_id, protocol) DO NOTHING"));
  return std::unique_ptr<Archive>(new Archive(std::make_unique<State>(
      std::move(database), std::move(setting), std::move(problem), std::move(subject), std::move(trial))));
}

Status Archive::Add(std::span<const Trial> trials) {
  if (trials.empty()) return OkStatus();
  std::lock_guard lock(state_->mutex);
  return state_->database->Transaction([&] {
    for (const Trial& trial : trials) RETURN_IF_ERROR(state_->Insert(trial));
    return OkStatus();
  });
}

Status Archive::ForEach(const TrialFilter& filter, const std::function<void(const Trial&)>& visit) const {
  const Database& database = *state_->database;
  const Conditions conditions(filter);
  ASSIGN_OR_RETURN(Statement select,
                   database.Prepare(fmt::format("{}{} ORDER BY trial.id", kSelectTrials, conditions.sql)));
  for (const std::string& value : conditions.values) select.Bind(value);
  std::map<int64_t, Setting> settings;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return OkStatus();
    // After the first step: the rows are those of one moment, and their settings were stored before.
    if (!settings.contains(select.Integer(7))) {
      ASSIGN_OR_RETURN(settings, LoadSettings(database));
    }
    const Result<Trial> trial = ReadTrial(select, settings);
    if (!trial.ok())
      return DataLoss(fmt::format("archive {}: trial {} cannot be read: {}", database.path().string(),
                                  select.Integer(0), trial.status().message()));
    visit(*trial);
  }
}

Result<std::vector<Trial>> Archive::Load(const TrialFilter& filter) const {
  std::vector<Trial> trials;
  std::lock_guard lock(state_->mutex);
  RETURN_IF_ERROR(ForEach(filter, [&](const Trial& trial) { trials.push_back(trial); }));
  return trials;
}

Result<int64_t> Archive::LastTrial() const {
  return state_->database->Integer("SELECT coalesce(max(id), 0) FROM trial");
}

Result<std::map<Gemm, int64_t>> Archive::CountByProblem(const TrialFilter& filter) const {
  const Conditions conditions(filter);
  ASSIGN_OR_RETURN(Statement select,
                   state_->database->Prepare(fmt::format(
                       "SELECT problem.text, counted.trials FROM (SELECT problem_id, count(*) AS trials FROM trial{}"
                       " GROUP BY problem_id) AS counted JOIN problem ON problem.id = counted.problem_id",
                       conditions.sql)));
  for (const std::string& value : conditions.values) select.Bind(value);
  std::map<Gemm, int64_t> counts;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return counts;
    const Result<Gemm> gemm = ParseGemm(select.Text(0));
    if (!gemm.ok())
      return DataLoss(
          fmt::format("archive {}: a problem: {}", state_->database->path().string(), gemm.status().message()));
    counts[*gemm] = select.Integer(1);
  }
}

Result<ArchiveStats> Archive::Stats() const {
  const Database& database = *state_->database;
  StatsCollector collector;
  ASSIGN_OR_RETURN(
      Statement select,
      database.Prepare("SELECT problem.text, subject.text, kind, unix_ms FROM trial"
                       " JOIN problem ON problem.id = problem_id JOIN subject ON subject.id = subject_id"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) break;
    const std::optional<OutcomeKind> kind = ParseOutcomeKind(select.Text(2));
    if (!kind)
      return DataLoss(fmt::format("archive {}: a trial of kind '{}'", database.path().string(), select.Text(2)));
    collector.Add(select.Text(0), select.Text(1), *kind, select.Integer(3));
  }
  ASSIGN_OR_RETURN(const auto by_id, LoadSettings(database));
  std::vector<Setting> settings;
  for (const auto& [id, setting] : by_id) settings.push_back(setting);
  return collector.Finish(std::move(settings));
}

}  // namespace gemmsmith
