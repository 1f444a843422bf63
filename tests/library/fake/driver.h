// What the pretended driver counted, and how the pretended libraries put work on its streams.
//
// Environment: FAKE_GPUS is their number (1), FAKE_CAPABILITY their compute capability (90), FAKE_CUDA the version of
// CUDA that the driver tells (13000). FAKE_MEMORY=0 and FAKE_USER_OBJECTS=0: there are none.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

int64_t FakeLaunches();
int64_t FakeChainedLaunches();  // of these, programmatic ones
int64_t FakeModules();          // loaded now
void* FakeWorkspace();          // of the last launch
int FakeNumber(const char* variable, int otherwise);

using FakeGraph = std::vector<std::function<void()>>;
void FakeBeginCapture(void* stream);
FakeGraph FakeEndCapture(void* stream);
bool FakeIsCaptured(void* stream);
void FakeRecord(void* stream, std::function<void()> work);

// Work is done when it is put on a stream, unless the stream is captured.
template <class Work>
void FakeSubmit(void* stream, const Work& work) {
  if (FakeIsCaptured(stream))
    FakeRecord(stream, work);
  else
    work();
}
