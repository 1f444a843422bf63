// The files of src/report/page and the plotting library, as the build put them into the program.
#pragma once

#include <string_view>

namespace gemmsmith {

struct PageText {
  std::string_view skeleton;  // with @STYLE@, @LIBRARY@, @DATA@ and @SCRIPT@ where these belong
  std::string_view style, library, script;
};
const PageText& EmbeddedPage();

}  // namespace gemmsmith
