#include "report/time_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace gemmsmith {
namespace {

// The fields of one line; nothing where a quote is left open.
std::optional<std::vector<std::string>> Fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  if (quoted) return std::nullopt;
  for (std::string& field : fields) {
    const std::vector<std::string_view> words = SplitWords(field);
    field = words.empty() ? ""
                          : field.substr(size_t(words.front().data() - field.data()),
                                         size_t(words.back().data() + words.back().size() - words.front().data()));
  }
  return fields;
}

struct Unit {
  std::string_view suffix;
  double ns;
};
constexpr Unit kUnits[] = {{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}};

// A column of times: of one variant, or, without one, of the variant that its line names.
struct TimeColumn {
  size_t index = 0;
  std::string variant;
  double unit_ns = 0;
};

class Reader {
 public:
  explicit Reader(const TimeTableOptions& options)
      : options_(options), variants_(options.variants.begin(), options.variants.end()) {}

  Status ReadHeader(const std::vector<std::string>& titles) {
    columns_ = titles.size();
    for (size_t i = 0; i < titles.size(); ++i) RETURN_IF_ERROR(ReadTitle(i, titles[i]));
    if (!shape_ && !(m_ && n_ && k_)) return InvalidArgument("no column 'shape', nor 'm', 'n' and 'k'");
    const bool by_line = variant_.has_value();
    const bool has_times = std::any_of(times_.begin(), times_.end(),
                                       [&](const TimeColumn& time) { return time.variant.empty() == by_line; });
    if (!has_times && by_line) return InvalidArgument("a column 'variant', and none 'time'");
    if (!has_times)
      return InvalidArgument(fmt::format(
          "no column is a variant ({}), nor is there one 'variant' and one 'time'; --columns THEIRS=OURS names them",
          fmt::join(options_.variants, ", ")));
    std::erase_if(times_, [&](const TimeColumn& time) { return time.variant.empty() != by_line; });
    for (const TimeColumn& time : times_)
      if (time.unit_ns == 0)
        return InvalidArgument(
            fmt::format("'{}' says no unit: end it in _ns, _us or _ms, or say --unit", titles[time.index]));
    return OkStatus();
  }

  Status ReadLine(const std::vector<std::string>& fields) {
    if (fields.size() != columns_)
      return InvalidArgument(fmt::format("{} fields, where the header has {}", fields.size(), columns_));
    ASSIGN_OR_RETURN(const Shape shape, ShapeIn(fields));
    for (const TimeColumn& time : times_) {
      const std::string& text = fields[time.index];
      if (text.empty()) continue;
      const std::string variant = variant_ ? VariantIn(fields) : time.variant;
      if (!variants_.contains(variant)) {
        ignored_.insert(variant);
        continue;
      }
      const std::optional<double> value = ParseDouble(text);
      if (!value || !(*value > 0)) return InvalidArgument(fmt::format("'{}' is no time of {}", text, variant));
      if (!table_.times_ns[variant].emplace(shape, *value * time.unit_ns).second)
        return InvalidArgument(fmt::format("a second time of {} on {}", variant, Print(shape)));
    }
    return OkStatus();
  }

  TimeTable Finish() {
    table_.ignored.assign(ignored_.begin(), ignored_.end());
    return std::move(table_);
  }

 private:
  std::string Renamed(const std::string& name) const {
    const auto found = options_.names.find(name);
    return found == options_.names.end() ? name : found->second;
  }

  // A title may be renamed with its unit or without.
  Status ReadTitle(size_t index, const std::string& title) {
    std::string name = Renamed(title);
    double unit_ns = options_.unit_ns.value_or(0);
    for (const Unit& unit : kUnits) {
      if (!name.ends_with(unit.suffix)) continue;
      name = Renamed(name.substr(0, name.size() - unit.suffix.size()));
      unit_ns = unit.ns;
    }
    std::optional<size_t>* const column = ColumnOf(name);
    if (column != nullptr) {
      if (*column) return InvalidArgument(fmt::format("two columns '{}'", name));
      *column = index;
    } else if (name == "time") {
      times_.push_back({index, "", unit_ns});
    } else if (variants_.contains(name)) {
      times_.push_back({index, name, unit_ns});
    } else {
      ignored_.insert(title);
    }
    return OkStatus();
  }

  std::optional<size_t>* ColumnOf(std::string_view name) {
    if (name == "shape") return &shape_;
    if (name == "m") return &m_;
    if (name == "n") return &n_;
    if (name == "k") return &k_;
    if (name == "variant") return &variant_;
    if (name == "layout") return &layout_;
    return nullptr;
  }

  Result<Shape> ShapeIn(const std::vector<std::string>& fields) const {
    if (shape_) return ParseShape(fields[*shape_]);
    return ParseShape(fmt::format("{}x{}x{}", fields[*m_], fields[*n_], fields[*k_]));
  }

  std::string VariantIn(const std::vector<std::string>& fields) const {
    const std::string name = Renamed(fields[*variant_]);
    return layout_ && !variants_.contains(name) ? Renamed(name + "_" + fields[*layout_]) : name;
  }

  const TimeTableOptions& options_;
  const std::set<std::string> variants_;
  size_t columns_ = 0;
  std::optional<size_t> shape_, m_, n_, k_, variant_, layout_;
  std::vector<TimeColumn> times_;
  std::set<std::string> ignored_;
  TimeTable table_;
};

}  // namespace

Result<TimeTable> ParseTimeTable(std::string_view csv, const TimeTableOptions& options) {
  Reader reader(options);
  int number = 0;
  bool has_header = false;
  if (csv.starts_with("\xef\xbb\xbf")) csv.remove_prefix(3);
  for (std::string_view line : Split(csv, '\n')) {
    ++number;
    if (SplitWords(line).empty()) continue;
    const std::optional<std::vector<std::string>> fields = Fields(line);
    if (!fields) return InvalidArgument(fmt::format("line {}: a quote that does not end", number));
    const Status status = has_header ? reader.ReadLine(*fields) : reader.ReadHeader(*fields);
    has_header = true;
    if (!status.ok()) return InvalidArgument(fmt::format("line {}: {}", number, status.message()));
  }
  if (!has_header) return InvalidArgument("an empty table");
  return reader.Finish();
}

}  // namespace gemmsmith
