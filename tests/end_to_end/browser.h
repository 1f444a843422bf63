// A browser without a window, where the machine has one: what a page holds after its scripts ran.
#pragma once

#include <optional>
#include <string>

#include "tests/end_to_end/program.h"

namespace gemmsmith {

class Browser {
 public:
  static constexpr const char* kLacking = "no chromium on this machine (apt-get install chromium)";
  static std::optional<Browser> Find();

  // The elements of the page, without scripts and data; with a profile under `home`.
  std::string Drawn(const Home& home, const std::string& address) const;
  // The page on paper, as PDF.
  std::string Printed(const Home& home, const std::string& address) const;

 private:
  explicit Browser(std::string program) : program_(std::move(program)) {}
  std::string ShownIn(const Home& home, const std::string& how, const std::string& address) const;
  std::string program_;
};

int Occurrences(const std::string& text, const std::string& part);
// The page was drawn to its end, without a failure that it tells, and without numbers that are none.
void ExpectDrawn(const std::string& page);

}  // namespace gemmsmith
