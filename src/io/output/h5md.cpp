// SPDX-License-Identifier: Apache-2.0
#include "io/output/h5md.hpp"

#include "base/error.hpp"
#include "base/shared_object.hpp"
#include "io/plugins/h5md.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

namespace parhelion {

namespace {

constexpr const char* plugin_file = "libparhelion_h5md.so";

using Why = std::array<char, 1024>;

const parhelion_h5md_calls& plugin()
{
    try
    {
        using Entry = const parhelion_h5md_calls* (*)();
        static const auto entry = reinterpret_cast<Entry>(symbol_of_plugin(plugin_file, {}, "parhelion_h5md_v1"));
        const parhelion_h5md_calls* const calls = entry();
        if (calls->version == PARHELION_H5MD_VERSION) { return *calls; }
        throw SystemError(fmt::format("{} is of another version of Parhelion.", plugin_file));
    }
    catch (const SystemError& error)
    {
        throw InputError(
            "E285", {},
            fmt::format("H5MD: {} On Debian 12 the package libhdf5-103-1 has the library, libhdf5-dev also the headers.",
                        error.what()));
    }
}

} // namespace

void expect_h5md_plugin() { static_cast<void>(plugin()); }

H5mdSummary summarise_h5md(const std::string& path)
{
    parhelion_h5md_summary plain{};
    Why why{};
    const int result = plugin().summarise(path.c_str(), &plain, why.data(), why.size());
    if (result == parhelion_h5md_system) { throw SystemError(why.data()); }
    if (result == parhelion_h5md_contents)
    {
        throw InputError("E288", {path, 0},
                         fmt::format("is not a whole H5MD file: it {}. Use an intact copy of the file.", why.data()));
    }
    H5mdSummary summary{plain.creator,
                        std::to_array(plain.version),
                        std::to_array(plain.frames),
                        plain.atoms,
                        plain.is_double != 0 ? Precision::Double : Precision::Mixed,
                        std::to_array(plain.box),
                        std::to_array(plain.steps),
                        std::to_array(plain.times),
                        std::to_array(plain.intervals)};
    return summary;
}

H5mdWriter::H5mdWriter(H5mdPlan plan, const H5mdFrames& kept) : plan_(std::move(plan)), calls_(&plugin()), frames_(kept)
{
    const bool continues = kept != H5mdFrames{};
    if (continues && !std::filesystem::exists(plan_.path))
    {
        throw InputError("E286", {plan_.path, 0},
                         "is missing, but the checkpoint was made with it. Put the file back, or start afresh with --new.");
    }
    std::vector<const char*> names;
    for (const std::string& name : plan_.species_names) { names.push_back(name.c_str()); }
    std::vector<std::int64_t> ids(plan_.masses.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
    {
        ids[i] = 1 + (plan_.atoms.empty() ? static_cast<std::int64_t>(i) : plan_.atoms[i]);
    }
    const parhelion_h5md_plan plain{plan_.path.c_str(),
                                    plan_.title.c_str(),
                                    plan_.program_version.c_str(),
                                    static_cast<std::int64_t>(ids.size()),
                                    plan_.precision == Precision::Double,
                                    plan_.is_tilted,
                                    {plan_.x, plan_.v, plan_.f},
                                    ids.data(),
                                    plan_.species.data(),
                                    names.data(),
                                    static_cast<std::int32_t>(names.size()),
                                    plan_.masses.data(),
                                    plan_.charges.data()};
    Why why{};
    expect_done(calls_->open(&plain, continues ? kept.data() : nullptr, &file_, why.data(), why.size()), why.data());
    plan_.species = {}, plan_.masses = {}, plan_.charges = {};
}

H5mdWriter::~H5mdWriter()
{
    Why why{};
    if (file_ != nullptr) { calls_->close(file_, why.data(), why.size()); }
}

void H5mdWriter::expect_done(int result, const char* why) const
{
    if (result == parhelion_h5md_done) { return; }
    if (result == parhelion_h5md_system) { throw SystemError(why); }
    throw InputError("E286", {plan_.path, 0},
                     fmt::format("cannot be continued: it {}. Put the file back, or start afresh with --new.", why));
}

const double* H5mdWriter::chosen(const std::vector<Vec3<double>>& all, std::vector<Vec3<double>>& part) const
{
    static_assert(sizeof(Vec3<double>) == 3 * sizeof(double));
    if (plan_.atoms.empty()) { return &all.front().x; }
    for (const std::int64_t atom : plan_.atoms) { part.push_back(all[static_cast<std::size_t>(atom)]); }
    return &part.front().x;
}

void H5mdWriter::write(const Frame& frame)
{
    parhelion_h5md_frame plain{frame.step, frame.time, {}, {}};
    const BoxEdges edges = edges_of(frame.box);
    std::copy(edges.begin(), edges.end(), plain.box);
    const std::array<const std::vector<Vec3<double>>*, 3> arrays = {&frame.x, &frame.v, &frame.f};
    const std::array has = {plan_.x, plan_.v, plan_.f};
    std::array<std::vector<Vec3<double>>, 3> parts;
    for (std::size_t i = 0; i < arrays.size(); ++i)
    {
        if (has[i] && !arrays[i]->empty()) { plain.arrays[i] = chosen(*arrays[i], parts[i]); }
    }
    Why why{};
    expect_done(calls_->write(file_, &plain, why.data(), why.size()), why.data());
    for (std::size_t i = 0; i < arrays.size(); ++i) { frames_[i] += plain.arrays[i] != nullptr ? 1 : 0; }
}

void H5mdWriter::sync()
{
    Why why{};
    expect_done(calls_->sync(file_, why.data(), why.size()), why.data());
}

void H5mdWriter::close()
{
    Why why{};
    if (void* const file = std::exchange(file_, nullptr))
    {
        expect_done(calls_->close(file, why.data(), why.size()), why.data());
    }
}

} // namespace parhelion
