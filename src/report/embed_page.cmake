# Writes a C++ file that holds a text: cmake -DINPUT=page.html -DOUTPUT=page.cpp -P embed_page.cmake
# In pieces, because a compiler need not take string literals of more than 65536 characters.
file(READ "${INPUT}" text)
string(LENGTH "${text}" length)
set(pieces "")
set(from 0)
while(from LESS length)
    string(SUBSTRING "${text}" ${from} 16000 piece)
    string(APPEND pieces "    R\"PNMFPAGE(${piece})PNMFPAGE\",\n")
    math(EXPR from "${from} + 16000")
endwhile()
file(
    WRITE "${OUTPUT}"
    "#include \"report/page.hpp\"\n\nnamespace pnmf::report {\nnamespace {\n\nconst char* const pieces[] = {\n"
    "${pieces}};\n\n} // namespace\n\nstd::string page_text() {\n    std::string text;\n"
    "    for (const char* piece : pieces) {\n        text += piece;\n    }\n    return text;\n}\n\n"
    "} // namespace pnmf::report\n")
