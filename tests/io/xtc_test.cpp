// SPDX-License-Identifier: Apache-2.0
#include "io/output/xtc.hpp"

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

using samples::Random;

Frame frame_of(std::vector<Vec3<double>> x)
{
    Frame frame;
    frame.step = 1234567;
    frame.time = 2469.25;
    frame.box = {3.5, 4.25, 5.125};
    frame.x = std::move(x);
    return frame;
}

std::vector<std::byte> written(const std::vector<Vec3<double>>& x, double precision)
{
    const ScratchFile file("x.xtc");
    XtcWriter writer(file.path(), precision);
    writer.write(frame_of(x));
    writer.close();
    return file.bytes();
}

// The format's promise: half a unit of the last place, and what the reader's float cannot hold.
void expect_round_trip(const std::vector<Vec3<double>>& x, double precision)
{
    const std::vector<std::byte> bytes = written(x, precision);
    XtcReader reader(bytes, "x.xtc");
    XtcFrame frame;
    ASSERT_TRUE(reader.read(frame));
    EXPECT_EQ(frame.step, 1234567);
    EXPECT_EQ(frame.time, 2469.25);
    EXPECT_EQ(frame.box, (Vec3<double>{3.5, 4.25, 5.125}));
    ASSERT_EQ(frame.x.size(), x.size());
    const double rounding = x.size() > 9 ? 0.5 / precision : 0.0;
    for (std::size_t i = 0; i < x.size(); ++i)
    {
        for (int d = 0; d < 3; ++d)
        {
            // integer -> float, float 1/precision, product: three roundings
            const double bound = rounding + 2 * std::abs(x[i][d]) * std::numeric_limits<float>::epsilon();
            ASSERT_LE(std::abs(x[i][d] - static_cast<double>(frame.x[i][d])), bound)
                << "atom " << i << " of " << x.size() << ", component " << d;
        }
    }
    EXPECT_FALSE(reader.read(frame));
}

TEST(Xtc, keeps_positions_within_half_a_unit_for_every_small_number_of_atoms)
{
    for (std::size_t atoms = 1; atoms <= 40; ++atoms)
    {
        expect_round_trip(samples::random_points(atoms, 0, 3, atoms), 1000);
        expect_round_trip(samples::random_points(atoms, -0.01, 0.01, atoms), 1000);
    }
}

TEST(Xtc, keeps_positions_at_every_scale_and_precision)
{
    // From all in one cell of the grid to ranges that need 30 bits a component; small steps between neighbours and large ones.
    for (double extent = 1e-4; extent < 1e6; extent *= 3)
    {
        for (const double precision : {1.0, 100.0, 1000.0, 12345.0})
        {
            if (2 * extent * precision > 1e9) { continue; }
            expect_round_trip(samples::random_points(300, -extent, extent, 7), precision);
            expect_round_trip(samples::random_points(300, 0, extent, 8), precision);
        }
    }
}

TEST(Xtc, keeps_a_frame_whose_scales_vary_along_the_list)
{
    Random random(11);
    std::vector<Vec3<double>> x;
    for (int block = 0; block < 60; ++block)
    {
        const auto walk = samples::random_walk(37, std::pow(10.0, random.uniform(-4, 3)), random.bits());
        x.insert(x.end(), walk.begin(), walk.end());
    }
    expect_round_trip(x, 1000);
}

TEST(Xtc, keeps_anisotropic_ranges)
{
    std::vector<Vec3<double>> x = samples::random_points(500, -1, 1, 3);
    for (Vec3<double>& a : x) { a = {a.x * 20000, a.y, 5.0}; } // over 24 bits, 11 bits, one value
    expect_round_trip(x, 1000);
    for (Vec3<double>& a : x) { a.x *= 0.25; } // just under 24 bits
    expect_round_trip(x, 1000);
}

TEST(Xtc, stores_equal_positions_in_about_a_byte_an_atom)
{
    const std::vector<Vec3<double>> x(9000, Vec3<double>{-1.5, 2.25, 1e5});
    expect_round_trip(x, 1000);
    EXPECT_LT(written(x, 1000).size(), 10000u);
}

TEST(Xtc, stores_water_in_under_six_bytes_an_atom)
{
    const std::vector<Vec3<double>> x = samples::water(5000, 5);
    expect_round_trip(x, 1000);
    EXPECT_LT(static_cast<double>(written(x, 1000).size()), 6.0 * static_cast<double>(x.size()));
}

TEST(Xtc, rounds_to_the_nearest_grid_point_exactly)
{
    std::vector<Vec3<double>> x(12);
    for (int i = 0; i < 12; ++i)
    {
        x[static_cast<std::size_t>(i)] = {(i - 6) + 0.49, (i - 6) - 0.49, static_cast<double>(i - 6)};
    }
    const auto bytes = written(x, 1);
    const XtcFrame frame = read_xtc_frame(bytes, "x.xtc");
    for (int i = 0; i < 12; ++i)
    {
        const auto nearest = static_cast<float>(i - 6);
        EXPECT_EQ(frame.x[static_cast<std::size_t>(i)], (Vec3<float>{nearest, nearest, nearest}));
    }
}

