// SPDX-License-Identifier: Apache-2.0
// The bytes of .trr files, against the format's public description; tests/python reads such files with other projects' readers.
#include "io/output/trr.hpp"

#include "base/error.hpp"
#include "io/scratch_file.hpp"
#include "io/trajectory_samples.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <utility>

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
    EXPECT_EQ(in.get_double(), 0.154);
    in.get_opaque(8 + 72);
    for (const auto* array : {&frame.x, &frame.f})
    {
        for (const Vec3<double>& a : *array)
        {
            for (int d = 0; d < 3; ++d) { EXPECT_EQ(in.get_double(), a[d]); }
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

// --- the reader; that it reads GROMACS' files is tested in tests/python/test_hand_over.py

std::vector<Vec3<float>> in_float(const std::vector<Vec3<double>>& list)
{
    std::vector<Vec3<float>> floats;
    for (const Vec3<double>& a : list) { floats.push_back(static_cast<Vec3<float>>(a)); }
    return floats;
}

TEST(TrrReader, gives_what_was_written_in_both_precisions)
{
    const Frame frame = frame_of(5);
    for (const Precision precision : {Precision::Mixed, Precision::Double})
    {
        const auto bytes = written(frame, precision);
        TrrReader reader(bytes, "x.trr");
        TrrFrame read;
        ASSERT_TRUE(reader.read(read));
        const bool is_double = precision == Precision::Double;
        EXPECT_EQ(read.precision, precision);
        EXPECT_EQ(read.atoms, 5);
        EXPECT_EQ(read.time, is_double ? 0.154 : static_cast<double>(0.154f));
        EXPECT_EQ(read.box[8], is_double ? 5.1 : static_cast<double>(5.1f));
        for (const auto& [bytes_read, expected] : {std::pair(read.x, &frame.x), std::pair(read.v, &frame.v)})
        {
            const std::vector<Vec3<double>> vectors = reader.vectors(read, bytes_read);
            EXPECT_EQ(in_float(vectors), in_float(*expected));
            if (is_double) { EXPECT_EQ(vectors, *expected); }
        }
        EXPECT_FALSE(reader.read(read));
    }
}

TEST(TrrReader, passes_from_frame_to_frame_whatever_they_hold)
{
    const ScratchFile file("x.trr");
    TrrWriter writer(file.path(), Precision::Mixed);
    for (int i = 0; i < 8; ++i)
    {
        Frame frame = frame_of(4);
        frame.time = i;
        if ((i & 1) == 0) { frame.x.clear(); }
        if ((i & 2) == 0) { frame.v.clear(); }
        if ((i & 4) == 0) { frame.f.clear(); }
        writer.write(frame);
    }
    writer.close();
    const auto bytes = file.bytes();
    TrrReader reader(bytes, "x.trr");
    TrrFrame frame;
    for (int i = 0; i < 8; ++i)
    {
        ASSERT_TRUE(reader.read(frame));
        EXPECT_EQ(frame.time, i);
        EXPECT_EQ(frame.x.empty(), (i & 1) == 0);
        EXPECT_EQ(frame.v.empty(), (i & 2) == 0);
    }
    EXPECT_FALSE(reader.read(frame));
}

// True if the bytes were read to their end, false if they were refused as damaged. Anything else fails the test.
bool accepted(std::span<const std::byte> bytes)
{
    try
    {
        TrrReader reader(bytes, "x.trr");
        TrrFrame frame;
        while (reader.read(frame))
        {
            for (const auto array : {frame.x, frame.v})
            {
                for (const Vec3<double>& a : reader.vectors(frame, array)) { EXPECT_TRUE(std::isfinite(norm2(a))); }
            }
        }
        return true;
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E182");
        return false;
    }
}

TEST(TrrReader, refuses_a_file_cut_anywhere_but_between_frames)
{
    for (const Precision precision : {Precision::Mixed, Precision::Double})
    {
        const auto bytes = written(frame_of(5), precision);
        for (std::size_t length = 1; length < bytes.size(); ++length)
        {
            EXPECT_FALSE(accepted(std::span(bytes).first(length))) << length;
        }
    }
}

TEST(TrrReader, survives_any_change_of_bytes)
{
    samples::Random random(99);
    const std::vector<std::vector<std::byte>> originals = {written(frame_of(3), Precision::Mixed),
                                                           written(frame_of(40), Precision::Double)};
    int refused = 0;
    for (int round = 0; round < 20000; ++round)
    {
        std::vector<std::byte> bytes = originals[static_cast<std::size_t>(round) % originals.size()];
        const auto changes = 1 + random.bits() % 4;
        for (std::uint64_t i = 0; i < changes; ++i)
        {
            // Half of the changes hit the header, where the lengths are.
            const std::size_t reach = random.bits() % 2 ? std::min<std::size_t>(bytes.size(), 92) : bytes.size();
            bytes[random.bits() % reach] = static_cast<std::byte>(random.bits());
        }
        refused += accepted(bytes) ? 0 : 1;
    }
    EXPECT_GT(refused, 5000);
}

TEST(TrrReader, refuses_noise)
{
    samples::Random random(5);
    for (int round = 0; round < 2000; ++round)
    {
        std::vector<std::byte> bytes(1 + random.bits() % 400);
        for (std::byte& b : bytes) { b = static_cast<std::byte>(random.bits()); }
        EXPECT_FALSE(accepted(bytes));
    }
}

TEST(TrrReader, refuses_numbers_that_are_not_finite)
{
    Frame frame = frame_of(5);
    frame.v[3].y = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(accepted(written(frame, Precision::Mixed)));
}

} // namespace
} // namespace parhelion
