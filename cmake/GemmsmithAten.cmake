# libgemmsmith_aten.so: torch.mm by libgemmsmith.so, for the Python package (python/, docs/torch.md). It finds torch's functions in
# the process, so nothing of torch is needed here.
file(GLOB GEMMSMITH_ATEN CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/aten/*.cc)
add_library(gemmsmith_aten SHARED ${GEMMSMITH_ATEN})
target_include_directories(gemmsmith_aten PRIVATE ${CMAKE_SOURCE_DIR}/python/aten ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(gemmsmith_aten PRIVATE gemmsmith_library ${CMAKE_DL_LIBS})
target_link_options(gemmsmith_aten PRIVATE -Wl,--no-undefined -Wl,--as-needed)
set_target_properties(gemmsmith_aten PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON INSTALL_RPATH $ORIGIN UNITY_BUILD OFF)
install(TARGETS gemmsmith_aten LIBRARY DESTINATION lib COMPONENT python EXCLUDE_FROM_ALL)
