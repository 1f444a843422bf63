// SIGINT and SIGTERM as a wish that is asked for between pieces of work, so that everything done so far is kept.
#pragma once

namespace gemmsmith {

// From now on the first of these signals only sets the flag; a second one, of either, ends the program at once. Calls
// after the first change nothing.
void WatchForInterrupts();
bool InterruptArrived();

}  // namespace gemmsmith
