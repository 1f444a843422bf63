#include "program/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kFormat = "recipe 1";
constexpr size_t kMaxNameBytes = 16 << 10;  // CUTLASS has kernels with names of 5 KiB
constexpr std::array<std::string_view, 4> kOperands = {"a", "b", "c", "workspace"};

template <class Range, class PrintItem>
std::string PrintList(const Range& items, PrintItem print) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ",") + print(item);
  return text;
}

template <class T, size_t N>
std::string PrintNumbers(const std::array<T, N>& numbers) {
  return PrintList(numbers, [](T number) { return fmt::format("{}", number); });
}

std::string PrintAddress(const OperandAddress& address) {
  return fmt::format("{}{:+}", kOperands[size_t(address.operand)], address.offset);
}

std::string PrintDim3(const Dim3& dim) { return fmt::format("{},{},{}", dim.x, dim.y, dim.z); }

std::string PrintHex(const std::vector<uint8_t>& bytes) {
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string PrintLine(const RecipeMap& map) {
  return fmt::format(
      "map address={} type={} rank={} extent={} stride_bytes={} box={} element_strides={} interleave={} swizzle={} "
      "l2_promotion={} out_of_bounds={}",
      PrintAddress(map.address), map.type, map.rank, PrintNumbers(map.extent), PrintNumbers(map.stride_bytes),
      PrintNumbers(map.box), PrintNumbers(map.element_strides), map.interleave, map.swizzle, map.l2_promotion,
      map.out_of_bounds);
}

std::string PrintLine(const KernelStep& step) {
  return fmt::format(
      "kernel name={} grid={} block={} cluster={} smem={} cooperative={:d} programmatic={:d} carveout={} "
      "parameters={} addresses={} maps={}",
      step.kernel, PrintDim3(step.grid), PrintDim3(step.block), PrintDim3(step.cluster), step.smem_bytes,
      step.is_cooperative, step.is_programmatic, step.carveout_percent, PrintHex(step.parameters),
      PrintList(step.addresses,
                [](const AddressPlace& place) { return fmt::format("{}:{}", place.at, PrintAddress(place.address)); }),
      PrintList(step.maps, [](const MapPlace& place) { return fmt::format("{}:{}", place.at, place.map); }));
}

std::string PrintLine(const MemsetStep& step) {
  return fmt::format("memset address={} value={} bytes={}", PrintAddress(step.address), step.value, step.bytes);
}

// Reads the fields of one line in their order. After the first that is not as expected, every value is unspecified and
// failed() holds.
class FieldReader {
 public:
  explicit FieldReader(std::string_view line) : words_(Split(line, ' ')) {}

  std::string_view TakeWord() {
    if (next_ == words_.size()) return failed_ = true, std::string_view();
    return words_[next_++];
  }
  std::string_view Take(std::string_view key) {
    const std::string_view word = TakeWord();
    const bool fits = word.starts_with(key) && word.substr(key.size()).starts_with('=');
    if (!fits) return failed_ = true, std::string_view();
    return word.substr(key.size() + 1);
  }
  template <class T>
  T Number(std::string_view text) {
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) failed_ = true;
    return number;
  }
  template <class T>
  void TakeNumber(std::string_view key, T& number) {
    number = Number<T>(Take(key));
  }
  void TakeFlag(std::string_view key, bool& flag) {
    const std::string_view text = Take(key);
    flag = text == "1";
    if (!flag && text != "0") failed_ = true;
  }
  template <class T, size_t N>
  void TakeNumbers(std::string_view key, std::array<T, N>& numbers) {
    const std::vector<std::string_view> items = Split(Take(key), ',');
    if (items.size() != N) return Fail();
    for (size_t i = 0; i < N; ++i) numbers[i] = Number<T>(items[i]);
  }
  void TakeDim3(std::string_view key, Dim3& dim) {
    std::array<uint32_t, 3> sizes{};
    TakeNumbers(key, sizes);
    dim = {sizes[0], sizes[1], sizes[2]};
  }
  OperandAddress Address(std::string_view text) {
    const size_t sign = std::min(text.find_first_of("+-"), text.size());
    const auto* const operand = std::find(kOperands.begin(), kOperands.end(), text.substr(0, sign));
    if (operand == kOperands.end() || sign == text.size()) return Fail(), OperandAddress{};
    const std::string_view offset = text.substr(sign + (text[sign] == '+' ? 1 : 0));
    return {CallOperand(operand - kOperands.begin()), Number<int64_t>(offset)};
  }
  // A list of AT:REST; `add` is given both.
  template <class Add>
  void TakePlaces(std::string_view key, Add add) {
    const std::string_view list = Take(key);
    if (list.empty()) return;
    for (const std::string_view item : Split(list, ',')) {
      const size_t colon = std::min(item.find(':'), item.size());
      if (colon == item.size()) return Fail();
      add(Number<uint32_t>(item.substr(0, colon)), item.substr(colon + 1));
    }
  }
  void TakeHex(std::string_view key, std::vector<uint8_t>& bytes) {
    const std::string_view text = Take(key);
    if (text.size() % 2 != 0 || text.size() / 2 > kMaxParameterBytes) return Fail();
    for (size_t i = 0; i < text.size(); i += 2) {
      uint8_t byte = 0;
      const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
      if (error != std::errc() || end != text.data() + i + 2) return Fail();
      bytes.push_back(byte);
    }
  }
  void Fail() { failed_ = true; }
  bool failed() const { return failed_ || next_ != words_.size(); }

 private:
  std::vector<std::string_view> words_;
  size_t next_ = 0;
  bool failed_ = false;
};

