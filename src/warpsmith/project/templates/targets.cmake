# `cmake -DWARPSMITH=ON` builds the project with its ported loops on the GPU; without it nothing changes.
option(WARPSMITH "Run the ported loops on the GPU" OFF)
if(WARPSMITH)
  find_program(WARPSMITH_NVCC nvcc)
  if(NOT WARPSMITH_NVCC)
    message(FATAL_ERROR "WARPSMITH needs nvcc: name it with -DWARPSMITH_NVCC=/path/to/nvcc")
  endif()
  set(WARPSMITH_NVCCFLAGS -O3 CACHE STRING "Options for nvcc")
  set(WARPSMITH_LIBRARY "${CMAKE_BINARY_DIR}/@library@")
  file(GLOB WARPSMITH_KERNELS CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.cu")
  add_custom_command(OUTPUT "${WARPSMITH_LIBRARY}"
    COMMAND "${WARPSMITH_NVCC}" ${WARPSMITH_NVCCFLAGS} -shared -Xcompiler -fPIC -o "${WARPSMITH_LIBRARY}"
      ${WARPSMITH_KERNELS}
    DEPENDS ${WARPSMITH_KERNELS} VERBATIM)
  add_custom_target(warpsmith_library DEPENDS "${WARPSMITH_LIBRARY}")
  foreach(target @targets@)
    add_dependencies(${target} warpsmith_library)
    set_property(TARGET ${target} APPEND PROPERTY COMPILE_DEFINITIONS WARPSMITH)
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES "${WARPSMITH_LIBRARY}")
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES "${WARPSMITH_LIBRARY}")
  endforeach()
endif()
