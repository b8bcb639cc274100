# Runs an example and compares what it prints with the committed text:
#     cmake -DPROGRAM=… -DARGUMENT=… -DEXPECTED=… -P check_output.cmake
execute_process(COMMAND "${PROGRAM}" "${ARGUMENT}" OUTPUT_VARIABLE printed ERROR_VARIABLE errors RESULT_VARIABLE code)
file(READ "${EXPECTED}" expected)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit ${code}\n${printed}${errors}")
endif()
if(NOT printed STREQUAL expected)
    message(FATAL_ERROR "printed:\n${printed}\nexpected (${EXPECTED}):\n${expected}")
endif()
