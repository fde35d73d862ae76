# Finds LLVM and MLIR 22 and exposes them without their traps.
#
# * find_package is asked without a version: `find_package(MLIR 22)` rejects 22.1.8.
# * LLVM's include folder also holds libc++abi's cxxabi.h, which breaks every file that is built with exceptions. Only
#   the five folders that we use are linked into the build tree and put on the include path.
# * What is built links libMLIR.so and libLLVM.so; a target with the property TERRAZZO_STATIC_LLVM links the static archives
#   instead, down through all our libraries (see TerrazzoShared.cmake). Either way files are named: the exported targets of
#   the archives pull in the shared library too, and two copies of LLVM in a process do not know each other's passes.
set(TERRAZZO_LLVM_PREFIX "/usr/lib/llvm-22" CACHE PATH "Where LLVM and MLIR 22 are installed")
find_package(LLVM REQUIRED CONFIG HINTS "${TERRAZZO_LLVM_PREFIX}/lib/cmake/llvm" NO_DEFAULT_PATH)
find_package(MLIR REQUIRED CONFIG HINTS "${TERRAZZO_LLVM_PREFIX}/lib/cmake/mlir" NO_DEFAULT_PATH)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "LLVM 22 is needed, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()

set(TERRAZZO_LLVM_INCLUDE "${CMAKE_BINARY_DIR}/llvm-include")
file(MAKE_DIRECTORY "${TERRAZZO_LLVM_INCLUDE}")
foreach(folder llvm llvm-c mlir mlir-c lld)
  foreach(root "${LLVM_INCLUDE_DIRS}" "${MLIR_INCLUDE_DIRS}")
    list(GET root 0 root)
    if(EXISTS "${root}/${folder}" AND NOT EXISTS "${TERRAZZO_LLVM_INCLUDE}/${folder}")
      file(CREATE_LINK "${root}/${folder}" "${TERRAZZO_LLVM_INCLUDE}/${folder}" SYMBOLIC)
    endif()
  endforeach()
endforeach()

set(TERRAZZO_LLVM_LIB "${TERRAZZO_LLVM_PREFIX}/lib")
add_library(TerrazzoLLVM INTERFACE)
target_include_directories(TerrazzoLLVM SYSTEM INTERFACE "${TERRAZZO_LLVM_INCLUDE}")
set(static "$<BOOL:$<TARGET_PROPERTY:TERRAZZO_STATIC_LLVM>>")
target_link_libraries(TerrazzoLLVM INTERFACE "$<IF:${static},TerrazzoStaticLLVM,${TERRAZZO_LLVM_LIB}/libLLVM.so>")
add_library(TerrazzoMLIR INTERFACE)
target_link_libraries(TerrazzoMLIR INTERFACE "$<$<NOT:${static}>:${TERRAZZO_LLVM_LIB}/libMLIR.so>" TerrazzoLLVM)
# LLD as a library comes as archives only; TerrazzoStaticLLVM names them itself. It compresses sections, so needs these two.
find_library(TERRAZZO_ZLIB z REQUIRED)
find_library(TERRAZZO_ZSTD zstd REQUIRED)
add_library(TerrazzoLLD INTERFACE)
target_link_libraries(TerrazzoLLD INTERFACE
  "$<$<NOT:${static}>:${TERRAZZO_LLVM_LIB}/liblldELF.a;${TERRAZZO_LLVM_LIB}/liblldCommon.a>" TerrazzoLLVM
  "${TERRAZZO_ZLIB}" "${TERRAZZO_ZSTD}")

# mlir-tblgen rules. Only the tool is needed: AddMLIR's own helpers insist on the exported targets.
set(TERRAZZO_TBLGEN "${TERRAZZO_LLVM_PREFIX}/bin/mlir-tblgen")
function(terrazzo_tablegen target)
  # terrazzo_tablegen(Target SOURCE x.td OUT file -flag... [OUT file -flag...])
  cmake_parse_arguments(PARSE_ARGV 1 TG "" "SOURCE" "OUT")
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${TG_SOURCE}")
  set(outputs)
  set(pending ${TG_OUT})
  while(pending)
    list(POP_FRONT pending file)
    set(flags)
    while(pending)
      list(GET pending 0 next)
      if(NOT next MATCHES "^-")
        break()
      endif()
      list(APPEND flags "${next}")
      list(POP_FRONT pending)
    endwhile()
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${file}")
    add_custom_command(OUTPUT "${output}"
      COMMAND "${TERRAZZO_TBLGEN}" ${flags} "${source}" -I "${CMAKE_SOURCE_DIR}/include" -I "${TERRAZZO_LLVM_INCLUDE}"
              -o "${output}" -d "${output}.d" --write-if-changed
      DEPENDS "${source}" DEPFILE "${output}.d" COMMENT "TableGen ${file}" VERBATIM)
    list(APPEND outputs "${output}")
  endwhile()
  add_custom_target(${target} DEPENDS ${outputs})
  set_property(GLOBAL APPEND PROPERTY TERRAZZO_TABLEGEN_TARGETS ${target})
endfunction()
