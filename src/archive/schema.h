// The tables of an archive and their version.
#pragma once

#include "archive/database.h"

namespace gemmsmith {

// Makes an empty database an archive, brings an older one up to date, and refuses one that is damaged, another
// program's or newer than this program.
Status PrepareSchema(const Database& database);
// Of one that cannot be written: refuses an older one too.
Status CheckSchema(const Database& database);

}  // namespace gemmsmith
