// SPDX-License-Identifier: Apache-2.0
// A file by the H5MD convention 1.1 (de Buyl, Colberg, Höfling, Comput. Phys. Commun. 185, 1546 (2014); nongnu.org/h5md), with
// its units module. There is one group of particles, `trajectory`. Each of position, velocity and force has its own steps and
// times, since each may have its own interval; the box has those of the position, or of the first array that there is. The bytes
// of an array are shuffled and compressed by zlib, in chunks of up to 2^20 atoms of one frame.
#pragma once

#include "io/plugins/h5md.h"
#include "io/plugins/hdf5_objects.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace parhelion::h5md {

class Writer
{
public:
    // Opens the file as parhelion_h5md_calls::open describes. Throws SystemFailure, ContentsFailure.
    Writer(const parhelion_h5md_plan& plan, const std::int64_t* kept);
    void write(const parhelion_h5md_frame& frame);
    void sync() { file_.sync(); }
    void close();

private:
    // A dataset that grows by an element a frame.
    struct Series
    {
        Object data;
        std::vector<hsize_t> size; // of all frames
    };
    // H5MD's time-dependent element.
    struct Element
    {
        Series value, step, time;
        bool is_there() const { return value.data >= 0; }
    };

    void create(const parhelion_h5md_plan& plan);
    void describe_atoms(hid_t group, const parhelion_h5md_plan& plan);
    void create_element(hid_t parent, const char* name, std::vector<hsize_t> frame, const char* unit, hid_t same_times);
    void open_elements();
    void expect_atoms(const parhelion_h5md_plan& plan) const;
    void drop_frames(const parhelion_h5md_plan& plan, const std::int64_t* kept);
    void append(Series& series, hid_t memory_type, const void* values);
    void append_box(const parhelion_h5md_frame& frame);
    std::size_t first_array() const; // the box has the steps and times of this one
    void close_all();

    OrderedFile file_;
    hid_t real_; // type of numbers in the file
    bool is_tilted_;
    std::array<bool, parhelion_h5md_arrays> has_{};
    Object hdf5_;
    std::array<Element, parhelion_h5md_arrays> elements_;
    Series box_;
};

inline constexpr const char* particles = "/particles/trajectory"; // MDAnalysis takes the number of atoms from this name

} // namespace parhelion::h5md
