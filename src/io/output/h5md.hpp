// SPDX-License-Identifier: Apache-2.0
// .h5md: box, positions, velocities and forces of a trajectory by the H5MD convention, in a file of HDF5. A shared object does
// the work (io/plugins/h5md.h), so that the program runs without HDF5. It is opened by the first call of this file.
#pragma once

#include "base/numerics.hpp"
#include "io/output/box_edges.hpp"
#include "model/frame.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

struct parhelion_h5md_calls;

namespace parhelion {

// Numbers of frames with positions, velocities and forces.
using H5mdFrames = std::array<std::int64_t, 3>;

struct H5mdPlan
{
    std::string path, title, program_version; // path: empty if the run has no such file
    Precision precision = Precision::Mixed;   // Mixed: arrays are stored as float
    bool is_tilted = false;                   // false: no box of the file is tilted
    bool x = false, v = false, f = false;     // the arrays that the file has
    std::vector<std::int64_t> atoms;          // global atoms in the file, ascending; empty: all
    std::vector<std::int32_t> species;        // for each atom of the file: index into species_names
    std::vector<std::string> species_names;   // no two are alike
    std::vector<double> masses, charges;      // of each atom of the file, u and e
};

// Throws InputError E285 if the shared object or its HDF5 is missing.
void expect_h5md_plugin();

// Summary of a .h5md of any program: of its first group of particles.
struct H5mdSummary
{
    std::string creator;                   // the program that wrote the file, and its version
    std::array<std::int32_t, 2> version{}; // of the convention
    H5mdFrames frames{};                   // numbers of frames with positions, velocities, forces
    std::int64_t atoms = 0;
    Precision precision = Precision::Mixed; // Mixed means float
    BoxEdges box{};                         // box of the last frame, nm; zeros: the file has none, or its unit is unknown
    // Steps and times (ps) of the first array that the file has; times of an unknown unit are not numbers.
    std::array<std::int64_t, 2> steps{}; // first and last
    std::array<double, 2> times{};       // first and last
    std::array<double, 2> intervals{};   // shortest and longest; zeros if there is no second frame
};

// Throws InputError E285 as expect_h5md_plugin(), E288 if the file is damaged or no H5MD file; SystemError.
H5mdSummary summarise_h5md(const std::string& path);

class H5mdWriter
{
public:
    // Begins a new file or, if `kept` has any frames, continues the file after these frames. Throws InputError E285 as
    // expect_h5md_plugin(), E286 if the file to be continued is missing, damaged, or has fewer frames or other atoms;
    // SystemError.
    H5mdWriter(H5mdPlan plan, const H5mdFrames& kept);
    ~H5mdWriter();
    H5mdWriter(const H5mdWriter&) = delete;
    H5mdWriter& operator=(const H5mdWriter&) = delete;

    // Writes the arrays of the plan that are not empty. They have all atoms of the system. Throws SystemError; the file then ends
    // with the frame before.
    void write(const Frame& frame);
    const H5mdFrames& frames() const { return frames_; }
    // Returns when the frames would survive a power failure. Throws SystemError.
    void sync();
    void close();

private:
    const double* chosen(const std::vector<Vec3<double>>& all, std::vector<Vec3<double>>& part) const;
    void expect_done(int result, const char* why) const;

    H5mdPlan plan_;
    const parhelion_h5md_calls* calls_;
    void* file_ = nullptr;
    H5mdFrames frames_{};
};

} // namespace parhelion
