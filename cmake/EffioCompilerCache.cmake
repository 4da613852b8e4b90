# ccache where it is installed: what was compiled once is not compiled again.
# CMAKE_CXX_COMPILER_LAUNCHER (variable or environment) names another; -DEFFIO_CCACHE= goes without. Unless
# CCACHE_DIR says where, it stays in the checkout: building changes nothing outside.
find_program(EFFIO_CCACHE ccache DOC "Compiler cache")
mark_as_advanced(EFFIO_CCACHE)
if(EFFIO_CCACHE)
  # Precompiled headers are told apart by what they hold, not by their dates; paths are seen from the checkout.
  set(effio_ccache "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}")
  if(NOT DEFINED ENV{CCACHE_DIR})
    list(APPEND effio_ccache "CCACHE_DIR=${CMAKE_SOURCE_DIR}/.deps/ccache")
  endif()
  list(APPEND effio_ccache "${EFFIO_CCACHE}")
  foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${effio_ccache})
    endif()
  endforeach()
endif()
