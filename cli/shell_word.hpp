// SPDX-License-Identifier: Apache-2.0
// Quotes a text so that a shell takes it as one word.
#pragma once

#include <string>

namespace parhelion {

// Returns the text unchanged if a shell takes it as one word, otherwise in quotation marks.
std::string shell_word(const std::string& text);

} // namespace parhelion
