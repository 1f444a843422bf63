# libgemmsmith.so: the C interface of include/gemmsmith for other programs. It exports the names in gemmsmith.map alone, and needs
# no other library of ours.
add_library(gemmsmith_library SHARED cmake/fmt_inside.cc)
target_link_libraries(gemmsmith_library PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,gemmsmith_runtime>" ${CMAKE_DL_LIBS})
target_link_options(gemmsmith_library PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/gemmsmith.map -Wl,--gc-sections
                    -Wl,--as-needed -static-libstdc++ -static-libgcc)
set_target_properties(gemmsmith_library PROPERTIES
  OUTPUT_NAME gemmsmith SOVERSION 0 VERSION ${PROJECT_VERSION} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/gemmsmith.map)
set_target_properties(gemmsmith_library PROPERTIES EXPORT_NAME runtime)
target_include_directories(gemmsmith_library INTERFACE $<INSTALL_INTERFACE:include>)

# `cmake --install build/release --prefix DIR` makes a folder that can be moved anywhere: find_package(gemmsmith CONFIG) gives the
# target gemmsmith::runtime, pkg-config the package gemmsmith. Compiled kernels go along where they were built.
install(TARGETS gemmsmith_library EXPORT gemmsmith-targets LIBRARY DESTINATION lib)
install(DIRECTORY include/gemmsmith DESTINATION include)
install(EXPORT gemmsmith-targets NAMESPACE gemmsmith:: FILE gemmsmith-config.cmake DESTINATION lib/cmake/gemmsmith)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/gemmsmith-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/gemmsmith-config-version.cmake DESTINATION lib/cmake/gemmsmith)
configure_file(${CMAKE_SOURCE_DIR}/cmake/gemmsmith.pc.in ${CMAKE_BINARY_DIR}/generated/gemmsmith.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/gemmsmith.pc DESTINATION lib/pkgconfig)
install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/ DESTINATION lib/gemmsmith FILES_MATCHING PATTERN "*.kernels")
