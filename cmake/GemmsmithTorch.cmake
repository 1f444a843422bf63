# torch.matmul as a baseline: a library of its own that the judge opens at run time, built where GEMMSMITH_TORCH names a
# torch (the folder with its include/ and lib/). The same script builds it where nothing else is built.
set(GEMMSMITH_TORCH "" CACHE PATH "Folder of a torch with CUDA, for the baseline torch.matmul (default: none)")
if(GEMMSMITH_TORCH)
  set(torch_baseline ${CMAKE_BINARY_DIR}/lib/libgemmsmith_torch.so)
  set(torch_sources ${CMAKE_SOURCE_DIR}/src/evaluate/baseline/torch)
  add_custom_command(
    OUTPUT ${torch_baseline}
    COMMAND ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER} ${CMAKE_SOURCE_DIR}/tools/torch_baseline
            --output ${torch_baseline} ${GEMMSMITH_TORCH}
    DEPENDS ${torch_sources}/torch_matmul.cc ${torch_sources}/gemmsmith_torch.h ${CMAKE_SOURCE_DIR}/tools/torch_baseline
    VERBATIM)
  add_custom_target(gemmsmith_torch ALL DEPENDS ${torch_baseline})
endif()