RecipeMap TakeMap(FieldReader& reader) {
  RecipeMap map;
  map.address = reader.Address(reader.Take("address"));
  reader.TakeNumber("type", map.type);
  reader.TakeNumber("rank", map.rank);
  reader.TakeNumbers("extent", map.extent);
  reader.TakeNumbers("stride_bytes", map.stride_bytes);
  reader.TakeNumbers("box", map.box);
  reader.TakeNumbers("element_strides", map.element_strides);
  reader.TakeNumber("interleave", map.interleave);
  reader.TakeNumber("swizzle", map.swizzle);
  reader.TakeNumber("l2_promotion", map.l2_promotion);
  reader.TakeNumber("out_of_bounds", map.out_of_bounds);
  if (map.rank < 1 || map.rank > map.extent.size()) reader.Fail();
  return map;
}

MemsetStep TakeMemset(FieldReader& reader) {
  MemsetStep step;
  step.address = reader.Address(reader.Take("address"));
  reader.TakeNumber("value", step.value);
  reader.TakeNumber("bytes", step.bytes);
  return step;
}

KernelStep TakeKernel(FieldReader& reader) {
  KernelStep step;
  step.kernel = reader.Take("name");
  reader.TakeDim3("grid", step.grid);
  reader.TakeDim3("block", step.block);
  reader.TakeDim3("cluster", step.cluster);
  reader.TakeNumber("smem", step.smem_bytes);
  reader.TakeFlag("cooperative", step.is_cooperative);
  reader.TakeFlag("programmatic", step.is_programmatic);
  reader.TakeNumber("carveout", step.carveout_percent);
  reader.TakeHex("parameters", step.parameters);
  reader.TakePlaces("addresses", [&](uint32_t at, std::string_view address) {
    step.addresses.push_back({at, reader.Address(address)});
  });
  reader.TakePlaces("maps", [&](uint32_t at, std::string_view map) {
    step.maps.push_back({at, reader.Number<uint32_t>(map)});
  });
  return step;
}

bool IsName(std::string_view name) {
  const auto is_graphic = [](char c) { return c > ' ' && c < 0x7f; };
  return !name.empty() && name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), is_graphic);
}

// Claims zero bytes of the parameters for one place. No byte is claimed twice.
bool Claim(const KernelStep& step, uint64_t at, uint64_t bytes, std::vector<bool>& claimed) {
  if (at + bytes > step.parameters.size()) return false;
  for (uint64_t i = at; i < at + bytes; ++i) {
    if (step.parameters[i] != 0 || claimed[i]) return false;
    claimed[i] = true;
  }
  return true;
}

