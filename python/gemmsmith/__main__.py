"""python -m gemmsmith --cmake | --include | --library: where the files of this package are."""

import sys

import gemmsmith

PLACES = {"--cmake": gemmsmith.cmake_dir, "--include": gemmsmith.include_dir, "--library": gemmsmith.library}

if len(sys.argv) != 2 or sys.argv[1] not in PLACES:
    sys.exit(__doc__)
print(PLACES[sys.argv[1]]())
