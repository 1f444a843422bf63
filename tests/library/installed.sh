#!/usr/bin/env bash
# The installed library, moved to another folder, as strangers use it. Arguments: source tree, build tree, C++ compiler.
set -euo pipefail
source=$1 build=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$source/tests/library
fail() { echo "$*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/first" > "$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/moved"

echo "the exported names are those of the header"
nm -D --defined-only "$work/moved/lib/libgemmsmith.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort > "$work/exported"
grep -o 'gemmsmith_[a-z_]*(' "$work/moved/include/gemmsmith/gemmsmith.h" | tr -d '(' | sort -u |
  grep -xf <(grep GEMMSMITH_API "$work/moved/include/gemmsmith/gemmsmith.h" | grep -o 'gemmsmith_[a-z_]*(' | tr -d '(') > "$work/declared"
diff "$work/declared" "$work/exported" || fail "what is exported is not what is declared"

echo "it needs no library but the system's"
readelf -d "$work/moved/lib/libgemmsmith.so" | grep NEEDED | grep -vE '\[(lib(m|c|dl|pthread)\.so\.|ld-linux)' && fail "more is needed"

echo "every one of them has an entry in the reference"
while read -r name; do
  grep -q "^### .*\`$name\`" "$source/docs/library_reference.md" || fail "docs/library_reference.md has no entry of $name"
done < "$work/exported"

echo "the headers stand alone in C99 and in C++17"
for header in "c c99 gemmsmith.h" "c++ c++17 gemmsmith.h" "c++ c++17 gemmsmith.hpp" "c++ c++17 gemmsmith.hpp -fno-exceptions"; do
  read -r language standard file options <<< "$header"
  "$compiler" -x "$language" -std="$standard" $options -pedantic-errors -Wall -Wextra -Werror -fsyntax-only \
              -I"$work/moved/include" "$work/moved/include/gemmsmith/$file"
done

echo "find_package finds it"
cmake -S "$here/stranger" -B "$work/stranger" -DCMAKE_PREFIX_PATH="$work/moved" > "$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/stranger" > "$work/log" || { cat "$work/log"; exit 1; }
"$work/stranger/stranger"

echo "pkg-config finds it"
if command -v pkg-config > /dev/null; then
  flags=$(PKG_CONFIG_PATH=$work/moved/lib/pkgconfig pkg-config --cflags --libs gemmsmith)
else # Its file says the same to a reader.
  grep -q '^Libs: -L${prefix}/lib -lgemmsmith$' "$work/moved/lib/pkgconfig/gemmsmith.pc" || fail "the package names no library"
  flags="-I$work/moved/include -L$work/moved/lib -lgemmsmith"
fi
"$compiler" -x c -std=c99 "$here/stranger/stranger.c" -x none $flags -Wl,-rpath,"$work/moved/lib" -o "$work/by_flags"
"$work/by_flags"
