// SPDX-License-Identifier: Apache-2.0
#include "run/imd_packets.hpp"

#include <array>
#include <cstring>
#include <gmock/gmock.h>
#include <vector>

using namespace parhelion;

namespace {

// A number in the order of bytes of this machine.
template <class T>
T value_at(const std::string& text, std::size_t at)
{
    T value;
    std::memcpy(&value, text.data() + at, sizeof(T));
    return value;
}

ImdHeader header_at(const std::string& text, std::size_t at)
{
    return imd_header(std::span<const char, imd_header_bytes>(text.data() + at, imd_header_bytes));
}

Frame small_frame()
{
    Frame frame;
    frame.step = (std::int64_t{1} << 33) + 5, frame.time = 0.25;
    frame.box = Box<double>({3, 4, 5}, {0.5, -1, 1.5});
    frame.x = {{0.1, 0.2, 0.3}, {1, 2, 3}};
    frame.v = {{1, 0, 0}, {0, 1, 0}};
    frame.f = {{10, 20, 30}, {-10, -20, -30}};
    return frame;
}

} // namespace

TEST(ImdPackets, greet_with_the_version_in_this_machines_order_and_what_will_come)
{
    const std::string greeting = imd_greeting(3);
    ASSERT_EQ(greeting.size(), 8u + 8 + 7);
    EXPECT_EQ(header_at(greeting, 0).type, 4);
    EXPECT_EQ(value_at<std::int32_t>(greeting, 4), 3);
    EXPECT_EQ(header_at(greeting, 8).type, 10);
    EXPECT_EQ(header_at(greeting, 8).value, 7);
    EXPECT_EQ(greeting.substr(16), std::string("\1\1\1\1\0\1\1", 7)); // all but wrapped coordinates
    EXPECT_EQ(imd_greeting(2).size(), 8u);
}

TEST(ImdPackets, have_the_order_the_sizes_and_the_units_of_the_protocol)
{
    const Frame frame = small_frame();
    ImdEnergies energies;
    energies.temperature = 300, energies.total = -5, energies.impropers = 7;
    const std::string text = imd_frame(3, frame, 0.002, energies);
    const std::size_t time = 0, block = 32, box = block + 48, x = box + 44, v = x + 32, f = v + 32;
    ASSERT_EQ(text.size(), f + 32);
    for (const auto& [at, type, value] :
         {std::array<std::size_t, 3>{time, 12, 1}, {block, 1, 1}, {box, 13, 1}, {x, 2, 2}, {v, 14, 2}, {f, 15, 2}})
    {
        EXPECT_EQ(header_at(text, at).type, static_cast<int>(type));
        EXPECT_EQ(header_at(text, at).value, static_cast<int>(value)) << type;
    }
    EXPECT_EQ(value_at<double>(text, time + 8), 0.002);
    EXPECT_EQ(value_at<double>(text, time + 16), 0.25);
    EXPECT_EQ(value_at<std::int64_t>(text, time + 24), frame.step);
    EXPECT_EQ(value_at<std::int32_t>(text, block + 8), 5); // the low bits of the step
    EXPECT_EQ(value_at<float>(text, block + 12), 300);
    EXPECT_EQ(value_at<float>(text, block + 44), 7);
    const std::array<float, 9> edges = {30, 0, 0, 5, 40, 0, -10, 15, 50};
    for (std::size_t i = 0; i < 9; ++i) { EXPECT_EQ(value_at<float>(text, box + 8 + 4 * i), edges[i]) << i; }
    EXPECT_EQ(value_at<float>(text, x + 8 + 4 * 5), 30); // angstrom
    EXPECT_EQ(value_at<float>(text, v + 8), 10);         // angstrom/ps
    EXPECT_EQ(value_at<float>(text, f + 8 + 4), 2);      // kJ/mol/angstrom
}

TEST(ImdPackets, of_version_2_are_energies_and_positions)
{
    const std::string text = imd_frame(2, small_frame(), 0.002, {});
    ASSERT_EQ(text.size(), 48u + 32);
    EXPECT_EQ(header_at(text, 0).type, 1);
    EXPECT_EQ(header_at(text, 48).type, 2);
}

TEST(ImdPackets, add_energies_of_a_kind_up)
{
    const std::vector<std::string> names = {
        "Bond",       "Angle",        "U-B",          "Proper Dih.",    "CMAP Dih.", "Improper Dih.", "LJ-14",       "LJ (SR)",
        "Coulomb-14", "Coulomb (SR)", "Coul. recip.", "Position Rest.", "Potential", "Total Energy",  "Temperature", "Pressure"};
    const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const ImdEnergies energies = imd_energies(names, values);
    EXPECT_EQ(energies.bonds, 1);
    EXPECT_EQ(energies.angles, 2 + 3);
    EXPECT_EQ(energies.dihedrals, 4 + 5);
    EXPECT_EQ(energies.impropers, 6);
    EXPECT_EQ(energies.lennard_jones, 7 + 8);
    EXPECT_EQ(energies.coulomb, 9 + 10 + 11);
    EXPECT_EQ(energies.potential, 13);
    EXPECT_EQ(energies.total, 14);
    EXPECT_EQ(energies.temperature, 15);
}
