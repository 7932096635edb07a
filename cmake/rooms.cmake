# SPDX-License-Identifier: Apache-2.0
# How rooms are compiled, for the whole program (CMakeLists.txt) and for the communication library by itself
# (src/comm/CMakeLists.txt): compilers and their options, a library for each room.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH PARHELION_ROOT)
include(GNUInstallDirs)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# Asserts are contracts (base/error.hpp), never compiled out.
set(CMAKE_CXX_FLAGS_RELEASE "-O3")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g1")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

if(PARHELION_CUDA)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100 CACHE STRING "GPU architectures; the last also as PTX")
  endif()
  if(CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that nvcc has C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  # Machine code is compressed, to a fifth. Lines for a profiler would double it: -DCMAKE_CUDA_FLAGS=-lineinfo adds them.
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -g1 --compress-mode=size")
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_file(SODIUM_HEADER sodium.h REQUIRED)

add_library(parhelion_options INTERFACE)
target_include_directories(parhelion_options INTERFACE
  $<BUILD_INTERFACE:${PARHELION_ROOT}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/parhelion>)
target_compile_features(parhelion_options INTERFACE cxx_std_20)
# clang takes what libstdc++'s std::stable_sort() uses inside for ours, which is deprecated; g++ tells of ours.
# No contraction: the same source gives the same bits whatever the compiler finds worth fusing; kernels ask for FMA explicitly.
target_compile_options(parhelion_options INTERFACE # BUILD_INTERFACE: of what is built here, not of what uses it installed
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;$<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>;$<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>;-fno-math-errno;-ffp-contract=off;$<$<BOOL:${PARHELION_WERROR}>:-Werror>>>"
  "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>"
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;-Xcompiler=-Wall,-Wextra,-Wshadow,-fno-math-errno,-ffp-contract=off>>"
  "$<BUILD_INTERFACE:$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${PARHELION_WERROR}>>:-Werror=all-warnings>>")
target_link_libraries(parhelion_options INTERFACE Threads::Threads fmt::fmt ${CMAKE_DL_LIBS})
if(PARHELION_SANITIZE)
  target_compile_options(parhelion_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${PARHELION_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>"
    # A copy of constant size that the compiler expands is one the thread sanitizer does not see.
    "$<$<COMPILE_LANGUAGE:CXX>:-fno-builtin-memcpy;-fno-builtin-memmove>")
  target_link_options(parhelion_options INTERFACE -fsanitize=${PARHELION_SANITIZE})
endif()

# Optimises a target less than the others. Code that takes no part in a step then compiles in two thirds of the time. No result
# depends on the level.
function(parhelion_optimise_less target level)
  target_compile_options(${target} PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:${level}>")
endfunction()

# Compiles up to eight files of a target at once. What they include is read once, so that the target compiles in a third of the
# time. Names in unnamed namespaces must then differ within the target. Not for files that Highway compiles several times.
# Two warnings would take the files of a batch for headers; -Wshadow is one of them.
function(parhelion_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
endfunction()

# The .cpp and .cu files below src/<room>: those of its folders gpu/ in `gpu`, the others in `host`. example/ is a project of its own, plugins/ and mpi/ are
# shared objects.
function(parhelion_sources name host gpu)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PARHELION_ROOT}/src/${name}/*.cpp ${PARHELION_ROOT}/src/${name}/*.cu)
  list(FILTER found EXCLUDE REGEX "/src/${name}/(example|plugins|mpi)/")
  set(of_host ${found})
  list(FILTER of_host EXCLUDE REGEX "/src/${name}/(.*/)?gpu/")
  list(FILTER found INCLUDE REGEX "/src/${name}/(.*/)?gpu/")
  set(${host} ${of_host} PARENT_SCOPE)
  set(${gpu} ${found} PARENT_SCOPE)
endfunction()

# Compiles each of these kernel sources of a target once for each numeric policy (base/numerics.hpp): their four instances take nvcc
# minutes in one object. The sources are files of `folder`, where the target finds headers, too. A policy that is missing here is missing
# when the program is linked.
function(parhelion_compile_by_numerics target folder)
  get_target_property(sources ${target} SOURCES)
  foreach(file IN LISTS ARGN)
    set(whole ${folder}/${file})
    if(NOT whole IN_LIST sources)
      message(FATAL_ERROR "${target} has no source ${file}")
    endif()
    list(REMOVE_ITEM sources ${whole})
    foreach(policy Mixed Double MixedReproducible DoubleReproducible)
      string(REGEX REPLACE "\\.cu$" ".${policy}.cu" part ${CMAKE_CURRENT_BINARY_DIR}/by_numerics/${target}/${file})
      file(CONFIGURE OUTPUT ${part} @ONLY CONTENT "#include \"base/numerics.hpp\"
#undef PARHELION_FOR_EACH_NUMERICS
#define PARHELION_FOR_EACH_NUMERICS(macro) macro(${policy})
#include \"${file}\"
")
      list(APPEND sources ${part})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
endfunction()

# One library per room, with what its folders gpu/ hold only if PARHELION_CUDA is on. Who may depend on whom: rooms.toml.
function(parhelion_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS" ${ARGN})
  parhelion_sources(${name} sources of_gpu)
  if(PARHELION_CUDA)
    list(APPEND sources ${of_gpu})
  endif()
  if(sources)
    add_library(parhelion_${name} STATIC ${sources})
    target_link_libraries(parhelion_${name} PUBLIC parhelion_options ${ROOM_DEPENDS})
  else()
    add_library(parhelion_${name} INTERFACE)
    target_link_libraries(parhelion_${name} INTERFACE parhelion_options ${ROOM_DEPENDS})
  endif()
  if(name STREQUAL base) # plugins are looked for there: below the prefix /usr Debian has another folder than lib
    target_compile_definitions(parhelion_base PRIVATE "PARHELION_LIBRARY_FOLDER=\"${CMAKE_INSTALL_LIBDIR}\"")
  endif()
  if(name STREQUAL comm)
    # By name, so that an installed package finds it elsewhere, too; static, so that nothing is needed at run time.
    target_link_libraries(parhelion_comm PRIVATE -l:libsodium.a)
  endif()
  if(PARHELION_STANDIN)
    parhelion_room_on_standin(${name} ${ROOM_DEPENDS})
  elseif(PARHELION_HIP)
    parhelion_room_for_hip(${name})
  endif()
endfunction()

# Tells room device, in the folder that has made it, which GPUs there is code for.
function(parhelion_tell_gpu_code)
  set(code 90) # the stand-in's
  if(PARHELION_CUDA)
    string(REPLACE ";" "," code "${CMAKE_CUDA_ARCHITECTURES}")
  elseif(PARHELION_HIP)
    string(REPLACE ";" "," code "${PARHELION_HIP_ARCHITECTURES}")
  endif()
  set_source_files_properties(${PARHELION_ROOT}/src/device/gpu/host_gpus.cu PROPERTIES COMPILE_DEFINITIONS "PARHELION_GPU_CODE=\"${code}\"")
endfunction()

# What the room has for GPUs, for the stand-in: parhelion_<room>_standin.
function(parhelion_room_on_standin name)
  parhelion_sources(${name} of_host sources)
  set(kind INTERFACE)
  set(scope INTERFACE)
  if(sources)
    set(kernels ${sources})
    list(FILTER kernels INCLUDE REGEX "\\.cu$")
    parhelion_kernels_as_cxx(${kernels})
    list(FILTER sources EXCLUDE REGEX "\\.cu$")
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>") # as kernels, for the same reason
    list(APPEND sources ${kernels})
    set(kind STATIC)
    set(scope PUBLIC)
  endif()
  add_library(parhelion_${name}_standin ${kind} ${sources})
  parhelion_on_standin(depends ${ARGN})
  target_link_libraries(parhelion_${name}_standin ${scope} standin ${depends} parhelion_${name})
endfunction()

# Of these libraries, what the rooms have for the stand-in.
function(parhelion_on_standin result)
  set(found)
  foreach(library IN LISTS ARGN)
    if(library MATCHES "^parhelion_" AND TARGET ${library}_standin)
      list(APPEND found ${library}_standin)
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()
