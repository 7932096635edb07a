// SPDX-License-Identifier: Apache-2.0
// Averages and the bytes of .edr files; tests/python reads such files with other projects' readers.
#include "io/edr.hpp"

#include "base/error.hpp"
#include "io/scratch_file.hpp"
#include "io/trajectory_samples.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace parhelion {
namespace {

TEST(TermAverages, are_those_of_the_definition)
{
    TermAverages averages(2);
    for (const double e : {1.0, 2.0, 4.0, 9.0})
    {
        const double values[] = {e, -3.0};
        averages.add(values);
    }
    EXPECT_EQ(averages.count(), 4);
    EXPECT_DOUBLE_EQ(averages.mean(0), 4.0);
    EXPECT_DOUBLE_EQ(averages.sum(0), 16.0);
    EXPECT_DOUBLE_EQ(averages.squared_deviations(0), 9 + 4 + 0 + 25);
    EXPECT_DOUBLE_EQ(averages.standard_deviation(0), std::sqrt(38.0 / 4));
    EXPECT_EQ(averages.mean(1), -3.0);
    EXPECT_EQ(averages.standard_deviation(1), 0.0);
    averages.clear();
    EXPECT_EQ(averages.count(), 0);
    EXPECT_EQ(averages.standard_deviation(0), 0.0);
}

TEST(TermAverages, see_small_fluctuations_of_large_energies)
{
    // The total energy of 46 million atoms, alternating by 1 kJ/mol: naive sums of squares would lose the spread altogether.
    TermAverages averages(1);
    for (int i = 0; i < 10000; ++i)
    {
        const double value = -6e8 + (i % 2 == 0 ? 1 : -1);
        averages.add(std::span(&value, 1));
    }
    EXPECT_NEAR(averages.mean(0), -6e8, 1e-5);
    EXPECT_NEAR(averages.standard_deviation(0), 1.0, 1e-6);
}

TEST(Edr, terms_have_units)
{
    EXPECT_EQ(unit_of_term("LJ (SR)"), "kJ/mol");
    EXPECT_EQ(unit_of_term("Vir-XX"), "kJ/mol");
    EXPECT_EQ(unit_of_term("pV"), "kJ/mol");
    EXPECT_EQ(unit_of_term("Position Rest."), "kJ/mol");
    EXPECT_EQ(unit_of_term("Temperature"), "K");
    EXPECT_EQ(unit_of_term("T-System"), "K");
    for (const auto* name : {"Pres. DC", "Pressure", "Pres-XY"}) { EXPECT_EQ(unit_of_term(name), "bar"); }
    EXPECT_EQ(unit_of_term("Box-X"), "nm");
    EXPECT_EQ(unit_of_term("Volume"), "nm^3");
    EXPECT_EQ(unit_of_term("Density"), "kg/m^3");
}

double get_double(XdrReader& in) { return std::bit_cast<double>(in.get_hyper()); }
std::string get_text(XdrReader& in)
{
    const auto text = in.get_opaque(static_cast<std::size_t>(in.get_int()));
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

// Reads up to the energies; returns how many numbers each term has.
int expect_frame_header(XdrReader& in, double time, std::int64_t step, int sums, std::int64_t steps_covered)
{
    EXPECT_LT(get_double(in), -1e10);
    EXPECT_EQ(in.get_int(), -7777777);
    EXPECT_EQ(in.get_int(), 5);
    EXPECT_EQ(get_double(in), time);
    EXPECT_EQ(in.get_hyper(), step);
    EXPECT_EQ(in.get_int(), sums);
    EXPECT_EQ(in.get_hyper(), steps_covered);
    EXPECT_EQ(get_double(in), 0.002);
    EXPECT_EQ(in.get_int(), 2); // terms
    for (int i = 0; i < 2; ++i) { EXPECT_EQ(in.get_int(), 0); }
    in.get_opaque(12);
    return sums > 1 ? 3 : 1;
}

TEST(Edr, frames_carry_the_sums_since_the_frame_before)
{
    const ScratchFile file("x.edr");
    EdrWriter writer(file.path(), {"Potential", "Temperature"}, 100, 0.002);
    TermAverages block(2);
    const auto add = [&](double e, double t) {
        const double values[] = {e, t};
        block.add(values);
    };
    add(-10, 300);
    writer.write(100, 0.2, std::vector<double>{-10, 300}, block);
    block.clear();
    add(-12, 301), add(-16, 305);
    writer.write(120, 0.24, std::vector<double>{-16, 305}, block);
    writer.close();

    const auto bytes = file.bytes();
    XdrReader in(bytes, "x.edr");
    EXPECT_EQ(in.get_int(), -55555);
    EXPECT_EQ(in.get_int(), 5);
    EXPECT_EQ(in.get_int(), 2);
    EXPECT_EQ(get_text(in), "Potential");
    EXPECT_EQ(get_text(in), "kJ/mol");
    EXPECT_EQ(get_text(in), "Temperature");
    EXPECT_EQ(get_text(in), "K");
    EXPECT_EQ(expect_frame_header(in, 0.2, 100, 0, 1), 1);
    EXPECT_EQ(get_double(in), -10);
    EXPECT_EQ(get_double(in), 300);
    EXPECT_EQ(expect_frame_header(in, 0.24, 120, 2, 20), 3);
    for (const double number : {-16.0, 8.0, -28.0, 305.0, 8.0, 606.0})
    {
        EXPECT_EQ(get_double(in), number);
    } // value, deviations, sum
    EXPECT_EQ(in.bytes_left(), 0u);
}

TEST(Edr, steps_must_advance)
{
    const ScratchFile file("x.edr");
    EdrWriter writer(file.path(), {"Potential"}, 0, 0.002);
    TermAverages block(1);
    const std::vector<double> value = {1};
    block.add(value);
    writer.write(0, 0, value, block);
    EXPECT_THROW(writer.write(0, 0, value, block), ContractError);
}

} // namespace
} // namespace parhelion
