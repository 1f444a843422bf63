// Libraries of ours that are built apart from the program, each by a tool of its own, because what they stand on is not
// everywhere. They are opened at run time, and the program does without them where they are not.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

struct CompanionLibrary {
  std::string_view file;     // "libgemmsmith_torch.so"
  const char* variable;      // of the environment: names another file
  std::string_view purpose;  // what is missing without it, as a line begins: "torch.matmul"
  std::string_view tool;     // builds it: "tools/torch_baseline"
  const char* version_name;  // its function that tells the version of its interface
  int version;               // which must be this one
  // An environment variable with the folder of the dependency, if it is not the one of the build. `root_file` of that
  // folder is opened first; the library then finds it by name.
  const char* root_variable;
  std::string_view root_file;
};

// Where it may be, in order: what its variable names, beside this program, in lib under and beside its folder.
std::vector<std::string> PathsOf(const CompanionLibrary& library);

// One that is open, for the life of the process.
class OpenCompanion {
 public:
  // The first file of PathsOf(). Unavailable, with what to do, where there is none, it does not load, or it is of
  // another version.
  static Result<OpenCompanion> Open(const CompanionLibrary& library);

  template <class Function>
  void Find(Function*& function, const char* name) {
    static_assert(std::is_function_v<Function>);
    function = reinterpret_cast<Function*>(Find(name));
  }
  // Unavailable where one of the functions was not found.
  Status FoundAll() const { return found_all_; }

 private:
  OpenCompanion(const CompanionLibrary& library, void* handle) : library_(library), handle_(handle) {}
  void* Find(const char* name);

  CompanionLibrary library_;
  void* handle_;
  Status found_all_;
};

}  // namespace gemmsmith
