# SPDX-License-Identifier: Apache-2.0
# find_package(ParhelionComm): the target Parhelion::comm, whose headers are "comm/world/communicator.hpp" and so on, and <parhelion_comm.h>
# for C. Parhelion::comm_c is the latter alone, as a shared library that needs nothing else.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
include(${CMAKE_CURRENT_LIST_DIR}/ParhelionCommTargets.cmake)
# What a compiler of C++ would link by itself.
get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(NOT CXX IN_LIST languages)
  set_property(TARGET Parhelion::options APPEND PROPERTY INTERFACE_LINK_LIBRARIES stdc++ m)
endif()
