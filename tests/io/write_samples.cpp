// SPDX-License-Identifier: Apache-2.0
// write_samples DIR: writes trajectory and energy files with this project's writers, and what they should hold as plain numbers
// (NumPy arrays, manifest.json), for the comparison with other projects' readers in tests/python/test_outputs.py.
#include "base/error.hpp"
#include "io/output/edr.hpp"
#include "io/output/trr.hpp"
#include "io/output/xtc.hpp"
#include "io/trajectory_samples.hpp"

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

using namespace parhelion;
using Json = nlohmann::ordered_json;

namespace {

// float64, C order (NumPy format version 1.0).
void write_npy(const std::string& path, const std::string& shape, const std::vector<double>& values)
{
    std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", shape);
    header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10, ' ');
    header.back() = '\n';
    std::ofstream out(path, std::ios::binary);
    out << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size() % 256) << static_cast<char>(header.size() / 256) << header;
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(double)));
    if (!out) { throw SystemError(path + "  write failed"); }
}

void write_npy(const std::string& path, const std::vector<Frame>& frames, std::vector<Vec3<double>> Frame::*array)
{
    std::vector<double> values;
    for (const Frame& frame : frames)
    {
        for (const Vec3<double>& a : frame.*array) { values.insert(values.end(), {a.x, a.y, a.z}); }
    }
    write_npy(path, fmt::format("{}, {}, 3", frames.size(), (frames[0].*array).size()), values);
}

std::vector<Frame> frames_of(const std::function<std::vector<Vec3<double>>(std::uint64_t)>& positions)
{
    std::vector<Frame> frames(3);
    for (std::size_t i = 0; i < frames.size(); ++i)
    {
        frames[i].step = static_cast<std::int64_t>(500 * i);
        frames[i].time = static_cast<double>(i);
        frames[i].box = {3.5 + 0.001 * static_cast<double>(i), 4.25, 5.125};
        frames[i].x = positions(i + 1);
    }
    return frames;
}

Json describe(const std::string& file, const std::vector<Frame>& frames)
{
    Json json = {{"file", file}, {"atoms", frames[0].x.size()}};
    for (const Frame& frame : frames)
    {
        json["steps"].push_back(frame.step);
        json["times"].push_back(frame.time);
        json["boxes"].push_back({frame.box.diagonal().x, frame.box.diagonal().y, frame.box.diagonal().z});
    }
    return json;
}

Json write_xtc(const std::string& folder, const std::string& name, double precision,
               const std::function<std::vector<Vec3<double>>(std::uint64_t)>& positions)
{
    const std::vector<Frame> frames = frames_of(positions);
    XtcWriter writer(folder + name + ".xtc", precision);
    for (const Frame& frame : frames) { writer.write(frame); }
    writer.close();
    write_npy(folder + name + ".x.npy", frames, &Frame::x);
    Json json = describe(name + ".xtc", frames);
    json["precision"] = precision;
    return json;
}

Json write_xtc_samples(const std::string& folder)
{
    Json list;
    for (std::size_t atoms = 1; atoms <= 20; ++atoms)
    {
        list.push_back(write_xtc(folder, fmt::format("atoms-{}", atoms), 1000,
                                 [&](std::uint64_t seed) { return samples::random_points(atoms, -1, 3, seed); }));
    }
    for (const int precision : {10, 1000, 100000})
    {
        list.push_back(write_xtc(folder, fmt::format("water-{}", precision), precision,
                                 [](std::uint64_t seed) { return samples::water(400, seed); }));
    }
    list.push_back(write_xtc(folder, "equal", 1000, [](std::uint64_t seed) {
        return std::vector(100, Vec3<double>{1.5, -2.25, static_cast<double>(seed)});
    }));
    list.push_back(
        write_xtc(folder, "24-bits", 1000, [](std::uint64_t seed) { return samples::random_points(300, -8000, 8000, seed); }));
    list.push_back(
        write_xtc(folder, "30-bits", 1000, [](std::uint64_t seed) { return samples::random_points(300, -5.3e5, 5.3e5, seed); }));
    list.push_back(write_xtc(folder, "all-scales", 1000, [](std::uint64_t seed) {
        samples::Random random(seed);
        std::vector<Vec3<double>> x;
        for (int block = 0; block < 60; ++block)
        {
            const auto walk = samples::random_walk(37, std::pow(10.0, random.uniform(-4, 3)), random.bits());
            x.insert(x.end(), walk.begin(), walk.end());
        }
        return x;
    }));
    // Steps that fit each window of the compression's table in turn: the width of the window of n bits is about 2^(n/3).
    for (int bits = 9; bits < 66; bits += 3)
    {
        list.push_back(write_xtc(folder, fmt::format("window-{}", bits), 1000, [&](std::uint64_t seed) {
            return samples::random_walk(200, 0.0005 * std::cbrt(std::exp2(bits + static_cast<int>(seed) - 1)), seed);
        }));
    }
    return list;
}

