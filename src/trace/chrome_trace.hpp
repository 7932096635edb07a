// SPDX-License-Identifier: Apache-2.0
// Timelines as a file for Perfetto (https://ui.perfetto.dev) or chrome://tracing: the JSON trace event format. A timeline is a
// process there, a track a thread, a span a complete event whose argument is the step. Cost: some 90 bytes a span.
#pragma once

#include "trace/timeline.hpp"

namespace parhelion {

// Times count from the first span of all. Throws SystemError.
void write_chrome_trace(const std::string& path, std::span<const Timeline> timelines);

} // namespace parhelion
