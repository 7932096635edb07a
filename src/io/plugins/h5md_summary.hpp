// SPDX-License-Identifier: Apache-2.0
// Says what is in an H5MD file, be it of this program or of another one.
#pragma once

#include "io/plugins/h5md.h"

#include <string>

namespace parhelion::h5md {

// Reads steps, times and the last box, but no array of the atoms. Throws SystemFailure, ContentsFailure.
parhelion_h5md_summary summarise(const std::string& path);

} // namespace parhelion::h5md
