# SPDX-License-Identifier: Apache-2.0
# When ctest counts a test as skipped: by its exit code alone. test_main.cpp and python/conftest.py end with this one where every
# test was skipped. A program that fails after it has printed that a test was skipped, or that there is no GPU, has failed.
set(PARHELION_SKIPPED 77)

# An entry for tests that need GPUs: parhelion_gpu_test(NAME name LABEL label TIMEOUT seconds [GPUS number [SECONDS long]] COMMAND ...
# [ENVIRONMENT ...]). With a number, entries share the GPUs of a machine (tools/test_gpus.py): four at a time have one each, one alone has
# several. Entries of most GPUs come first (COST), so that those of one fill what is free at the end; of these the longest, so that none
# goes on alone. SECONDS is how long an entry takes beside three others.
set(PARHELION_ON_GPUS ${CMAKE_CURRENT_LIST_DIR}/support/on_gpus.sh)
function(parhelion_gpu_test)
  cmake_parse_arguments(GPU "" "NAME;LABEL;TIMEOUT;GPUS;SECONDS" "COMMAND;ENVIRONMENT" ${ARGN})
  if(GPU_GPUS)
    list(POP_FRONT GPU_COMMAND program)
    if(TARGET ${program})
      set(program $<TARGET_FILE:${program}>)
    endif()
    add_test(NAME ${GPU_NAME} COMMAND ${PARHELION_ON_GPUS} ${GPU_GPUS} ${program} ${GPU_COMMAND})
    set(slots "gpus:1")
    if(GPU_GPUS GREATER 1)
      set(slots "${GPU_GPUS},gpus:4")
      list(APPEND GPU_LABEL on_${GPU_GPUS}_gpus)
    endif()
    math(EXPR cost "10000 * ${GPU_GPUS} + 0${GPU_SECONDS}")
    set_tests_properties(${GPU_NAME} PROPERTIES RESOURCE_GROUPS "${slots}" COST ${cost})
    list(APPEND GPU_ENVIRONMENT PARHELION_TEST_ON_GPUS=${GPU_GPUS})
  else()
    add_test(NAME ${GPU_NAME} COMMAND ${GPU_COMMAND})
  endif()
  set_tests_properties(${GPU_NAME} PROPERTIES LABELS "${GPU_LABEL}" TIMEOUT ${GPU_TIMEOUT} SKIP_RETURN_CODE ${PARHELION_SKIPPED}
    ENVIRONMENT "${GPU_ENVIRONMENT}")
endfunction()