Json write_trr(const std::string& folder, const std::string& name, Precision precision, const std::string& arrays)
{
    std::vector<Frame> frames = frames_of([](std::uint64_t seed) { return samples::water(30, seed); });
    Json json = describe(name + ".trr", frames);
    TrrWriter writer(folder + name + ".trr", precision);
    for (Frame& frame : frames)
    {
        const auto seed = static_cast<std::uint64_t>(frame.step);
        if (arrays.find('v') != std::string::npos) { frame.v = samples::random_points(frame.x.size(), -2, 2, seed + 10); }
        if (arrays.find('f') != std::string::npos) { frame.f = samples::random_points(frame.x.size(), -5e3, 5e3, seed + 20); }
        if (arrays.find('x') == std::string::npos) { frame.x.clear(); }
        writer.write(frame);
    }
    writer.close();
    write_npy(folder + name + ".x.npy", frames, &Frame::x);
    write_npy(folder + name + ".v.npy", frames, &Frame::v);
    write_npy(folder + name + ".f.npy", frames, &Frame::f);
    json["arrays"] = arrays;
    json["double"] = precision == Precision::Double;
    return json;
}

// A run of 200 steps: energies every 5 steps, frames every 20. manifest: every term at every energy calculation.
Json write_edr(const std::string& folder)
{
    const std::vector<std::string> terms = {"Bond",         "LJ (SR)",       "Coulomb (SR)", "Potential", "Kinetic En.",
                                            "Total Energy", "Conserved En.", "Temperature",  "Pres. DC",  "Pressure",
                                            "Box-X",        "Volume",        "Density",      "pV",        "Enthalpy",
                                            "Vir-XX",       "Pres-XX"};
    const double dt = 0.002;
    EdrWriter writer(folder + "energies.edr", terms, 0, dt);
    samples::Random random(2024);
    TermAverages since_last(terms.size());
    Json json = {{"file", "energies.edr"}, {"terms", terms}, {"dt", dt}, {"frame_interval", 20}};
    for (const std::string& term : terms) { json["units"].push_back(unit_of_term(term)); }
    for (int step = 0; step <= 200; step += 5)
    {
        std::vector<double> values;
        for (std::size_t i = 0; i < terms.size(); ++i)
        {
            values.push_back(std::pow(10.0, static_cast<double>(i) / 3) * random.uniform(0.9, 1.1) * (i % 2 ? -1 : 1));
        }
        since_last.add(values);
        json["steps"].push_back(step);
        json["values"].push_back(values);
        if (step % 20 == 0)
        {
            writer.write(step, step * dt, values, since_last);
            since_last.clear();
        }
    }
    writer.close();
    return json;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2)
    {
        fmt::print(stderr, "usage: write_samples DIR\n");
        return 4;
    }
    const std::string folder = std::string(argv[1]) + "/";
    Json manifest;
    manifest["xtc"] = write_xtc_samples(folder);
    for (const bool twice : {false, true})
    {
        const std::string name = twice ? "double" : "float";
        for (const std::string arrays : {"xvf", "x", "xv", "v", "f"})
        {
            manifest["trr"].push_back(
                write_trr(folder, name + "-" + arrays, twice ? Precision::Double : Precision::Mixed, arrays));
        }
    }
    manifest["edr"] = write_edr(folder);
    std::ofstream(folder + "manifest.json") << manifest.dump(1) << "\n";
}
