# pnmf_test(<name> <sources>… [FIXTURES <names>…]): a GoogleTest program whose tests ctest lists one by one;
# the fixtures are ctest's, set up before.
# Tests know where the sources, the shared data (when present) and the program are.
include(GoogleTest)

# Half of a test's compile time is optimisation that it does not need: what is tested is in the library.
function(pnmf_test_settings target)
    target_compile_options(${target} PRIVATE -O1)
    # Precompiled headers are made and used with the same flags, and those of a library and a program differ here.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endfunction()

# The objects of a test that the build PNMF_TESTS_FROM has compiled; none where it has not.
function(pnmf_ready_objects name result)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE folder)
    cmake_path(ABSOLUTE_PATH PNMF_TESTS_FROM BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE from)
    file(GLOB_RECURSE objects CONFIGURE_DEPENDS "${from}/${folder}/CMakeFiles/${name}.dir/*.o")
    set(${result} ${objects} PARENT_SCOPE)
endfunction()

function(pnmf_test name)
    cmake_parse_arguments(PARSE_ARGV 1 test "" "" "FIXTURES")
    set(ready "")
    if(PNMF_TESTS_FROM)
        pnmf_ready_objects(test_${name} ready)
    endif()
    if(ready)
        add_executable(test_${name} ${ready})
        set_target_properties(test_${name} PROPERTIES LINKER_LANGUAGE CXX)
    else()
        add_executable(test_${name} ${test_UNPARSED_ARGUMENTS})
        target_precompile_headers(test_${name} REUSE_FROM pnmf_test_support)
        target_include_directories(test_${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    endif()
    target_link_libraries(test_${name} PRIVATE pnmf::pnmf pnmf_test_support GTest::gmock_main)
    pnmf_build_settings(test_${name})
    pnmf_test_settings(test_${name})
    pnmf_compile_units(test_${name})
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         PROPERTIES FIXTURES_REQUIRED "${test_FIXTURES}")
endfunction()

# Debian's Python, which has Debian's NumPy and AnnData; another python3 earlier in the PATH may not.
find_program(PNMF_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
