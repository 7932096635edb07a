// SPDX-License-Identifier: Apache-2.0
#include "io/output/xdr.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parhelion {

std::span<const std::byte> XdrReader::get_opaque(std::size_t count)
{
    if (count > bytes_left()) { damaged("the file ends within a frame,"); }
    const auto opaque = bytes_.subspan(position_, count);
    position_ = std::min(bytes_.size(), position_ + (count + 3) / 4 * 4);
    return opaque;
}

void XdrReader::damaged(std::string_view problem) const
{
    throw InputError("E182", {name_, 0},
                     fmt::format("{} before byte {} (nothing from there on can be trusted). Use an intact copy of the file.",
                                 problem, position_));
}

} // namespace parhelion
