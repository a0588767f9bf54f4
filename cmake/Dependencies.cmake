# Third-party libraries, linked statically: only glibc stays dynamic, so that one file installs a node.
find_package(Protobuf REQUIRED)
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)

function(sy_static_library target archive)
  find_library(SY_LIB_${target} NAMES ${archive} REQUIRED)
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE ${SY_LIB_${target}} ${ARGN})
endfunction()

sy_static_library(dep_protobuf libprotobuf-lite.a Threads::Threads)
sy_static_library(dep_sqlite libsqlite3.a m)
sy_static_library(dep_crypto libcrypto.a)
sy_static_library(dep_ssl libssl.a dep_crypto)
sy_static_library(dep_hwloc libhwloc.a m)
