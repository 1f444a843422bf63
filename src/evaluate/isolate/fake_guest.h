// A guest for tests: the real messages, without a GPU, with a candidate whose behaviour is named. The test program
// starts itself as one: "/proc/self/exe fake_guest ACT".
#pragma once

#include <string_view>

namespace gemmsmith {

// ACT: "well", or what goes wrong: "exits_early", "refuses", "mute" before it is set up; "crash", "exit", "hang",
// "forbidden", "rubbish", "half", "huge", "wrong_turn", "nonsense", "infinite", "fails", "lost", "shouts",
// "answers_twice" in its first call; "inherits" answers with what the object's descriptor holds, "counts" with
// counters.
int RunFakeGuest(std::string_view act);

}  // namespace gemmsmith
