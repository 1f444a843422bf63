// A worker for tests: the real pipe and serving loop before a judge whose behaviour a candidate's entry names. The test
// program starts itself as one: "/proc/self/exe fake_worker START".
#pragma once

#include <string_view>

namespace gemmsmith {

// START: "well", or what goes wrong before the hello: "exits", "hangs", "prints" or "refuses".
int RunFakeWorker(std::string_view start);

}  // namespace gemmsmith
