# SPDX-License-Identifier: Apache-2.0
# Kernels for AMD GPUs: the .cu files of the rooms, compiled by clang as HIP. Objects alone; no program is linked from them yet.
# Included by CMakeLists.txt with -DPARHELION_HIP=ON.
set(PARHELION_HIP_ARCHITECTURES gfx90a CACHE STRING "AMD's architectures, such as gfx90a;gfx942")
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR "PARHELION_HIP takes clang 19 or newer: cmake --preset hip")
endif()
find_path(PARHELION_HIP_HEADERS hip/hip_runtime.h REQUIRED)
find_path(PARHELION_HIP_BITCODE ocml.bc PATHS /usr/lib /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /opt/rocm PATH_SUFFIXES amdgcn/bitcode REQUIRED)

# The device library: the installed one, and for each architecture that it does not know the one file that it lacks. That file
# holds a number, the architecture's, of which clang uses nothing but that it is there and which few functions look at.
set(bitcode ${CMAKE_BINARY_DIR}/hip-bitcode)
file(MAKE_DIRECTORY ${bitcode})
file(GLOB installed ${PARHELION_HIP_BITCODE}/*.bc)
foreach(file IN LISTS installed)
  get_filename_component(name ${file} NAME)
  file(CREATE_LINK ${file} ${bitcode}/${name} SYMBOLIC)
endforeach()
set(number_gfx942 9402)
foreach(architecture IN LISTS PARHELION_HIP_ARCHITECTURES)
  string(REPLACE gfx "" suffix ${architecture})
  set(file ${bitcode}/oclc_isa_version_${suffix}.bc)
  if(EXISTS ${file})
    continue()
  endif()
  if(NOT number_${architecture})
    message(FATAL_ERROR "The device library in ${PARHELION_HIP_BITCODE} has nothing for ${architecture}.")
  endif()
  file(WRITE ${bitcode}/${architecture}.cl "extern const __constant int __oclc_ISA_version;\nconst __constant int __oclc_ISA_version = ${number_${architecture}};\n")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -x cl -nogpulib --target=amdgcn-amd-amdhsa -emit-llvm -c ${bitcode}/${architecture}.cl -o ${file}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Not a warning: that a loop is not unrolled, which a pragma recommends for NVIDIA's GPUs.
set(hip_options -x hip -Wno-pass-failed --rocm-path=/usr --rocm-device-lib-path=${bitcode})
foreach(architecture IN LISTS PARHELION_HIP_ARCHITECTURES)
  list(APPEND hip_options --offload-arch=${architecture})
endforeach()
add_custom_target(hip_objects)

# What the room has for GPUs, as objects: parhelion_<room>_hip.
function(parhelion_room_for_hip name)
  parhelion_sources(${name} of_host sources)
  list(REMOVE_ITEM sources ${PARHELION_ROOT}/src/interactions/mesh/gpu/fft/fft_gpu.cu) # cuFFT's; AMD's hipFFT is in no package
  if(NOT sources)
    return()
  endif()
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "${hip_options}")
  add_library(parhelion_${name}_hip OBJECT ${sources})
  target_include_directories(parhelion_${name}_hip SYSTEM PRIVATE ${PARHELION_HIP_HEADERS})
  target_compile_definitions(parhelion_${name}_hip PRIVATE PARHELION_HIP)
  target_link_libraries(parhelion_${name}_hip PRIVATE parhelion_options)
  add_dependencies(hip_objects parhelion_${name}_hip)
endfunction()
