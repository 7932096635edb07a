// SPDX-License-Identifier: Apache-2.0
// Reads a timeline line by line; each line is an event. A span in exactly the form of write_chrome_trace() is parsed without
// the JSON reader, as a trace of eight GPUs has millions of spans. Other lines go to the JSON reader, which describes errors.
#include "analysis/trace.hpp"

#include "base/error.hpp"
#include "io/input/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace parhelion {

namespace {

using Json = nlohmann::json;

constexpr std::size_t most_names = 1024;                     // a run has some hundred kernels; a table has all pairs of names
constexpr std::int64_t largest_step = std::int64_t{1} << 60; // limit of step numbers, so that adding 1 cannot overflow
constexpr double longest_us = 1e12;                          // us, eleven days: exact in whole ns as a double, and in 64-bit sums

// A complete event of the file.
struct RawSpan
{
    std::string_view name;
    std::size_t process = 0, track = 0;
    double ts = 0, dur = 0; // us
    std::int64_t step = 0;
};

enum class TrackKind : std::uint8_t
{
    Other, // tracks that are not analysed
    Phases,
    Kernels,
    Blocks
};

struct Track
{
    TrackKind kind = TrackKind::Other;
    Phase phase = Phase::Output;      // phase of the track's kernels; only for tracks of kernels
    std::uint16_t multiprocessor = 0; // multiprocessor of the track; only for tracks of blocks
};

std::optional<Phase> phase_named(std::string_view name)
{
    const auto at = std::find(phase_names.begin(), phase_names.end(), name);
    if (at == phase_names.end()) { return std::nullopt; }
    return static_cast<Phase>(at - phase_names.begin());
}

// If the line begins with `word`, removes it from the line. Otherwise returns false.
bool take(std::string_view& line, std::string_view word)
{
    if (!line.starts_with(word)) { return false; }
    line.remove_prefix(word.size());
    return true;
}

template <class Number>
bool take_number(std::string_view& line, Number& value)
{
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc()) { return false; }
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    return true;
}

