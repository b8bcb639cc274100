# What the scripts of this folder are written with.

# Each of these must be given by -D.
macro(need)
    foreach(variable IN ITEMS ${ARGN})
        if(NOT DEFINED ${variable})
            message(FATAL_ERROR "${variable} is not set")
        endif()
    endforeach()
endmacro()

# Runs a command that must succeed; what it prints becomes `printed`.
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
