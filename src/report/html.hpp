// SPDX-License-Identifier: Apache-2.0
// Text for an HTML page. Text from input files (titles, names of groups) is never interpreted as markup.
#pragma once

#include <string>
#include <string_view>

namespace parhelion {

// Returns `text` with markup escaped. Invalid UTF-8 and control characters become U+FFFD.
std::string escaped(std::string_view text);

// Returns, for example, "299.52 ± 0.82", with as many digits as the error makes meaningful.
// If the error is NaN, only the value is shown. A value that is NaN becomes "-".
std::string value_text(double mean, double error);
// Returns the value with six digits, or "-" for NaN.
std::string short_text(double value);

} // namespace parhelion
