# pnmf_test(<name> <sources>… [FIXTURES <names>…]): a GoogleTest program whose tests ctest lists one by one;
# the fixtures are ctest's, set up before.
# Tests know where the sources, the shared data (when present) and the program are.
include(GoogleTest)

function(pnmf_test name)
    cmake_parse_arguments(PARSE_ARGV 1 test "" "" "FIXTURES")
    add_executable(test_${name} ${test_UNPARSED_ARGUMENTS})
    target_link_libraries(test_${name} PRIVATE pnmf::pnmf pnmf_test_support GTest::gmock_main)
    pnmf_build_settings(test_${name})
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         PROPERTIES FIXTURES_REQUIRED "${test_FIXTURES}")
endfunction()

# Debian's Python, which has Debian's NumPy and AnnData; another python3 earlier in the PATH may not.
find_program(PNMF_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
