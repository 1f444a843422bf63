# How everything is compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# -O3 gains nothing in host code and takes longer to build.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

option(GEMMSMITH_TESTS "Build the tests" ON)
option(GEMMSMITH_FUZZERS "Build the fuzz targets (clang)" OFF)
option(GEMMSMITH_SANITIZE "Address and undefined-behaviour sanitizers" OFF)
option(GEMMSMITH_PORTABLE "Link everything statically but libc and CUDA, to carry the build to another machine" OFF)
option(CMAKE_UNITY_BUILD "Compile the sources of a folder in batches" ON)
set(GEMMSMITH_CUDA_ROOT "" CACHE PATH "CUDA toolkit whose headers are used (default: found)")

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # g++ 12 takes "text" + std::string for an overlapping copy (GCC bug 105651)
endif()
# g++ does not know precompiled headers as the system's any more, and then warns of copies in them that go too far. The preset
# `portable`, which has none, keeps these warnings.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  add_compile_options(-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# g++ takes the sources of a batch for headers, and warns that their types use an anonymous namespace.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
  add_compile_options(-Wno-subobject-linkage)
endif()
if(GEMMSMITH_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(GEMMSMITH_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage of what is fuzzed, not only of the entrance
endif()
if(GEMMSMITH_PORTABLE)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
find_program(GEMMSMITH_MOLD mold)
if(GEMMSMITH_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
