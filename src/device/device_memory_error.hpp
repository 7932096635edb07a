// SPDX-License-Identifier: Apache-2.0
// The error of a GPU that has too little memory left, for callers that can wait until others have freed some.
#pragma once

#include "base/error.hpp"

namespace parhelion {

// A GPU, or the host memory that it addresses, has too little memory left. What was allocated for the attempt is free again.
class DeviceMemoryError : public DeviceError
{
    using DeviceError::DeviceError;
};

} // namespace parhelion
