// SPDX-License-Identifier: Apache-2.0
// `parhelion info`: shows the contents of a file.
#include "commands.hpp"
#include "report/file_info.hpp"
#include "say.hpp"

#include <fmt/format.h>

namespace parhelion {

void command_info(const InfoOptions& options)
{
    if (options.json) { fmt::print("{}", file_info(options.file, InfoStyle::Json)); }
    else { say(stdout, "{}", file_info(options.file, InfoStyle::Text)); }
}

} // namespace parhelion
