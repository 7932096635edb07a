# SPDX-License-Identifier: Apache-2.0
# find_package(ParhelionComm): the target Parhelion::comm, whose headers are "comm/communicator.hpp" and so on.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
include(${CMAKE_CURRENT_LIST_DIR}/ParhelionCommTargets.cmake)
