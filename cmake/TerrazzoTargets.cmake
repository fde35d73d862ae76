# One function a kind of target, so that flags, precompiled header and include rules are said once.

set(TERRAZZO_WARNINGS -Wall -Wextra -Wno-unused-parameter)

# The precompiled header: parses MLIR once. `-fpch-instantiate-templates` also instantiates its templates once, which
# takes a typical pass from 11 s to under 1 s.
add_library(TerrazzoPCH OBJECT "${CMAKE_SOURCE_DIR}/cmake/pch.cpp")
target_link_libraries(TerrazzoPCH PRIVATE TerrazzoMLIR)
target_compile_options(TerrazzoPCH PRIVATE -fno-exceptions -fno-rtti ${TERRAZZO_WARNINGS})
target_precompile_headers(TerrazzoPCH PRIVATE "${CMAKE_SOURCE_DIR}/cmake/pch.h")
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(TerrazzoPCH PRIVATE -fpch-instantiate-templates)
endif()

function(_terrazzo_common target)
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include")
  target_compile_options(${target} PRIVATE ${TERRAZZO_WARNINGS})
endfunction()

# terrazzo_mlir_library(Name SOURCES ... LINK ... DEPENDS ...): code that uses MLIR.
function(terrazzo_mlir_library name)
  cmake_parse_arguments(PARSE_ARGV 1 LIB "" "" "SOURCES;LINK;DEPENDS")
  add_library(${name} STATIC ${LIB_SOURCES})
  _terrazzo_common(${name})
  target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti)
  target_precompile_headers(${name} REUSE_FROM TerrazzoPCH)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${name} PRIVATE -fpch-instantiate-templates)
  endif()
  target_link_libraries(${name} PUBLIC TerrazzoMLIR ${LIB_LINK})
  if(LIB_DEPENDS)
    add_dependencies(${name} ${LIB_DEPENDS})
  endif()
endfunction()

# terrazzo_library(Name SOURCES ... LINK ...): code that does not (Support, Layout, Runtime). Exceptions are on: the
# runtime reports errors by them.
function(terrazzo_library name)
  cmake_parse_arguments(PARSE_ARGV 1 LIB "" "" "SOURCES;LINK")
  add_library(${name} STATIC ${LIB_SOURCES})
  _terrazzo_common(${name})
  target_link_libraries(${name} PUBLIC ${LIB_LINK})
endfunction()

# terrazzo_tool(name SOURCES ... LINK ...): a command-line tool over MLIR.
function(terrazzo_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 TOOL "" "" "SOURCES;LINK")
  add_executable(${name} ${TOOL_SOURCES})
  _terrazzo_common(${name})
  # -fPIC, not CMake's -fPIE for programs: the precompiled header is shared with the libraries.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC -fno-exceptions -fno-rtti)
  target_precompile_headers(${name} REUSE_FROM TerrazzoPCH)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${name} PRIVATE -fpch-instantiate-templates)
  endif()
  target_link_libraries(${name} PRIVATE TerrazzoMLIR ${TOOL_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
