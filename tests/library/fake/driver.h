// What the pretended driver counted.
#pragma once

#include <cstdint>

int64_t FakeLaunches();
int64_t FakeChainedLaunches();  // of these, programmatic ones
int64_t FakeModules();          // loaded now
