// The bytes of the recorder (src/compile/recorder), an archive that a source's program is linked with.
#pragma once

#include <string_view>

namespace gemmsmith {

std::string_view RecorderArchive();

}  // namespace gemmsmith
