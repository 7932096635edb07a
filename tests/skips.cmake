# SPDX-License-Identifier: Apache-2.0
# When ctest counts a test as skipped: by its exit code alone. test_main.cpp and python/conftest.py end with this one where every
# test was skipped. A program that fails after it has printed that a test was skipped, or that there is no GPU, has failed.
set(PARHELION_SKIPPED 77)

# An entry for tests that need GPUs: parhelion_gpu_test(NAME name LABEL label TIMEOUT seconds COMMAND ... [ENVIRONMENT ...])
function(parhelion_gpu_test)
  cmake_parse_arguments(GPU "" "NAME;LABEL;TIMEOUT" "COMMAND;ENVIRONMENT" ${ARGN})
  add_test(NAME ${GPU_NAME} COMMAND ${GPU_COMMAND})
  set_tests_properties(${GPU_NAME} PROPERTIES LABELS ${GPU_LABEL} TIMEOUT ${GPU_TIMEOUT} SKIP_RETURN_CODE ${PARHELION_SKIPPED}
    ENVIRONMENT "${GPU_ENVIRONMENT}")
endfunction()
