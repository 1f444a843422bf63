# What stands on torch: libraries of their own that are opened at run time, built where GEMMSMITH_TORCH names a torch (the
# folder with its include/ and lib/): torch.matmul as a baseline, and the training of policies. The same scripts build them
# where nothing else is built.
set(GEMMSMITH_TORCH "" CACHE PATH "Folder of a torch with CUDA, for the baseline torch.matmul and for train (default: none)")

# gemmsmith_torch_library(TARGET SCRIPT FILES...): tools/SCRIPT builds lib/libTARGET.so from FILES.
function(gemmsmith_torch_library target script)
  set(library ${CMAKE_BINARY_DIR}/lib/lib${target}.so)
  add_custom_command(
    OUTPUT ${library}
    COMMAND ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER} ${CMAKE_SOURCE_DIR}/tools/${script} --output ${library}
            ${GEMMSMITH_TORCH}
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/tools/${script}
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${library})
endfunction()

if(GEMMSMITH_TORCH)
  set(sources ${CMAKE_SOURCE_DIR}/src)
  gemmsmith_torch_library(gemmsmith_torch torch_baseline ${sources}/evaluate/baseline/torch/torch_matmul.cc
                          ${sources}/evaluate/baseline/torch/gemmsmith_torch.h
                          ${sources}/base/exception_guard.h)
  set(training ${sources}/policy/train)
  gemmsmith_torch_library(gemmsmith_trainer torch_trainer ${training}/torch_trainer.cc ${training}/torch_model.h
                          ${training}/torch_sampler.h ${training}/repeated_launches.h
                          ${training}/gemmsmith_trainer.h ${sources}/base/exception_guard.h)
endif()
