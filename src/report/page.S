// SPDX-License-Identifier: Apache-2.0
// Places style and script of the page into the program's read-only data.
        .section .rodata
        .global parhelion_page_css, parhelion_page_css_end, parhelion_page_js, parhelion_page_js_end
parhelion_page_css:
        .incbin "page.css"
parhelion_page_css_end:
parhelion_page_js:
        .incbin "page.js"
parhelion_page_js_end:
        .section .note.GNU-stack,"",%progbits
