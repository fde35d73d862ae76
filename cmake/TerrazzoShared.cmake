# The redistributable library: `ninja terrazzo-shared` links libterrazzo.so, which holds the compiler, the runtime and the
# parts of LLVM, MLIR and LLD that they use, and needs nothing but libc, libm, libz and libzstd. It exports C functions
# alone, so that it lives in one process with any other copy of LLVM. `make bundle` packs it.

# The code generators that are linked. LLD calls the initialisers of every target that LLVM was built with.
set(TERRAZZO_SHARED_TARGETS X86 NVPTX AMDGPU)

# All archives by file name, less those of other targets and of tests; the linker takes what is referred to.
file(GLOB archives "${TERRAZZO_LLVM_LIB}/libMLIR*.a" "${TERRAZZO_LLVM_LIB}/libLLVM*.a"
     "${TERRAZZO_LLVM_LIB}/liblldELF.a" "${TERRAZZO_LLVM_LIB}/liblldCommon.a")
list(FILTER archives EXCLUDE REGEX "/lib(MLIR.*Test|LLVMBOLT|LLVMExegesis)")
set(other_targets ${LLVM_TARGETS_TO_BUILD})
list(REMOVE_ITEM other_targets ${TERRAZZO_SHARED_TARGETS})
foreach(target ${other_targets})
  list(FILTER archives EXCLUDE REGEX "/libLLVM${target}(AsmParser|CodeGen|Desc|Disassembler|Info|Utils|Analysis|TargetMCA)\\.a$")
endforeach()
add_library(TerrazzoStaticLLVM INTERFACE)
target_link_libraries(TerrazzoStaticLLVM INTERFACE ${archives} "${TERRAZZO_ZLIB}" "${TERRAZZO_ZSTD}")

set(empty [[
// Generated: what LLVM and LLD refer to and libterrazzo leaves out: initialisers of other targets, and Polly, which LLD's
// link-time optimiser would add to its passes.
#include "llvm/Plugins/PassPlugin.h"
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "none", [](llvm::PassBuilder &) {}, nullptr};
}
extern "C" {
// The initialiser of llvm::parallel::threadIndex, which needs none: a reference that is left open would be bound to that of
// another copy of LLVM.
void _ZTHN4llvm8parallel11threadIndexE() {}
]])
foreach(target ${other_targets})
  foreach(part Target TargetInfo TargetMC AsmPrinter AsmParser)
    string(APPEND empty "void LLVMInitialize${target}${part}() {}\n")
  endforeach()
endforeach()
string(APPEND empty "}\n")
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/shared/LeftOut.cpp" CONTENT "${empty}" @ONLY)
add_library(TerrazzoLeftOut STATIC "${CMAKE_BINARY_DIR}/shared/LeftOut.cpp")
target_include_directories(TerrazzoLeftOut SYSTEM PRIVATE "${TERRAZZO_LLVM_INCLUDE}")
target_compile_options(TerrazzoLeftOut PRIVATE -fno-exceptions -fno-rtti)
target_link_libraries(TerrazzoStaticLLVM INTERFACE TerrazzoLeftOut)

# Settings of a target that links LLVM's archives.
function(terrazzo_static_llvm target)
  set_target_properties(${target} PROPERTIES TERRAZZO_STATIC_LLVM ON)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:--gc-sections LINKER:--strip-all)
endfunction()

if(NOT TARGET _terrazzo)
  return()
endif()

# What is exported: our C API, and those functions of MLIR's that the Python binding calls, read off its objects.
set(exports "${CMAKE_BINARY_DIR}/shared/exports")
file(GLOB c_headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/include/terrazzo-c/*.h")
add_custom_command(OUTPUT "${exports}.map" "${exports}.rsp"
  COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${exports}" "-DHEADERS=${c_headers}" "-DOBJECTS=$<TARGET_OBJECTS:_terrazzo>"
          "-DNM=${LLVM_TOOLS_BINARY_DIR}/llvm-nm" -P "${CMAKE_SOURCE_DIR}/cmake/Exports.cmake"
  DEPENDS ${c_headers} "$<TARGET_OBJECTS:_terrazzo>" "${CMAKE_SOURCE_DIR}/cmake/Exports.cmake"
  COMMENT "Exports of libterrazzo" VERBATIM)
add_custom_target(TerrazzoExports DEPENDS "${exports}.map" "${exports}.rsp")

# Part of builds with tests, because a test of `make test` looks at it.
add_library(terrazzo-shared SHARED $<TARGET_OBJECTS:TerrazzoLeftOut>)
if(NOT TERRAZZO_ENABLE_TESTS)
  set_target_properties(terrazzo-shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
terrazzo_static_llvm(terrazzo-shared)
add_dependencies(terrazzo-shared TerrazzoExports)
target_link_libraries(terrazzo-shared PRIVATE TerrazzoCAPI TerrazzoCAPIRuntime TerrazzoMLIR)
target_link_options(terrazzo-shared PRIVATE "@${exports}.rsp" LINKER:--version-script=${exports}.map)
# (A sanitizer's functions come from the program that loads the library.)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_link_options(terrazzo-shared PRIVATE LINKER:--no-undefined)
endif()
set_target_properties(terrazzo-shared PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME terrazzo
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/shared" LINK_DEPENDS "${exports}.map;${exports}.rsp")

# How an installation compiles the binding against its own Python.
file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/shared/bindings.json" CONTENT [[{
  "sources": ["$<JOIN:$<TARGET_PROPERTY:_terrazzo,SOURCES>,", ">"]
}
]])

# What `make bundle` packs.
add_custom_target(bundle-files DEPENDS terrazzo-shared)
