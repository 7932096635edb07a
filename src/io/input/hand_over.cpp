// SPDX-License-Identifier: Apache-2.0
#include "io/input/hand_over.hpp"

#include "base/error.hpp"
#include "io/input/checkpoint.hpp"
#include "io/input/file_kind.hpp"
#include "io/input/mdp.hpp"
#include "io/input/text.hpp"
#include "io/output/box_edges.hpp"
#include "io/output/trr.hpp"
#include "model/minimisers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace parhelion {
namespace {

// The start of a run as read from a .trr or a checkpoint.
struct Start
{
    Box<double> box;
    std::vector<Vec3<double>> x, v;
};

[[noreturn]] void fail(const char* id, const std::filesystem::path& path, const std::string& message)
{
    throw InputError(id, {path.string(), 0}, message);
}

bool needs_velocities(const RunParameters& p) { return !is_minimisation(p.integrator) && !p.generate_velocities; }

void expect_atoms(const std::filesystem::path& path, std::size_t atoms, const System& system)
{
    if (atoms == system.x.size()) { return; }
    fail("E176", path,
         fmt::format("has {} atoms, but the topology describes {}. Give the file of a run of the same system.", atoms,
                     system.x.size()));
}

// --- .trr

Box<double> box_in(const std::filesystem::path& path, const TrrFrame& frame)
{
    BoxEdges edges{};
    std::copy(frame.box.begin(), frame.box.end(), edges.begin());
    for (const std::size_t diagonal : {0, 4, 8})
    {
        if (edges[diagonal] > 0 && edges[diagonal] < std::numeric_limits<float>::max()) { continue; }
        fail("E175", path,
             fmt::format("has no box at {:.6g} ps (a periodic box is needed). Start from its .gro (-c) instead.", frame.time));
    }
    std::string problem;
    const Box<double> box = box_of(edges, problem);
    if (!problem.empty()) { fail("E580", path, fmt::format("{:.6g} ps: {}", frame.time, problem)); }
    return box;
}

// Returns the frame that grompp would choose, or nothing if no frame has the required data.
std::optional<TrrFrame> choose_frame(TrrReader& reader, std::optional<double> at, bool with_velocities, double& latest)
{
    std::optional<TrrFrame> chosen;
    for (TrrFrame frame; reader.read(frame);)
    {
        latest = frame.time;
        if (frame.x.empty() || (with_velocities && frame.v.empty())) { continue; }
        if (!at) { chosen = frame; }
        else if (frame.time >= *at) { return frame; }
    }
    return chosen;
}

std::string read_trr(const std::filesystem::path& path, std::string_view bytes, std::optional<double> at,
                     const RunParameters& parameters, const System& system, Start& start)
{
    TrrReader reader(std::as_bytes(std::span(bytes)), path.string());
    const bool with_velocities = needs_velocities(parameters);
    double latest = std::numeric_limits<double>::quiet_NaN();
    const std::optional<TrrFrame> frame = choose_frame(reader, at, with_velocities, latest);
    if (!frame)
    {
        const std::string what = with_velocities ? "positions and velocities" : "positions";
        const std::string end = std::isnan(latest) ? "it is empty" : fmt::format("its last frame is at {:.6g} ps", latest);
        const std::string when = at ? fmt::format(" at {:.6g} ps or later", *at) : "";
        const std::string advice = with_velocities ? ", or use gen-vel = yes" : "";
        fail("E177", path,
             fmt::format("has no frame with {}{} ({}). Give a trajectory of nstxout and nstvout{}{}.", what, when, end,
                         at ? ", another -time" : "", advice));
    }
    expect_atoms(path, static_cast<std::size_t>(frame->atoms), system);
    start.box = box_in(path, *frame);
    start.x = reader.vectors(*frame, frame->x);
    if (with_velocities) { start.v = reader.vectors(*frame, frame->v); }
    return fmt::format("{}, {:.6g} ps", path.string(), frame->time);
}

// --- .cpt

std::string value_in(const NamedList<std::string>& list, std::string_view name)
{
    const auto at = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
    return at == list.end() ? "" : at->second;
}

template <class Fixed>
std::vector<Vec3<double>> in_nm(const std::vector<Vec3<Fixed>>& fractions, const Box<double>& box)
{
    const Box<double> unit = (sizeof(Fixed) == 4 ? 0x1p-32 : 0x1p-64) * box;
    std::vector<Vec3<double>> x;
    x.reserve(fractions.size());
    for (const Vec3<Fixed>& u : fractions) { x.push_back(unit.to_nm(static_cast<Vec3<double>>(u))); }
    return x;
}

std::string read_cpt(const MappedFile& file, std::optional<double> at, const RunParameters& parameters, const System& system,
                     Start& start, HandOver& hand_over)
{
    const std::filesystem::path& path = file.path();
    Checkpoint checkpoint = file.is_pipe() ? parse_checkpoint(file.text(), path.string()) : read_checkpoint(path.string());
    SavedState& state = checkpoint.state;
    expect_atoms(path, std::visit([](const auto& x) { return x.size(); }, state.x), system);
    const double time = to_real(value_in(checkpoint.run, "tinit")).value_or(0) +
                        static_cast<double>(state.step) * to_real(value_in(checkpoint.run, "dt")).value_or(0);
    if (at && time < *at)
    {
        fail("E177", path, fmt::format("is of {:.6g} ps, before -time {:.6g}. Leave -time out.", time, *at));
    }
    start.box = state.box;
    start.x = std::visit([&](const auto& x) { return in_nm(x, state.box); }, state.x);
    if (needs_velocities(parameters))
    {
        std::visit(
            [&](const auto& v) {
                std::ranges::transform(v, std::back_inserter(start.v), [](const auto& a) { return Vec3<double>(a); });
            },
            state.v);
    }
    std::string text = fmt::format("{}, step {}, {:.6g} ps", path.string(), state.step, time);
    if (checkpoint.reached > state.step)
    {
        text += fmt::format(" (that run went on to step {}: a checkpoint is of the latest pair list)", checkpoint.reached);
    }
    state.of_another_run = true;
    hand_over.state = std::move(state);
    hand_over.run = std::move(checkpoint.run);
    return text;
}

// Sets the velocity of a box edge to 0 if the edge had a compressibility in the earlier run and has none in this run.
void stop_edges_that_stay(const RunParameters& parameters, SavedState& state)
{
    const auto velocity = state.coupling.find("box-velocity");
    if (velocity == state.coupling.end()) { return; }
    for (std::size_t d = 0; d < std::min<std::size_t>(3, velocity->second.size()); ++d)
    {
        if (parameters.compressibility[static_cast<int>(d)] == 0) { velocity->second[d] = 0; }
    }
}

} // namespace

