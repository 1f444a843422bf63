// SIGINT and SIGTERM as a wish that is asked for between pieces of work, so that finished work is kept.
#pragma once

namespace gemmsmith {

// The first of these signals sets the flag; a second one, of either, ends the program at once. Later calls change
// nothing.
void WatchForInterrupts();
bool InterruptArrived();

}  // namespace gemmsmith
