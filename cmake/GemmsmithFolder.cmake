# gemmsmith_folder(NAME [FOLDERS ...] [LIBRARIES ...] [SOURCES ...])
#   the library gemmsmith_NAME from src/NAME (sub-folders included), and gemmsmith_NAME_test from its *_test.cc.
# Tests that need a GPU (*_gpu_test.cc) of all folders form one program, gemmsmith_gpu_tests, so that it can be carried.
include(GoogleTest)

# Two things halve the time of compilation, each for itself: precompiled headers and batches of sources (CMAKE_UNITY_BUILD).
# The preset `portable` has neither, so that its targets find a source that forgets an include. ccache keeps nothing of a
# build with precompiled headers; CMAKE_DISABLE_PRECOMPILE_HEADERS turns them off.

# The headers that are compiled once for all libraries, and once for all tests.
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

# gemmsmith_is_cold(TARGET): nothing in it runs long, so it is compiled in the least time. At -Og g++ reports variables as
# uninitialized that are not.
function(gemmsmith_is_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>
                                           $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
endfunction()

# gemmsmith_batches(TARGET [SOURCES...]): compiles SOURCES in batches of up to 24, each from one folder. Names in the
# anonymous namespaces of a folder therefore differ, or the source sets SKIP_UNITY_BUILD_INCLUSION.
function(gemmsmith_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER ${folder} key)
    math(EXPR batch "${taken_${key}}+0")
    math(EXPR taken_${key} "${batch} + 1")
    math(EXPR batch "${batch} / 24")
    cmake_path(GET folder FILENAME name)
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${name}_${batch})
  endforeach()
endfunction()

# gemmsmith_test_program(TARGET): how every program of tests is compiled. They share a precompiled header, which g++ takes only
# where the definitions are the same.
function(gemmsmith_test_program target)
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE GEMMSMITH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  gemmsmith_is_cold(${target})
  gemmsmith_precompile(${target} gemmsmith_base_test <gtest/gtest.h>)
endfunction()

function(gemmsmith_folder name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;LIBRARIES;SOURCES" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  list(FILTER all EXCLUDE REGEX "/recorder/|/(main|cpu_product|dense_product|torch_matmul|torch_trainer|[a-z_]+_fuzz)\\.cc$")
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
  gemmsmith_batches(gemmsmith_${name} ${sources})
  if(GEMMSMITH_TESTS AND tests)
    add_executable(gemmsmith_${name}_test ${tests})
    target_link_libraries(gemmsmith_${name}_test PRIVATE gemmsmith_${name})
    gemmsmith_test_program(gemmsmith_${name}_test)
    gemmsmith_batches(gemmsmith_${name}_test ${tests})
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
  target_link_libraries(gemmsmith_gpu_tests PRIVATE ${folders})
  gemmsmith_test_program(gemmsmith_gpu_tests)
  gemmsmith_batches(gemmsmith_gpu_tests ${tests})
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
