# build_info.hpp: what the program was built from and with, for the `run` line of every result.
find_package(Git QUIET)
set(effio_revision "unknown")
if(Git_FOUND AND EXISTS "${CMAKE_SOURCE_DIR}/.git")
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --tags
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE effio_revision
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" effio_type_upper)
set(effio_flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${effio_type_upper}}")
if(EFFIO_SANITIZE)
  string(APPEND effio_flags " -fsanitize=${EFFIO_SANITIZE}")
endif()
string(STRIP "${effio_flags}" effio_flags)
configure_file("${CMAKE_CURRENT_LIST_DIR}/build_info.hpp.in"
  "${CMAKE_BINARY_DIR}/generated/build_info.hpp" @ONLY)
