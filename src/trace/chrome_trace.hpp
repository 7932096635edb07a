// SPDX-License-Identifier: Apache-2.0
// Writes timelines to a file for Perfetto (https://ui.perfetto.dev) or chrome://tracing, in the JSON trace event format. A
// timeline becomes a process, a track a thread, and a span a complete event with its step as argument. Cost: 90 bytes a span.
//
// An event is a line, and the events that name processes and tracks come before their spans: analysis/trace.hpp reads the file
// so. What a timeline knows of its atoms and peers is in the arguments of its process' name, as "atoms": 1500, "peers": [1, 3];
// viewers pass over it, and a reader must not need it.
#pragma once

#include "trace/timeline.hpp"

namespace parhelion {

// Writes the file. Times count from the begin of the first span. Throws SystemError.
void write_chrome_trace(const std::string& path, std::span<const Timeline> timelines);

} // namespace parhelion
