// SPDX-License-Identifier: Apache-2.0
// The error that ended a process, as another one throws it again: its kind and text.
#pragma once

#include "comm/bootstraps/process_messages.hpp"

#include <exception>

namespace parhelion {

ProcessPacket packet_of(const std::exception_ptr& error);
[[noreturn]] void throw_error_of(const ProcessPacket& packet);

} // namespace parhelion
