# Installs a build under a fresh prefix, moves the prefix, then configures, builds and runs the consumer against it.
# cmake -DBUILD_DIR=… -DCONSUMER_DIR=… -DWORK_DIR=… -DCOMPILER=… -DVERSION=… -P install_and_consume.cmake
foreach(variable IN ITEMS BUILD_DIR CONSUMER_DIR WORK_DIR COMPILER VERSION)
    if(NOT DEFINED ${variable})
        message(FATAL_ERROR "${variable} is not set")
    endif()
endforeach()

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT code EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}\nexit ${code}\n${out}\n${err}")
    endif()
    set(printed "${out}" PARENT_SCOPE)
endfunction()

function(expect found expected what)
    if(NOT "${found}" STREQUAL "${expected}")
        message(FATAL_ERROR "${what}: expected\n${expected}\nfound\n${found}")
    endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/first")
file(RENAME "${WORK_DIR}/first" "${WORK_DIR}/prefix") # an installed package must not know where it was installed

run("${WORK_DIR}/prefix/bin/pnmf" --version)
string(REGEX REPLACE "\n.*" "\n" printed "${printed}") # the second line names the library of the matrix products
expect("${printed}" "pnmf ${VERSION}\n" "the installed program's version")

run("${CMAKE_COMMAND}" -G Ninja -S "${CONSUMER_DIR}" -B "${WORK_DIR}/consumer" "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Debug)
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/consumer")
run("${WORK_DIR}/consumer/consumer")
file(READ "${CONSUMER_DIR}/expected.txt" expected)
expect("${printed}" "${expected}" "what the consumer prints")