// Parses a line. Returns false if the line is not a span, or not in exactly the form of write_chrome_trace().
bool scan_span(std::string_view line, RawSpan& span)
{
    if (!take(line, R"({"ph":"X","name":")")) { return false; }
    const std::size_t end = line.find('"');
    if (end == std::string_view::npos) { return false; }
    span.name = line.substr(0, end);
    if (span.name.find('\\') != std::string_view::npos) { return false; }
    line.remove_prefix(end + 1);
    return take(line, R"(,"pid":)") && take_number(line, span.process) && take(line, R"(,"tid":)") &&
           take_number(line, span.track) && take(line, R"(,"ts":)") && take_number(line, span.ts) && take(line, R"(,"dur":)") &&
           take_number(line, span.dur) && take(line, R"(,"args":{"step":)") && take_number(line, span.step) && line == "}}";
}

class Reader
{
public:
    explicit Reader(const std::filesystem::path& path) : file_(path) { trace_.path = path.string(); }

    Trace read()
    {
        std::string_view rest = file_.text();
        if (rest.substr(0, 200).find("\"traceEvents\"") == std::string_view::npos)
        {
            line_ = 0;
            fail("is no timeline (it does not begin with \"traceEvents\")",
                 "Give a file that `parhelion run --trace FILE` wrote");
        }
        bool is_closed = false;
        while (!rest.empty())
        {
            ++line_;
            std::string_view line = trimmed(take_line(rest));
            if (line.ends_with(',')) { line.remove_suffix(1); }
            if (line.starts_with('{') && line_ > 1) { event(line); }
            else if (line.starts_with(']')) { is_closed = true; }
            else if (line_ > 1 && !line.empty()) { fail(in_quotes(line) + " is no event", advice); }
            if ((line_ & 0xffff) == 0) { file_.release_before(file_.text().size() - rest.size()); }
        }
        if (!is_closed) { fail("the file ends here, before its list of events does", advice); }
        shorten_names();
        return std::move(trace_);
    }

private:
    static constexpr const char* advice = "Let the run write it again: a timeline is written when the run ends";

    [[noreturn]] void fail(const std::string& problem, const std::string& what_to_do) const
    {
        throw InputError("E197", {trace_.path, line_}, fmt::format("{} (nothing of it is analysed). {}.", problem, what_to_do));
    }

    // Removes the comma and what follows it from names of processes. Ranks that share a GPU get their number as a suffix.
    void shorten_names()
    {
        std::unordered_map<std::string, int> times;
        for (TracedProcess& p : trace_.processes)
        {
            p.name = p.name.substr(0, p.name.find(','));
            ++times[p.name];
        }
        for (std::size_t i = 0; i < trace_.processes.size(); ++i)
        {
            std::string& name = trace_.processes[i].name;
            if (times[name] > 1) { name += fmt::format(" (rank {})", i); }
        }
    }

    void event(std::string_view line)
    {
        RawSpan span;
        if (scan_span(line, span)) { return add(span); }
        try
        {
            const Json json = Json::parse(line);
            const auto& kind = json.at("ph").get_ref<const std::string&>();
            const auto& name = json.at("name").get_ref<const std::string&>();
            const auto process = json.at("pid").get<std::size_t>(), track = json.at("tid").get<std::size_t>();
            if (kind == "M" && name == "process_name") { add_process(process, json.at("args")); }
            else if (kind == "M" && name == "thread_name") { add_track(process, track, json.at("args").at("name")); }
            else if (kind == "X") { add({name, process, track, json.at("ts"), json.at("dur"), json.at("args").at("step")}); }
        }
        catch (const Json::parse_error& error)
        {
            fail(fmt::format("is no event of a timeline, from character {} on", error.byte), advice);
        }
        catch (const Json::exception& error)
        {
            const std::string_view text = error.what(); // "[json.exception.type_error.302] type must be ..."
            fail(fmt::format("is no event of a timeline: {}", text.substr(std::min(text.size(), text.find("] ") + 2))), advice);
        }
    }

    void add_process(std::size_t process, const Json& args)
    {
        if (process != trace_.processes.size()) { fail("processes are not numbered from 0 in a row", advice); }
        TracedProcess& p = trace_.processes.emplace_back();
        tracks_.emplace_back();
        p.name = args.at("name").get<std::string>();
        p.is_gpu = true; // assumed until a track of phases is found
        p.atoms = args.value("atoms", std::int64_t{0});
        p.peers = args.value("peers", std::vector<std::size_t>());
    }

    void add_track(std::size_t process, std::size_t track, const std::string& name)
    {
        if (process >= tracks_.size() || track != tracks_[process].size()) { fail("tracks are not numbered in a row", advice); }
        Track& t = tracks_[process].emplace_back();
        constexpr std::string_view multiprocessor = "multiprocessor ";
        if (name == "phases")
        {
            t.kind = TrackKind::Phases;
            trace_.processes[process].is_gpu = false;
        }
        else if (const auto phase = phase_named(name)) { t = {TrackKind::Kernels, *phase, 0}; }
        else if (name.starts_with(multiprocessor))
        {
            std::string_view number = std::string_view(name).substr(multiprocessor.size());
            if (!take_number(number, t.multiprocessor) || !number.empty()) { fail("a multiprocessor has no number", advice); }
            t.kind = TrackKind::Blocks;
        }
    }

    // Returns the number of a name and phase. For a block, whose phase is not in the file, it is the first number with this name.
    std::uint16_t number_of(std::string_view name, std::optional<Phase> phase)
    {
        const auto is_it = [&](std::uint16_t n) {
            return trace_.names[n].name == name && (!phase || trace_.names[n].phase == *phase);
        };
        if (last_ < trace_.names.size() && is_it(last_)) { return last_; }
        std::vector<std::uint16_t>& known = numbers_[std::string(name)];
        const auto at = std::find_if(known.begin(), known.end(), is_it);
        if (at != known.end()) { return last_ = *at; }
        if (trace_.names.size() >= most_names) { fail("too many names of spans", advice); }
        known.push_back(static_cast<std::uint16_t>(trace_.names.size()));
        trace_.names.push_back({std::string(name), phase.value_or(Phase::Output)});
        return last_ = known.back();
    }

    void add(const RawSpan& span)
    {
        if (span.process >= tracks_.size() || span.track >= tracks_[span.process].size())
        {
            fail(fmt::format("a span is on track {} of process {}, which has no name above", span.track, span.process), advice);
        }
        if (!(span.ts >= 0 && span.dur >= 0 && span.ts + span.dur <= longest_us))
        {
            fail(fmt::format("a span begins at {} us and lasts {} us", span.ts, span.dur), advice);
        }
        if (span.step < -largest_step || span.step > largest_step) { fail("a span is of no step", advice); }
        const auto ns = [](double us) { return static_cast<std::uint64_t>(std::llround(us * 1000)); };
        const std::uint64_t begin = ns(span.ts), length = ns(span.dur);
        TracedProcess& process = trace_.processes[span.process];
        const Track& track = tracks_[span.process][span.track];
        switch (track.kind)
        {
        case TrackKind::Phases: {
            const auto phase = phase_named(span.name);
            if (!phase) { fail(in_quotes(span.name) + " is no phase of a step", "Read it with the version that wrote it"); }
            process.activities.push_back({begin, begin + length, span.step, number_of(span.name, phase), *phase});
            break;
        }
        case TrackKind::Kernels:
            process.activities.push_back({begin, begin + length, span.step, number_of(span.name, track.phase), track.phase});
            break;
        case TrackKind::Blocks:
            process.blocks.push_back({begin, static_cast<std::uint32_t>(std::min<std::uint64_t>(length, UINT32_MAX)),
                                      number_of(span.name, std::nullopt), track.multiprocessor});
            break;
        case TrackKind::Other:
            break;
        }
    }

    MappedFile file_;
    Trace trace_;
    int line_ = 0;
    std::uint16_t last_ = 0;
    std::vector<std::vector<Track>> tracks_; // indexed by process
    std::unordered_map<std::string, std::vector<std::uint16_t>> numbers_;
};

} // namespace

Trace read_trace(const std::filesystem::path& path) { return Reader(path).read(); }

} // namespace parhelion
