# fmt and nlohmann-json: from EFFIO_HEADERS (a prefix with include/fmt and include/nlohmann) or the system,
# else a pinned release by FetchContent. FETCHCONTENT_SOURCE_DIR_FMT and …_JSON serve sites without network.
set(EFFIO_HEADERS "" CACHE PATH "Prefix with fmt and nlohmann-json headers")
include(FetchContent)

# Headers alone, without package files: those paired them may name a library that is not there.
function(effio_plain_headers directory target)
  if(EFFIO_HEADERS AND EXISTS "${EFFIO_HEADERS}/include/${directory}")
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} INTERFACE "${EFFIO_HEADERS}/include")
  endif()
endfunction()
effio_plain_headers(fmt fmt::fmt-header-only)
effio_plain_headers(nlohmann nlohmann_json::nlohmann_json)

if(NOT TARGET fmt::fmt-header-only)
  find_package(fmt 9 QUIET)
  if(NOT fmt_FOUND)
    message(STATUS "fmt is not on this system: fetching release 9.1.0")
    FetchContent_Declare(fmt GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 9.1.0
      GIT_SHALLOW TRUE SYSTEM)
    FetchContent_MakeAvailable(fmt)
    set_target_properties(fmt PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()
# The code of fmt, compiled once from its headers, wherever they come from: in every file of ours it would
# be most of what the compiler has to do, and a shared library is one more thing that a node may lack.
get_target_property(effio_fmt_headers fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
if(EFFIO_ROOMS_OF)
  add_library(effio_fmt STATIC IMPORTED GLOBAL)
  set_target_properties(effio_fmt PROPERTIES IMPORTED_LOCATION "${EFFIO_ROOMS_OF}/libeffio_fmt.a")
  target_include_directories(effio_fmt SYSTEM INTERFACE ${effio_fmt_headers})
else()
  add_library(effio_fmt STATIC "${CMAKE_CURRENT_LIST_DIR}/fmt_library.cpp")
  target_include_directories(effio_fmt SYSTEM PUBLIC ${effio_fmt_headers})
  target_link_libraries(effio_fmt PRIVATE effio_options)
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
