# fmt and nlohmann-json: from EFFIO_HEADERS (a prefix with include/fmt and include/nlohmann) or the system,
# else a pinned release by FetchContent. FETCHCONTENT_SOURCE_DIR_FMT and …_JSON serve sites without network.
set(EFFIO_HEADERS "" CACHE PATH "Prefix with fmt and nlohmann-json headers")
# What users run carries fmt in itself. Test builds stay on this machine: linking its library instead of
# compiling fmt into every file saves a third of their build time.
option(EFFIO_FMT_LIBRARY "Link the library of fmt instead of using its headers only" OFF)

include(FetchContent)

# Headers alone, without package files: those beside them may name a library that is not there.
function(effio_plain_headers directory target)
  if(EFFIO_HEADERS AND EXISTS "${EFFIO_HEADERS}/include/${directory}")
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} INTERFACE "${EFFIO_HEADERS}/include")
  endif()
endfunction()
effio_plain_headers(fmt fmt::fmt-header-only)
effio_plain_headers(nlohmann nlohmann_json::nlohmann_json)

if(TARGET fmt::fmt-header-only)
  target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
else()
  find_package(fmt 9 QUIET)
  if(NOT fmt_FOUND)
    message(STATUS "fmt is not on this system: fetching release 9.1.0")
    FetchContent_Declare(fmt GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 9.1.0
      GIT_SHALLOW TRUE SYSTEM)
    FetchContent_MakeAvailable(fmt)
  endif()
endif()
add_library(effio_fmt INTERFACE)
if(EFFIO_FMT_LIBRARY AND TARGET fmt::fmt)
  target_link_libraries(effio_fmt INTERFACE fmt::fmt)
else()
  target_link_libraries(effio_fmt INTERFACE fmt::fmt-header-only)
endif()

if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json 3.9 QUIET)
  if(NOT nlohmann_json_FOUND)
    message(STATUS "nlohmann-json is not on this system: fetching release 3.11.2")
    FetchContent_Declare(json GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.2
      GIT_SHALLOW TRUE SYSTEM)
    FetchContent_MakeAvailable(json)
  endif()
endif()

find_package(Threads REQUIRED)
