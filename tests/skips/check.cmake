# SPDX-License-Identifier: Apache-2.0
# Runs the entries of project/ and compares what ctest and tools/count_tests.py say of them.
function(run output expected_code)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE code)
  if(NOT code EQUAL expected_code)
    message(FATAL_ERROR "${ARGN} ended with ${code}, not ${expected_code}:\n${text}")
  endif()
  set(${output} "${text}" PARENT_SCOPE)
endfunction()
function(expect text)
  foreach(line IN LISTS ARGN)
    if(NOT text MATCHES "${line}")
      message(SEND_ERROR "'${line}' is not in:\n${text}")
    endif()
  endforeach()
endfunction()

run(text 0 ${CMAKE_COMMAND} -S ${SOURCE}/project -B ${BUILD} -DPROGRAM=${PROGRAM})
run(text 8 ${CTEST} --test-dir ${BUILD} -L cuda)
expect("${text}" "all_pass \\.+ +Passed" "some_are_skipped \\.+ +Passed" "all_are_skipped \\.+\\*\\*\\*Skipped" "one_fails \\.+\\*\\*\\*Failed"
  "skipped_and_failing \\.+\\*\\*\\*Failed" "skipped_and_dead \\.+Subprocess aborted" "nothing_ran \\.+\\*\\*\\*Failed" "4 tests failed out of 7")
run(text 0 ${SOURCE}/../../tools/count_tests.py ${BUILD})
expect("${text}" "some_are_skipped: 1 passed, 0 failed, 1 skipped\n" "one_fails: 1 passed, 1 failed, 1 skipped\n"
  "skipped_and_dead: ended without a count\n" "3 passed, 1 failed, 4 skipped, 1 entry ended without a count\n$")

# However many GPUs there are, the entries of one program count each of its five tests once.
foreach(case "1;3 passed, 0 failed, 2 skipped" "2;4 passed, 0 failed, 1 skipped" "4;5 passed, 0 failed, 0 skipped")
  list(GET case 0 here)
  list(GET case 1 counts)
  run(text 0 ${CTEST} --test-dir ${BUILD} -L gpus_${here})
  run(text 0 ${SOURCE}/../../tools/count_tests.py ${BUILD})
  expect("${text}" "\n${counts}\n$")
endforeach()

# A list of tests by a filter of which a pattern matches none fails, so that a test which is renamed does not leave a tier in silence.
run(text 0 ${PROGRAM} --gtest_list_tests --gtest_filter=Fake.passes:Takes.*-Takes.?*)
run(text 1 ${PROGRAM} --gtest_list_tests --gtest_filter=Fake.passes:Fake.misspelt-Takes.gone*)
expect("${text}" "no test matches Fake.misspelt\n" "no test matches Takes.gone\\*\n")
