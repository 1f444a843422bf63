# gemmsmith_folder(NAME [FOLDERS ...] [LIBRARIES ...] [SOURCES ...])
#   the library gemmsmith_NAME from src/NAME (sub-folders included), and gemmsmith_NAME_test from its *_test.cc.
# Tests that need a GPU (*_gpu_test.cc) of all folders form one program, gemmsmith_gpu_tests, so that it can be carried.
include(GoogleTest)

# What most sources include, compiled once for all libraries and once for all their tests: `program` and `search` with their
# tests build in 104 s on two cores, without in 319. (ccache keeps nothing of such a build: who wants it sets
# CMAKE_CXX_COMPILER_LAUNCHER, and CMAKE_DISABLE_PRECOMPILE_HEADERS.) The preset `portable` is without, so that its targets
# find a source that forgets an include.
set(GEMMSMITH_COMMON_HEADERS
    <algorithm> <array> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <mutex> <optional> <set>
    <span> <string> <string_view> <thread> <utility> <vector> <fmt/format.h>)

# gemmsmith_precompile(TARGET FIRST [HEADERS...]): those of the target FIRST, of the same kind, which has these besides.
function(gemmsmith_precompile target first)
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${GEMMSMITH_COMMON_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

function(gemmsmith_folder name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;LIBRARIES;SOURCES" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  list(FILTER all EXCLUDE REGEX "/(main|cpu_product|dense_product|torch_matmul|torch_trainer|[a-z_]+_fuzz)\\.cc$")
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(gpu_tests ${tests})
  list(FILTER tests EXCLUDE REGEX "_gpu_test\\.cc$")
  list(FILTER gpu_tests INCLUDE REGEX "_gpu_test\\.cc$")
  list(TRANSFORM ARG_FOLDERS PREPEND gemmsmith_)
  add_library(gemmsmith_${name} STATIC ${sources} ${ARG_SOURCES})
  set_target_properties(gemmsmith_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(gemmsmith_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(gemmsmith_${name} PUBLIC ${ARG_FOLDERS} ${ARG_LIBRARIES})
  gemmsmith_precompile(gemmsmith_${name} gemmsmith_base)
  if(GEMMSMITH_TESTS AND tests)
    add_executable(gemmsmith_${name}_test ${tests})
    target_link_libraries(gemmsmith_${name}_test PRIVATE gemmsmith_${name} GTest::gtest_main)
    # Of the sources, not of the target: its precompiled headers serve others too.
    set_property(SOURCE ${tests} APPEND PROPERTY COMPILE_DEFINITIONS GEMMSMITH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gemmsmith_precompile(gemmsmith_${name}_test gemmsmith_base_test <gtest/gtest.h>)
    gtest_discover_tests(gemmsmith_${name}_test TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
                         PROPERTIES LABELS unit TIMEOUT 300)
  endif()
  if(GEMMSMITH_FUZZERS)
    file(GLOB_RECURSE fuzzers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*_fuzz.cc)
    foreach(fuzzer ${fuzzers})
      get_filename_component(program ${fuzzer} NAME_WE)
      add_executable(${program} ${fuzzer})
      target_link_libraries(${program} PRIVATE gemmsmith_${name})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
  set_property(GLOBAL APPEND PROPERTY GEMMSMITH_GPU_TESTS ${gpu_tests})
  set_property(GLOBAL APPEND PROPERTY GEMMSMITH_FOLDERS gemmsmith_${name})
endfunction()

function(gemmsmith_gpu_tests)
  get_property(tests GLOBAL PROPERTY GEMMSMITH_GPU_TESTS)
  get_property(folders GLOBAL PROPERTY GEMMSMITH_FOLDERS)
  if(NOT GEMMSMITH_TESTS OR NOT tests)
    return()
  endif()
  add_executable(gemmsmith_gpu_tests ${tests})
  target_link_libraries(gemmsmith_gpu_tests PRIVATE ${folders} GTest::gtest_main)
  gemmsmith_precompile(gemmsmith_gpu_tests gemmsmith_base_test)
  set_target_properties(gemmsmith_gpu_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  # One at a time: they measure.
  gtest_discover_tests(gemmsmith_gpu_tests TEST_PREFIX gpu. DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
                       PROPERTIES LABELS gpu TIMEOUT 600 RESOURCE_LOCK gpu)
endfunction()

# The device headers as text inside the program, so that it compiles kernels wherever it stands.
file(GLOB device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/device/*.cuh ${CMAKE_SOURCE_DIR}/src/device/*.h)
set(GEMMSMITH_DEVICE_HEADERS_CC ${CMAKE_BINARY_DIR}/generated/device_headers.cc)
add_custom_command(
  OUTPUT ${GEMMSMITH_DEVICE_HEADERS_CC}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${GEMMSMITH_DEVICE_HEADERS_CC} "-DHEADERS=${device_headers}"
          -P ${CMAKE_SOURCE_DIR}/cmake/EmbedDeviceHeaders.cmake
  DEPENDS ${device_headers} ${CMAKE_SOURCE_DIR}/cmake/EmbedDeviceHeaders.cmake
  VERBATIM)
