// SPDX-License-Identifier: Apache-2.0
#include "report/page_frame.hpp"

#include "report/html.hpp"
#include "run/version.hpp"

#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <string_view>

extern "C" const char parhelion_page_css[], parhelion_page_css_end[], parhelion_page_js[], parhelion_page_js_end[];

namespace parhelion {

namespace {

std::string_view text_between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

} // namespace

std::string whole_page(const std::string& title, const std::string& body)
{
    const std::string_view css = text_between(parhelion_page_css, parhelion_page_css_end),
                           js = text_between(parhelion_page_js, parhelion_page_js_end);
    std::string page = fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src "
        "'unsafe-inline'\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body><main>\n",
        escaped(title), css);
    page += body;
    page += fmt::format("<footer>Made {:%Y-%m-%d %H:%M} UTC by {}.</footer>\n</main>\n<script>\n{}</script>\n</body>\n</html>\n",
                        fmt::gmtime(std::time(nullptr)), escaped(version_text()), js);
    return page;
}

} // namespace parhelion