HandOver read_hand_over(const std::filesystem::path& path, std::optional<double> at, const RunParameters& parameters,
                        System& system)
{
    HandOver hand_over;
    Start start;
    {
        const MappedFile file(path);
        const std::string_view bytes = file.text();
        const FileKind kind = kind_of_file(bytes);
        if (kind.name == kind_cpt) { hand_over.text = read_cpt(file, at, parameters, system, start, hand_over); }
        else if (kind.name == kind_trr) { hand_over.text = read_trr(path, bytes, at, parameters, system, start); }
        else
        {
            fail("E175", path,
                 fmt::format("is {}, but -t takes a checkpoint of this program (.cpt) or a .trr.{}{}",
                             kind.name.empty() ? "neither" : kind.name, kind.advice.empty() ? "" : " ", kind.advice));
        }
    }
    system.box = start.box;
    system.x = std::move(start.x);
    system.v = std::move(start.v);
    hand_over.text += system.v.empty() ? ": positions, box" : ": positions, velocities, box";
    if (parameters.generate_velocities) { hand_over.text += " (velocities are not used: gen-vel = yes)"; }
    return hand_over;
}

void keep_what_fits(const RunParameters& parameters, HandOver& hand_over)
{
    if (!hand_over.state) { return; }
    const NamedList<std::string> now = mdp_values(parameters);
    const auto same = [&](std::string_view key) { return value_in(now, key) == value_in(hand_over.run, key); };
    std::vector<std::string_view> kept;
    if (parameters.thermostat == Thermostat::NoseHoover && same("tcoupl") && same("tc-grps"))
    {
        kept.push_back("thermostat-xi");
        hand_over.text += ", friction of the thermostat";
    }
    if (parameters.barostat == Barostat::ParrinelloRahman && same("pcoupl") && same("pcoupltype"))
    {
        stop_edges_that_stay(parameters, *hand_over.state);
        kept.insert(kept.end(), {"box-velocity", "barostat-pressure", "barostat-pressure-known"});
        hand_over.text += ", velocity of the box";
    }
    std::erase_if(hand_over.state->coupling,
                  [&](const auto& entry) { return std::ranges::find(kept, entry.first) == kept.end(); });
}

} // namespace parhelion
