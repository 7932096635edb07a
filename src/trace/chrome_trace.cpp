// SPDX-License-Identifier: Apache-2.0
#include "trace/chrome_trace.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <limits>

namespace parhelion {

namespace {

// Returns the name in quotation marks. Names are Parhelion's or a GPU's and have no control characters.
std::string quoted(const std::string& text)
{
    std::string json = "\"";
    for (const char c : text)
    {
        if (c == '"' || c == '\\') { json += '\\'; }
        json += c;
    }
    return json + '"';
}

std::string atoms_and_peers(const Timeline& timeline)
{
    std::string json;
    if (timeline.atoms > 0) { json += fmt::format(R"(,"atoms":{})", timeline.atoms); }
    if (!timeline.peers.empty()) { json += fmt::format(R"(,"peers":[{}])", fmt::join(timeline.peers, ",")); }
    return json;
}

std::uint64_t first_begin(std::span<const Timeline> timelines)
{
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    for (const Timeline& timeline : timelines)
    {
        for (const Timeline::Span& span : timeline.spans) { first = std::min(first, span.begin); }
    }
    return first;
}

// Writes events, one per line, separated by commas.
class Events
{
public:
    explicit Events(std::ostream& out) : out_(out) {}

    // more: further arguments, each behind a comma.
    void name(const char* kind, std::size_t process, std::size_t track, const std::string& name, const std::string& more = "")
    {
        begin() << fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}{}}}}})", kind, process, track,
                               quoted(name), more);
    }
    void span(std::size_t process, const Timeline& timeline, const Timeline::Span& s, std::uint64_t origin)
    {
        begin() << fmt::format(R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"step":{}}}}})",
                               quoted(timeline.names[s.name]), process, s.track, us(s.begin - origin), us(s.end - s.begin),
                               s.step);
    }

private:
    static double us(std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; }
    std::ostream& begin()
    {
        out_ << (any_ ? ",\n" : "\n");
        any_ = true;
        return out_;
    }
    std::ostream& out_;
    bool any_ = false;
};

} // namespace

void write_chrome_trace(const std::string& path, std::span<const Timeline> timelines)
{
    std::ofstream file(path);
    file << R"({"displayTimeUnit":"ns","traceEvents":[)";
    const std::uint64_t origin = first_begin(timelines);
    Events events(file);
    for (std::size_t process = 0; process < timelines.size(); ++process)
    {
        const Timeline& timeline = timelines[process];
        events.name("process_name", process, 0, timeline.process, atoms_and_peers(timeline));
        for (std::size_t t = 0; t < timeline.tracks.size(); ++t) { events.name("thread_name", process, t, timeline.tracks[t]); }
        for (const Timeline::Span& s : timeline.spans) { events.span(process, timeline, s, origin); }
    }
    file << "\n]}\n";
    file.close();
    if (!file) { throw SystemError(path + ": " + std::strerror(errno)); }
}

} // namespace parhelion
