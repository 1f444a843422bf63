# libgemmsmith_preload.so, for LD_PRELOAD (src/preload): it exports the names in gemmsmith_preload.map alone. It is no folder of
# tests: whatever links it has another dlsym().
file(GLOB preload_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/preload/*.cc)
add_library(gemmsmith_preload SHARED ${preload_sources} cmake/fmt_inside.cc)
target_link_libraries(gemmsmith_preload PRIVATE gemmsmith_runtime cuda_headers ${CMAKE_DL_LIBS})
target_link_options(gemmsmith_preload PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/gemmsmith_preload.map -Wl,--gc-sections
                    -Wl,--as-needed -static-libstdc++ -static-libgcc)
set_target_properties(gemmsmith_preload PROPERTIES
  UNITY_BUILD OFF LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/gemmsmith_preload.map)
# dlsym() leaves by a jump in every kind of build.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/preload/dlsym.cc PROPERTIES
                            COMPILE_OPTIONS "-O2;-foptimize-sibling-calls;-fno-sanitize=all;-fno-stack-protector")
install(TARGETS gemmsmith_preload LIBRARY DESTINATION lib)
