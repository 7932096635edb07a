# SPDX-License-Identifier: Apache-2.0
# PARHELION_COMMIT: the commit that is built, "unknown" where git does not say.
set(PARHELION_COMMIT "unknown")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${CMAKE_SOURCE_DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(PARHELION_COMMIT ${head})
    # Configured anew after every commit, so that records name the one that was built.
    execute_process(COMMAND ${GIT} -C ${CMAKE_SOURCE_DIR} rev-parse --git-path logs/HEAD OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(ABSOLUTE_PATH log BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    if(EXISTS ${log})
      set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
    endif()
  endif()
endif()
