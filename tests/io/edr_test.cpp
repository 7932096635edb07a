// SPDX-License-Identifier: Apache-2.0
// Averages and the bytes of .edr files; tests/python reads such files with other projects' readers.
#include "io/output/edr.hpp"

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
    TermAverages joined(2);
    joined.add(averages);
    joined.add(averages);
    EXPECT_EQ(joined.count(), 8);
    EXPECT_DOUBLE_EQ(joined.mean(0), 4.0);
    EXPECT_DOUBLE_EQ(joined.squared_deviations(0), 2 * (9 + 4 + 0 + 25));
    averages.clear();
    joined.add(averages);
    EXPECT_EQ(joined.count(), 8);
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

// 41 energy calculations, a frame at every fourth.
std::vector<std::byte> bytes_of_a_run(TermAverages& all)
{
    const ScratchFile file("run.edr");
    EdrWriter writer(file.path(), {"Potential", "Temperature"}, 100, 0.002);
    TermAverages since_last(2);
    for (int i = 0; i <= 40; ++i)
    {
        const double values[] = {-1e6 + i * i, 300 - 0.5 * i};
        all.add(values);
        since_last.add(values);
        if (i % 4 != 0) { continue; }
        writer.write(100 + 5 * i, 0.01 * i, values, since_last);
        since_last.clear();
    }
    writer.close();
    return file.bytes();
}

TEST(EdrReader, reads_what_was_written_and_adds_up_the_averages_of_all)
{
    TermAverages all(2), read(2);
    const auto bytes = bytes_of_a_run(all);
    EdrReader reader(bytes, "run.edr");
    ASSERT_EQ(reader.terms().size(), 2u);
    EXPECT_EQ(reader.terms()[1].name, "Temperature");
    EXPECT_EQ(reader.terms()[1].unit, "K");
    EdrFrame frame;
    for (int i = 0; i <= 40; i += 4)
    {
        ASSERT_TRUE(reader.read(frame));
        EXPECT_EQ(frame.step, 100 + 5 * i);
        EXPECT_EQ(frame.time, 0.01 * i);
        EXPECT_EQ(frame.values[0], -1e6 + i * i);
        EXPECT_EQ(frame.values[1], 300 - 0.5 * i);
        EXPECT_EQ(frame.since_last.count(), i == 0 ? 1 : 4);
        read.add(frame.since_last);
    }
    EXPECT_FALSE(reader.read(frame));
    EXPECT_EQ(reader.precision(), Precision::Double);
    EXPECT_EQ(read.count(), 41);
    for (std::size_t i = 0; i < 2; ++i)
    {
        EXPECT_NEAR(read.mean(i), all.mean(i), 1e-14 * std::abs(all.mean(i)));
        EXPECT_NEAR(read.squared_deviations(i), all.squared_deviations(i), 1e-9 * all.squared_deviations(i));
    }
}

TEST(EdrReader, knows_where_a_file_that_is_cut_ends)
{
    TermAverages all(2);
    const auto bytes = bytes_of_a_run(all);
    EdrReader whole(bytes, "run.edr");
    EdrFrame frame;
    std::vector<std::size_t> lengths; // up to which frames are whole
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
    {
        try
        {
            const std::span<const std::byte> beginning(bytes.data(), cut);
            EdrReader reader(beginning, "run.edr");
            while (reader.read(frame)) {}
            lengths.push_back(cut);
        }
        catch (const InputError& error)
        {
            EXPECT_EQ(error.id(), "E182");
        }
    }
    EXPECT_EQ(lengths.size(), 12u + 3); // none to eleven frames, and within the padding behind the last unit, "K"
}

TEST(EdrReader, gives_frames_or_an_error_whatever_the_bytes_are)
{
    TermAverages all(2);
    const auto bytes = bytes_of_a_run(all);
    samples::Random random(7);
    for (int attempt = 0; attempt < 3000; ++attempt)
    {
        auto damaged = bytes;
        for (int i = 0; i < 3; ++i)
        {
            damaged[static_cast<std::size_t>(random.bits() % bytes.size())] = static_cast<std::byte>(random.bits() % 256);
        }
        try
        {
            EdrReader reader(damaged, "run.edr");
            for (EdrFrame frame; reader.read(frame);) { EXPECT_TRUE(frame.values.empty() || frame.values.size() == 2); }
        }
        catch (const InputError& error)
        {
            EXPECT_EQ(error.id(), "E182");
        }
    }
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
