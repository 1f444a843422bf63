# The harness kernels as text inside the program, and the hash that names this version of the measuring code in records.
set(measuring_sources "")
foreach(folder gpu outcome profile harness evaluate)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cc ${CMAKE_SOURCE_DIR}/src/${folder}/*.h
       ${CMAKE_SOURCE_DIR}/src/${folder}/*.cu ${CMAKE_SOURCE_DIR}/src/${folder}/*.cuh)
  list(APPEND measuring_sources ${sources})
endforeach()
list(FILTER measuring_sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")
list(SORT measuring_sources)
set(included elements units compare input_values reference_product ring_values ring_draw ring_units ring_batch ring_check)
list(TRANSFORM included REPLACE "(.+)" "harness/\\1.cuh")
set(GEMMSMITH_HARNESS_CC ${CMAKE_BINARY_DIR}/generated/harness_text.cc)
add_custom_command(
  OUTPUT ${GEMMSMITH_HARNESS_CC}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${GEMMSMITH_HARNESS_CC} -DVERSION=${PROJECT_VERSION}
          -DHARNESS=${CMAKE_SOURCE_DIR}/src/harness/harness.cu
          -DROOT=${CMAKE_SOURCE_DIR}/src
          "-DINCLUDED=${included}"
          "-DSOURCES=${measuring_sources}"
          -P ${CMAKE_SOURCE_DIR}/cmake/EmbedHarness.cmake
  DEPENDS ${measuring_sources} ${CMAKE_SOURCE_DIR}/cmake/EmbedHarness.cmake
  VERBATIM)
