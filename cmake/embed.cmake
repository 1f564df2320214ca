# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a source that holds the page's files (src/ui/page.h). Run by `cmake -P` with FOLDER and
# OTHERS, files from elsewhere.
file(GLOB files LIST_DIRECTORIES false ${FOLDER}/*)
list(SORT files)
list(APPEND files ${OTHERS})
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  get_filename_component(extension ${file} LAST_EXT)
  set(type_.html "text/html; charset=utf-8")
  set(type_.css "text/css; charset=utf-8")
  set(type_.js "text/javascript; charset=utf-8")
  set(type_.md "text/markdown; charset=utf-8")
  set(type_.svg "image/svg+xml")
  if(NOT DEFINED type_${extension})
    message(FATAL_ERROR "${file}: no media type is known for ${extension}")
  endif()
  file(READ ${file} text)
  string(FIND "${text}" ")page\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file}: holds what ends its literal")
  endif()
  string(APPEND rows "    {\"/${name}\", \"${type_${extension}}\", R\"page(${text})page\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/embed.cmake.
#include \"src/ui/page.h\"

namespace berth::ui {

std::span<const PageFile> PageFiles() {
  static constexpr PageFile kFiles[] = {
${rows}  };
  return kFiles;
}

}  // namespace berth::ui
")
