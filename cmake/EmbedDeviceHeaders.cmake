# Writes OUTPUT, a C++ file that holds the text of each of HEADERS.
set(entries "")
foreach(header ${HEADERS})
  file(READ ${header} text)
  get_filename_component(name ${header} NAME)
  string(APPEND entries "    {\"${name}\", R\"GEMMSMITH(${text})GEMMSMITH\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from src/device by cmake/EmbedDeviceHeaders.cmake.
#include \"program/source.h\"

namespace gemmsmith {

namespace {
constexpr DeviceHeader kHeaders[] = {
${entries}};
}  // namespace

std::span<const DeviceHeader> DeviceHeaders() { return kHeaders; }

}  // namespace gemmsmith
")
