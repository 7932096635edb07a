// SPDX-License-Identifier: Apache-2.0
// The bytes of .trr files, against the format's public description; tests/python reads such files with other projects' readers.
#include "io/trr.hpp"

#include "base/error.hpp"
#include "io/scratch_file.hpp"
#include "io/trajectory_samples.hpp"

#include <gtest/gtest.h>

namespace parhelion {
namespace {

std::vector<std::byte> written(const Frame& frame, Precision precision)
{
    const ScratchFile file("x.trr");
    TrrWriter writer(file.path(), precision);
    writer.write(frame);
    writer.close();
    return file.bytes();
}

Frame frame_of(std::size_t atoms)
{
    Frame frame;
    frame.step = 77;
    frame.time = 0.154;
    frame.box = {3, 4, 5.1};
    frame.x = samples::random_points(atoms, -3, 3, 1);
    frame.v = samples::random_points(atoms, -1, 1, 2);
    frame.f = samples::random_points(atoms, -1e4, 1e4, 3);
    return frame;
}

double get_double(XdrReader& in) { return std::bit_cast<double>(in.get_hyper()); }

TEST(Trr, holds_header_box_positions_velocities_and_forces_as_floats_in_mixed_precision)
{
    const Frame frame = frame_of(5);
    const auto bytes = written(frame, Precision::Mixed);
    XdrReader in(bytes, "x.trr");
    EXPECT_EQ(in.get_int(), 1993);
    EXPECT_EQ(in.get_int(), 13);
    EXPECT_EQ(in.get_int(), 12);
    const auto tag = in.get_opaque(12);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(tag.data()), tag.size()), "GMX_trn_file");
    for (const int size : {0, 0, 36, 0, 0, 0, 0, 60, 60, 60}) { EXPECT_EQ(in.get_int(), size); }
    for (const int number : {5, 77, 0}) { EXPECT_EQ(in.get_int(), number); } // atoms, step, obsolete
    EXPECT_EQ(in.get_float(), 0.154f);
    EXPECT_EQ(in.get_float(), 0.0f); // lambda
    for (const float edge : {3.f, 0.f, 0.f, 0.f, 4.f, 0.f, 0.f, 0.f, 5.1f}) { EXPECT_EQ(in.get_float(), edge); }
    for (const auto* array : {&frame.x, &frame.v, &frame.f})
    {
        for (const Vec3<double>& a : *array)
        {
            for (int d = 0; d < 3; ++d) { EXPECT_EQ(in.get_float(), static_cast<float>(a[d])); }
        }
    }
    EXPECT_EQ(in.bytes_left(), 0u);
}

TEST(Trr, keeps_every_bit_in_double_precision)
{
    Frame frame = frame_of(7);
    frame.v.clear();
    const auto bytes = written(frame, Precision::Double);
    XdrReader in(bytes, "x.trr");
    in.get_opaque(24);
    for (const int size : {0, 0, 72, 0, 0, 0, 0, 168, 0, 168}) { EXPECT_EQ(in.get_int(), size); }
    in.get_opaque(12);
    EXPECT_EQ(get_double(in), 0.154);
    in.get_opaque(8 + 72);
    for (const auto* array : {&frame.x, &frame.f})
    {
        for (const Vec3<double>& a : *array)
        {
            for (int d = 0; d < 3; ++d) { EXPECT_EQ(get_double(in), a[d]); }
        }
    }
    EXPECT_EQ(in.bytes_left(), 0u);
}

TEST(Trr, needs_arrays_of_one_length)
{
    Frame frame = frame_of(7);
    frame.v.pop_back();
    EXPECT_THROW(written(frame, Precision::Mixed), ContractError);
}

} // namespace
} // namespace parhelion
