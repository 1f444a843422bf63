# The report's page as text inside the program: its skeleton, style and scripts, and the plotting library they draw with.
set(page ${CMAKE_SOURCE_DIR}/src/report/page)
# In this order: each uses only those before it.
set(page_scripts
    data.js text.js table.js chart.js controls.js
    summary.js distribution.js by_size.js heat_maps.js roofline.js history.js comparison.js tables.js shape_list.js patterns.js shape_page.js
    live.js main.js)
list(TRANSFORM page_scripts PREPEND ${page}/)
set(page_library ${CMAKE_SOURCE_DIR}/third_party/d3/d3.min.js)
set(page_licence ${CMAKE_SOURCE_DIR}/third_party/d3/LICENSE)
set(GEMMSMITH_REPORT_PAGE_CC ${CMAKE_BINARY_DIR}/generated/report_page.cc)
add_custom_command(
  OUTPUT ${GEMMSMITH_REPORT_PAGE_CC}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${GEMMSMITH_REPORT_PAGE_CC} -DSKELETON=${page}/page.html -DSTYLE=${page}/page.css
          -DLIBRARY=${page_library} -DLICENCE=${page_licence} "-DSCRIPTS=${page_scripts}"
          -P ${CMAKE_SOURCE_DIR}/cmake/EmbedReportPage.cmake
  DEPENDS ${page}/page.html ${page}/page.css ${page_library} ${page_licence} ${page_scripts}
          ${CMAKE_SOURCE_DIR}/cmake/EmbedReportPage.cmake
  VERBATIM)
