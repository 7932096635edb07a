// SPDX-License-Identifier: Apache-2.0
#include "say.hpp"

namespace parhelion {

std::string printable(const std::string& text)
{
    std::string shown;
    shown.reserve(text.size());
    for (const char character : text)
    {
        const auto byte = static_cast<unsigned char>(character);
        const bool is_control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
        if (!shown.empty() && shown.back() == '\xc2' && byte >= 0x80 && byte < 0xa0) { shown.back() = '?'; }
        else { shown += is_control ? '?' : character; }
    }
    return shown;
}

} // namespace parhelion