TEST(Xtc, writes_the_selected_atoms_only)
{
    const ScratchFile file("x.xtc");
    const Frame frame = frame_of(samples::random_points(100, 0, 3, 1));
    XtcWriter writer(file.path(), 1000, {3, 17, 99});
    writer.write(frame);
    writer.close();
    const XtcFrame read = read_xtc_frame(file.bytes(), "x.xtc");
    ASSERT_EQ(read.x.size(), 3u);
    EXPECT_EQ(read.x[1], static_cast<Vec3<float>>(frame.x[17])); // nine atoms or fewer are not rounded
    EXPECT_EQ(read.x[2], static_cast<Vec3<float>>(frame.x[99]));
}

TEST(Xtc, reads_many_frames_of_different_sizes_in_order)
{
    const ScratchFile file("x.xtc");
    XtcWriter writer(file.path(), 1000);
    for (int i = 0; i < 20; ++i)
    {
        Frame frame = frame_of(samples::water(static_cast<std::size_t>(1 + 7 * i), 5));
        frame.step = i;
        writer.write(frame);
    }
    writer.close();
    const auto bytes = file.bytes();
    XtcReader reader(bytes, "x.xtc");
    XtcFrame frame;
    for (int i = 0; i < 20; ++i)
    {
        ASSERT_TRUE(reader.read(frame));
        EXPECT_EQ(frame.step, i);
        EXPECT_EQ(frame.x.size(), 3u * static_cast<std::size_t>(1 + 7 * i));
    }
    EXPECT_FALSE(reader.read(frame));
}

TEST(Xtc, reads_frames_with_the_64_bit_length_of_huge_systems)
{
    const std::vector<Vec3<double>> x = samples::water(50, 5);
    std::vector<std::byte> bytes = written(x, 1000);
    const XtcFrame classic = read_xtc_frame(bytes, "x.xtc");
    bytes[2] = std::byte{2023 / 256}, bytes[3] = std::byte{2023 % 256};
    const std::size_t length_at = 4 * (4 + 9 + 1 + 1 + 3 + 3 + 1); // header, box, atoms, precision, range, window
    bytes.insert(bytes.begin() + length_at, 4, std::byte{0});
    const XtcFrame huge = read_xtc_frame(bytes, "x.xtc");
    EXPECT_EQ(huge.x, classic.x);
}

TEST(Xtc, refuses_positions_that_do_not_fit_the_integers)
{
    std::vector<Vec3<double>> x = samples::random_points(50, 0, 3, 1);
    x[20].y = 2.2e6;
    EXPECT_THROW(written(x, 1000), InputError);
    expect_round_trip(x, 100);
    x[20].y = 1.5e6, x[21].y = -1.5e6; // each fits, their distance does not
    EXPECT_THROW(written(x, 1000), InputError);
}

TEST(Xtc, refuses_positions_that_are_not_finite_and_names_the_atom)
{
    std::vector<Vec3<double>> x = samples::random_points(50, 0, 3, 1);
    x[20].y = std::numeric_limits<double>::quiet_NaN();
    try
    {
        written(x, 1000);
        FAIL() << "reads_on";
    }
    catch (const PhysicsError& error)
    {
        EXPECT_NE(std::string(error.what()).find("atom 21"), std::string::npos);
        EXPECT_EQ(error.step(), 1234567);
    }
}

// --- the reader and garbage

// True if the bytes were read to their end, false if they were refused as damaged. Anything else fails the test.
bool reads_on(std::span<const std::byte> bytes)
{
    try
    {
        XtcReader reader(bytes, "x.xtc");
        XtcFrame frame;
        while (reader.read(frame))
        {
            for (const Vec3<float>& a : frame.x) { EXPECT_TRUE(std::isfinite(norm2(static_cast<Vec3<double>>(a)))); }
        }
        return true;
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E182");
        return false;
    }
}

TEST(XtcReader, refuses_a_file_cut_anywhere_but_between_frames)
{
    for (const std::size_t molecules : {2, 40})
    {
        const auto bytes = written(samples::water(molecules, 3), 1000);
        for (std::size_t length = 1; length < bytes.size(); ++length)
        {
            // Only the padding after the last bits may be missing.
            EXPECT_FALSE(reads_on(std::span(bytes).first(length)) && length + 3 < bytes.size()) << length;
        }
    }
}

TEST(XtcReader, survives_any_change_of_bytes)
{
    Random random(99);
    const std::vector<std::vector<std::byte>> originals = {written(samples::water(3, 3), 1000),
                                                           written(samples::water(100, 3), 1000),
                                                           written(samples::random_points(60, -5000, 5000, 3), 10000)};
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
        refused += reads_on(bytes) ? 0 : 1;
    }
    EXPECT_GT(refused, 5000);
}

TEST(XtcReader, refuses_noise)
{
    Random random(5);
    for (int round = 0; round < 2000; ++round)
    {
        std::vector<std::byte> bytes(1 + random.bits() % 400);
        for (std::byte& b : bytes) { b = static_cast<std::byte>(random.bits()); }
        EXPECT_FALSE(reads_on(bytes));
    }
}

TEST(XtcReader, refuses_an_empty_file_where_a_frame_is_needed) { EXPECT_THROW(read_xtc_frame({}, "tile"), InputError); }

} // namespace
} // namespace parhelion