bool PlacesFit(const KernelStep& step, size_t maps) {
  std::vector<bool> claimed(step.parameters.size());
  const auto address_fits = [&](const AddressPlace& place) { return Claim(step, place.at, 8, claimed); };
  const auto map_fits = [&](const MapPlace& place) {
    return place.map < maps && Claim(step, place.at, kTensorMapBytes, claimed);
  };
  return std::all_of(step.addresses.begin(), step.addresses.end(), address_fits) &&
         std::all_of(step.maps.begin(), step.maps.end(), map_fits);
}

bool IsPositive(const Dim3& dim) { return dim.x > 0 && dim.y > 0 && dim.z > 0; }

bool IsSound(const KernelStep& step, size_t maps) {
  return IsName(step.kernel) && IsPositive(step.grid) && IsPositive(step.block) && IsPositive(step.cluster) &&
         step.carveout_percent >= -1 && step.carveout_percent <= 100 && PlacesFit(step, maps);
}

// Adds the map or step of one line; false where the line is not exactly as Print() writes it.
bool AddLine(std::string_view line, Recipe& recipe) {
  FieldReader reader(line);
  const std::string_view kind = reader.TakeWord();
  std::string printed;
  if (kind == "map" && recipe.steps.empty() && recipe.maps.size() < kMaxRecipeMaps) {
    printed = PrintLine(recipe.maps.emplace_back(TakeMap(reader)));
  } else if (kind == "memset" && recipe.steps.size() < kMaxRecipeSteps) {
    printed = PrintLine(std::get<MemsetStep>(recipe.steps.emplace_back(TakeMemset(reader))));
  } else if (kind == "kernel" && recipe.steps.size() < kMaxRecipeSteps) {
    const auto& step = std::get<KernelStep>(recipe.steps.emplace_back(TakeKernel(reader)));
    if (!IsSound(step, recipe.maps.size())) return false;
    printed = PrintLine(step);
  }
  return !reader.failed() && printed == line;
}

bool IsInWorkspace(const OperandAddress& address) { return address.operand == CallOperand::kWorkspace; }

}  // namespace

bool Recipe::UsesWorkspace() const {
  const auto step_does = [](const auto& step) {
    if (const auto* const memset = std::get_if<MemsetStep>(&step)) return IsInWorkspace(memset->address);
    const auto& places = std::get<KernelStep>(step).addresses;
    return std::any_of(places.begin(), places.end(), [](const auto& place) { return IsInWorkspace(place.address); });
  };
  const auto map_does = [](const RecipeMap& map) { return IsInWorkspace(map.address); };
  return std::any_of(steps.begin(), steps.end(), step_does) || std::any_of(maps.begin(), maps.end(), map_does);
}

std::string Print(const Recipe& recipe) {
  std::string text = fmt::format("{}\n", kFormat);
  for (const RecipeMap& map : recipe.maps) text += PrintLine(map) + "\n";
  for (const auto& step : recipe.steps)
    text += std::visit([](const auto& kind) { return PrintLine(kind); }, step) + "\n";
  return text;
}

Result<Recipe> ParseRecipe(std::string_view text) {
  if (text.size() > kMaxRecipeTextBytes)
    return InvalidArgument(fmt::format("a recipe of {} bytes, {} are allowed", text.size(), kMaxRecipeTextBytes));
  std::vector<std::string_view> lines = Split(text, '\n');
  if (lines.front() != kFormat) return InvalidArgument(fmt::format("not a recipe: line 1 is not '{}'", kFormat));
  if (lines.size() < 2 || !lines.back().empty()) return InvalidArgument("a recipe whose last line is cut off");
  lines.pop_back();
  Recipe recipe;
  for (size_t i = 1; i < lines.size(); ++i)
    if (!AddLine(lines[i], recipe))
      return InvalidArgument(fmt::format("line {} of a recipe is no map, kernel or memset: '{}'", i + 1,
                                         WithoutControls(lines[i].substr(0, 80))));
  return recipe;
}

}  // namespace gemmsmith
