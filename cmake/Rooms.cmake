# One static library per room of src/, with the unit tests that stand beside its code.
#
#   sy_room(model DEPENDS base)        in src/model/CMakeLists.txt
#
# takes every *.cpp of the folder (and the SUBFOLDERS named), except *_test.cpp, which become the
# test program model_test. What a room may depend on is the list after DEPENDS; tools/tidy.py
# holds the includes to the same lines.
function(sy_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;SUBFOLDERS" ${ARGN})
  set(sources)
  set(tests)
  foreach(folder . ${ROOM_SUBFOLDERS})
    file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name} PUBLIC ${ROOM_DEPENDS})
    # libstdc++'s <iostream>, which protobuf's headers include and nobody uses, is as good as read: it would put something to be
    # done into every file, for each start and each end of a command (src/start).
    target_compile_definitions(${name} PRIVATE _GLIBCXX_IOSTREAM)
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name} INTERFACE ${ROOM_DEPENDS})
  endif()

  if(tests AND BUILD_TESTING)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name} GTest::gmock GTest::gtest_main)
    add_test(NAME unit.${name} COMMAND ${name}_test)
    set_tests_properties(unit.${name} PROPERTIES LABELS fast TIMEOUT 600)
  endif()
endfunction()
