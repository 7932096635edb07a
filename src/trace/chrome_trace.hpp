// SPDX-License-Identifier: Apache-2.0
// Writes timelines to a file for Perfetto (https://ui.perfetto.dev) or chrome://tracing, in the JSON trace event format. A
// timeline becomes a process, a track a thread, and a span a complete event with its step as argument. Cost: 90 bytes a span.
//
// An event is a line, and the events that name processes and tracks come before their spans: analysis/trace.hpp reads the file
// so. A timeline's atoms and peers, if known, are arguments of the event that names its process: "atoms": 1500, "peers": [1, 3].
// Viewers ignore these arguments, and a reader must also accept a file without them.
#pragma once

#include "trace/timeline.hpp"

namespace parhelion {

// Writes the file. Times count from the begin of the first span. Throws SystemError.
void write_chrome_trace(const std::string& path, std::span<const Timeline> timelines);

} // namespace parhelion
