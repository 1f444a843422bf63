// The tables of an archive and their version.
#pragma once

#include "archive/database.h"

namespace gemmsmith {

// Makes an empty database an archive and brings an older one up to date. Refuses a database that is damaged, of another
// program, or newer than this program.
Status PrepareSchema(const Database& database);
// For a database that cannot be written: also refuses an older one.
Status CheckSchema(const Database& database);

}  // namespace gemmsmith
