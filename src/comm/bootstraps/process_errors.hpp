// SPDX-License-Identifier: Apache-2.0
// Converts the error that ended a process to a packet with its kind and text, from which another process can throw the error.
#pragma once

#include "comm/bootstraps/process_messages.hpp"

#include <exception>

namespace parhelion {

ProcessPacket packet_of(const std::exception_ptr& error);
[[noreturn]] void throw_error_of(const ProcessPacket& packet);

} // namespace parhelion
