# The style as tests: tidy (house rules), format (clang-format). `lint` (clang-tidy) is a target of its own,
# because it takes longer than everything else together.
find_program(SY_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(SY_CLANG_FORMAT clang-format-19)
find_program(SY_CLANG_TIDY NAMES run-clang-tidy-19 run-clang-tidy)

if(BUILD_TESTING AND SY_PYTHON)
  add_test(NAME tidy COMMAND ${SY_PYTHON} ${CMAKE_SOURCE_DIR}/tools/tidy.py ${CMAKE_SOURCE_DIR})
  add_test(NAME tidy.rules COMMAND ${SY_PYTHON} ${CMAKE_SOURCE_DIR}/tools/tidy_test.py)
  set_tests_properties(tidy tidy.rules PROPERTIES LABELS "fast;style" TIMEOUT 600)
endif()
if(BUILD_TESTING AND SY_CLANG_FORMAT)
  add_test(NAME format COMMAND ${CMAKE_SOURCE_DIR}/tools/format --check)
  set_tests_properties(format PROPERTIES LABELS "fast;style" TIMEOUT 600)
endif()
if(SY_CLANG_TIDY)
  add_custom_target(lint
    COMMAND ${SY_CLANG_TIDY} -quiet -p ${CMAKE_BINARY_DIR} "${CMAKE_SOURCE_DIR}/(src|sim)/.*\\.cpp"
    USES_TERMINAL VERBATIM)
endif()
