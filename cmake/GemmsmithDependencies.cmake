# What we stand on. CUDA's libraries are opened at run time; only headers are needed to build.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
# As headers only it costs each file 2.8 s of compilation, but there is no archive to link into what is to be carried.
set(GEMMSMITH_FMT $<IF:$<BOOL:${GEMMSMITH_PORTABLE}>,fmt::fmt-header-only,fmt::fmt>)
find_package(nlohmann_json 3 REQUIRED)
find_package(CLI11 REQUIRED)

# Static archives where Debian has them, so that a build can be carried to another machine.
function(gemmsmith_static_library target header archive)
  find_path(${target}_include ${header} PATH_SUFFIXES ${ARGN} REQUIRED)
  find_library(${target}_archive NAMES ${archive} PATH_SUFFIXES ${ARGN} REQUIRED)
  string(REPLACE "::" "_" plain ${target})
  add_library(${plain} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${plain} PROPERTIES IMPORTED_LOCATION ${${target}_archive}
                        INTERFACE_INCLUDE_DIRECTORIES ${${target}_include})
  add_library(${target} ALIAS ${plain})
endfunction()
gemmsmith_static_library(xxHash::xxhash xxhash.h libxxhash.a)
gemmsmith_static_library(seccomp::seccomp seccomp.h libseccomp.a)
gemmsmith_static_library(zstd::zstd zstd.h libzstd.a)
gemmsmith_static_library(zlib::zlib zlib.h libz.a)
gemmsmith_static_library(SQLite::SQLite3 sqlite3.h libsqlite3.a)
gemmsmith_static_library(OpenBLAS::OpenBLAS cblas.h libopenblas.a x86_64-linux-gnu/openblas-pthread openblas-pthread)

# f32 products on the CPU: the definition of truth, and the policy's. A shared library of its own, so that the 25 MB of OpenBLAS
# stand on disk once however many programs use them.
add_library(gemmsmith_cpu_product SHARED src/evaluate/verify/cpu_product.cc src/policy/dense_product.cc)
target_include_directories(gemmsmith_cpu_product PUBLIC src)
target_link_libraries(gemmsmith_cpu_product PRIVATE OpenBLAS::OpenBLAS Threads::Threads m)
target_link_options(gemmsmith_cpu_product PRIVATE -Wl,--exclude-libs,ALL)
set_target_properties(gemmsmith_cpu_product PROPERTIES UNITY_BUILD OFF LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# CUDA headers: the given root, the toolkit the set-up installed, the usual place.
find_path(GEMMSMITH_CUDA_INCLUDE cublasLt.h
          HINTS ${GEMMSMITH_CUDA_ROOT}/include ${CMAKE_SOURCE_DIR}/.deps/cuda/nvidia/cu13/include /usr/local/cuda/include
          NO_DEFAULT_PATH)
if(NOT GEMMSMITH_CUDA_INCLUDE)
  message(FATAL_ERROR "no CUDA toolkit (cublasLt.h): run ./gemmsmith, which installs one, or set GEMMSMITH_CUDA_ROOT")
endif()
get_filename_component(GEMMSMITH_CUDA_FOUND_ROOT ${GEMMSMITH_CUDA_INCLUDE} DIRECTORY)
add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${GEMMSMITH_CUDA_INCLUDE})
# Its libraries are looked for there at run time too, as are our own folders in the source tree.
set_source_files_properties(
  ${CMAKE_SOURCE_DIR}/src/base/installation.cc ${CMAKE_SOURCE_DIR}/src/base/installation_test.cc
  PROPERTIES COMPILE_DEFINITIONS
             "GEMMSMITH_CUDA_FOUND_ROOT=\"${GEMMSMITH_CUDA_FOUND_ROOT}\";GEMMSMITH_SOURCE_FOLDER=\"${CMAKE_SOURCE_DIR}\"")

if(GEMMSMITH_TESTS)
  find_package(GTest REQUIRED)
endif()
