// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "io/input/checkpoint.hpp"
#include "io/input/run_identity.hpp"
#include "io/output/output_file.hpp"
#include "scratch_file.hpp"
#include "sealed_checkpoint.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <unistd.h>

using namespace parhelion;
using namespace parhelion::test;
using testing::HasSubstr;

namespace {

template <class Fixed, class Real>
Checkpoint sample(std::size_t atoms, std::int64_t step = 1234)
{
    std::mt19937_64 random(step);
    std::vector<Vec3<Fixed>> x(atoms);
    std::vector<Vec3<Real>> v(atoms);
    for (std::size_t i = 0; i < atoms; ++i)
    {
        for (int d = 0; d < 3; ++d)
        {
            x[i][d] = static_cast<Fixed>(random());
            v[i][d] = static_cast<Real>(std::sin(static_cast<double>(random())));
        }
    }
    Checkpoint checkpoint;
    checkpoint.run = {{"atoms", std::to_string(atoms)}, {"dt", "0.002"}}; // as read: by name
    checkpoint.reached = step + 7;
    checkpoint.outputs.files = {{std::uint64_t{5} << 40, ~std::uint64_t{0}}, {2, 7}, {3, 0}, {std::int64_t{1} << 40, 0, 6}};
    checkpoint.outputs.log = {4, 9};
    checkpoint.outputs.next_energy_step = std::max<std::int64_t>(0, step - 3);
    checkpoint.outputs.since_frame = TermAverages(1, {1.0 / 3}, {0.0});
    checkpoint.outputs.whole_run = TermAverages(99, {-1e5 / 3}, {M_PI});
    checkpoint.outputs.blocks = BlockAverages({4, 3, {1e5 / 7}, std::vector<double>(24, -1e5 / 3)});
    checkpoint.state = {step, -5, {1.1, 2.2, 1.0 / 3}, std::move(x), std::move(v), {{"xi", {0.1, -0.0, 1e-310}}, {"heat", {}}}};
    return checkpoint;
}

void expect_same(const Checkpoint& a, const Checkpoint& b)
{
    EXPECT_EQ(a.run, b.run);
    EXPECT_EQ(a.reached, b.reached);
    for (const auto mark : {&OutputMarks::xtc, &OutputMarks::trr, &OutputMarks::edr})
    {
        EXPECT_EQ((a.outputs.files.*mark).bytes, (b.outputs.files.*mark).bytes);
        EXPECT_EQ((a.outputs.files.*mark).tail, (b.outputs.files.*mark).tail);
    }
    EXPECT_EQ(a.outputs.files.h5md, b.outputs.files.h5md);
    EXPECT_EQ(a.outputs.log.bytes, b.outputs.log.bytes);
    EXPECT_EQ(a.outputs.log.tail, b.outputs.log.tail);
    EXPECT_EQ(a.outputs.next_energy_step, b.outputs.next_energy_step);
    for (const auto& [left, right] :
         {std::pair(&a.outputs.since_frame, &b.outputs.since_frame), std::pair(&a.outputs.whole_run, &b.outputs.whole_run)})
    {
        EXPECT_EQ(left->count(), right->count());
        ASSERT_EQ(left->terms(), right->terms());
        EXPECT_EQ(left->mean(0), right->mean(0));
        EXPECT_EQ(left->squared_deviations(0), right->squared_deviations(0));
    }
    EXPECT_EQ(a.outputs.blocks.data().in_block, b.outputs.blocks.data().in_block);
    EXPECT_EQ(a.outputs.blocks.data().sums, b.outputs.blocks.data().sums);
    EXPECT_EQ(a.outputs.blocks.data().means, b.outputs.blocks.data().means);
    EXPECT_EQ(a.state.step, b.state.step);
    EXPECT_EQ(a.state.seed, b.state.seed);
    EXPECT_EQ(a.state.box, b.state.box);
    EXPECT_EQ(a.state.x, b.state.x);
    EXPECT_EQ(a.state.v, b.state.v);
    EXPECT_EQ(a.state.coupling, b.state.coupling);
}

void overwrite(const std::string& path, const std::string& content)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class CheckpointTest : public testing::Test
{
protected:
    ScratchFile newest{"run.cpt"}, previous{"run.prev.cpt"};
    std::string prefix = newest.path().substr(0, newest.path().size() - 4);
    CheckpointFiles files{prefix};
    std::string remark;
};

} // namespace

TEST_F(CheckpointTest, comes_back_as_it_was_in_both_precisions)
{
    const Checkpoint mixed = sample<std::uint32_t, float>(101), in_double = sample<std::uint64_t, double>(33, 2);
    files.write(mixed);
    expect_same(*files.read(remark), mixed);
    files.write(in_double);
    expect_same(*files.read(remark), in_double);
    EXPECT_TRUE(std::signbit(files.read(remark)->state.coupling.at("xi")[1]));
    EXPECT_EQ(remark, "");
    EXPECT_FALSE(std::filesystem::exists(newest.path() + ".tmp"));
}

TEST_F(CheckpointTest, keeps_the_one_before)
{
    for (const std::int64_t step : {10, 20, 30}) { files.write(sample<std::uint32_t, float>(5, step)); }
    EXPECT_EQ(read_checkpoint(newest.path()).state.step, 30);
    EXPECT_EQ(read_checkpoint(previous.path()).state.step, 20);
}

TEST_F(CheckpointTest, notices_every_flipped_bit_and_every_cut)
{
    files.write(sample<std::uint32_t, float>(40));
    const std::string whole = newest.text();
    std::mt19937_64 random(2);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    constexpr std::size_t header_bits = (32 + 24) * 8;
    for (std::size_t round = 0; round < 2000 + header_bits; ++round)
    {
        std::string damaged = whole;
        const std::size_t bit = round < header_bits ? round : below(8 * whole.size());
        if (round % 4 == 3 && round >= header_bits) { damaged.resize(below(whole.size())); }
        else { damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8)); }
        EXPECT_THROW(parse_checkpoint(damaged, "md.cpt"), InputError) << "bit " << bit << ", " << damaged.size() << " bytes";
    }
    EXPECT_THROW(parse_checkpoint(whole + "x", "md.cpt"), InputError);
    EXPECT_NO_THROW(parse_checkpoint(whole, "md.cpt"));
}

TEST_F(CheckpointTest, falls_back_on_the_previous_one_and_says_so)
{
    files.write(sample<std::uint32_t, float>(5, 10));
    files.write(sample<std::uint32_t, float>(5, 20));
    std::string damaged = newest.text();
    damaged.back() ^= 1;
    overwrite(newest.path(), damaged);
    EXPECT_EQ(files.read(remark)->state.step, 10);
    EXPECT_THAT(remark, testing::AllOf(HasSubstr("run.cpt is not a whole checkpoint"), HasSubstr("run.prev.cpt, step 10")));
    // The damaged one must not push out the good one.
    files.write(sample<std::uint32_t, float>(5, 30));
    EXPECT_EQ(read_checkpoint(newest.path()).state.step, 30);
    EXPECT_EQ(read_checkpoint(previous.path()).state.step, 10);
}

TEST_F(CheckpointTest, is_found_if_the_program_ended_between_two_renamings)
{
    files.write(sample<std::uint32_t, float>(5, 10));
    std::filesystem::rename(newest.path(), previous.path());
    EXPECT_EQ(files.read(remark)->state.step, 10);
    EXPECT_THAT(remark, HasSubstr("missing"));
    files.write(sample<std::uint32_t, float>(5, 20));
    EXPECT_EQ(read_checkpoint(previous.path()).state.step, 10);
}

TEST_F(CheckpointTest, is_an_error_if_none_is_whole_and_nothing_if_there_is_none)
{
    EXPECT_FALSE(files.read(remark));
    overwrite(newest.path(), "PARH-CPT");
    try
    {
        files.read(remark);
        ADD_FAILURE() << "accepted";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E190");
        EXPECT_THAT(error.message(), HasSubstr("--new"));
    }
}

TEST_F(CheckpointTest, that_cannot_be_written_leaves_the_others_alone)
{
    files.write(sample<std::uint32_t, float>(5, 10));
    std::filesystem::create_directory(newest.path() + ".tmp");
    EXPECT_THROW(files.write(sample<std::uint32_t, float>(5, 20)), SystemError);
    std::filesystem::remove(newest.path() + ".tmp");
    EXPECT_EQ(read_checkpoint(newest.path()).state.step, 10);
}

namespace {

std::string id_of_error(const std::function<void()>& call)
{
    try
    {
        call();
    }
    catch (const InputError& error)
    {
        return error.id();
    }
    return "none";
}

} // namespace

TEST_F(CheckpointTest, that_cannot_be_opened_is_not_called_damaged_and_not_passed_over)
{
    files.write(sample<std::uint32_t, float>(5, 10));
    files.write(sample<std::uint32_t, float>(5, 20));
    std::filesystem::remove(newest.path());
    std::filesystem::create_directory(newest.path());
    EXPECT_EQ(id_of_error([&] { files.read(remark); }), "E110");
    std::filesystem::remove(newest.path());
    std::filesystem::create_symlink("/proc/self/mem", newest.path()); // a regular file that cannot be read from
    EXPECT_EQ(id_of_error([&] { files.read(remark); }), "E110");
    EXPECT_EQ(remark, "");
}

TEST_F(CheckpointTest, does_not_go_through_a_link_that_has_its_temporary_name)
{
    ScratchFile other("other");
    overwrite(other.path(), "somebody's");
    std::filesystem::create_symlink(other.path(), newest.path() + ".tmp");
    files.write(sample<std::uint32_t, float>(5, 10));
    EXPECT_EQ(other.text(), "somebody's");
    EXPECT_FALSE(std::filesystem::is_symlink(newest.path()));
    EXPECT_EQ(read_checkpoint(newest.path()).state.step, 10);
}

// --- behind the hashes

namespace {

using Json = nlohmann::ordered_json;

// Every number, list and object of it, however deep.
std::vector<Json::json_pointer> places_in(const Json& json, const Json::json_pointer& at = Json::json_pointer())
{
    std::vector<Json::json_pointer> places = {at};
    const auto add = [&](const Json& below, const Json::json_pointer& name) {
        const std::vector<Json::json_pointer> more = places_in(below, name);
        places.insert(places.end(), more.begin(), more.end());
    };
    if (json.is_object())
    {
        for (const auto& [name, value] : json.items()) { add(value, at / name); }
    }
    for (std::size_t i = 0; json.is_array() && i < json.size(); ++i) { add(json[i], at / i); }
    return places;
}

const std::vector<Json> odd_values = {0,
                                      1,
                                      -1,
                                      2147483647,
                                      -2147483648,
                                      31,
                                      64,
                                      1e-300,
                                      0.5,
                                      -0.0,
                                      1e308,
                                      -1e308,
                                      1e18,
                                      9223372036854775807,
                                      9223372036854775807u + 1u,
                                      nullptr,
                                      true,
                                      "",
                                      "word",
                                      Json::array(),
                                      {1, 2},
                                      {{"a", 1}},
                                      1e-9,
                                      18446744073709551615u};

// One change that keeps the hashes right: a value, one less, or the bytes of positions and velocities.
CheckpointParts mutated(const CheckpointParts& parts, std::mt19937_64& random)
{
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    CheckpointParts result = parts;
    if (below(10) == 0)
    {
        std::string& part = below(2) == 0 ? result.x : result.v;
        if (below(2) == 0) { part.resize(below(part.size() + 1)); }
        else { part.replace(below(part.size() - 8), 4, below(2) == 0 ? std::string("\0\0\xC0\x7F", 4) : std::string(4, '\xFF')); }
        return result;
    }
    Json about = Json::parse(parts.about);
    const std::vector<Json::json_pointer> places = places_in(about);
    const Json::json_pointer& place = places[1 + below(places.size() - 1)];
    Json& parent = about[place.parent_pointer()];
    if (below(6) == 0 && parent.is_object()) { parent.erase(place.back()); }
    else { about[place] = odd_values[below(odd_values.size())]; }
    result.about = about.dump();
    return result;
}

} // namespace

TEST_F(CheckpointTest, behind_right_hashes_is_refused_unless_a_run_can_have_it)
{
    files.write(sample<std::uint32_t, float>(7));
    const CheckpointParts parts = parts_of(newest.text());
    ASSERT_EQ(sealed(parts), newest.text());
    std::mt19937_64 random(4);
    int accepted = 0, refused = 0;
    for (int round = 0; round < 5000; ++round)
    {
        const std::string bytes = sealed(mutated(parts, random));
        try
        {
            const Checkpoint read = parse_checkpoint(bytes, "md.cpt");
            ++accepted;
            const OutputPosition& position = read.outputs;
            EXPECT_TRUE(read.state.step >= 0 && read.reached >= read.state.step - 1 &&
                        position.next_energy_step <= read.state.step);
            EXPECT_TRUE(position.since_frame.count() >= 0 && position.since_frame.count() <= position.whole_run.count());
            EXPECT_TRUE(std::min({read.state.box.diagonal().x, read.state.box.diagonal().y, read.state.box.diagonal().z}) > 0 &&
                        norm(read.state.box.edge_lengths()) < 1e7);
            for (std::size_t term = 0; term < position.whole_run.terms(); ++term)
            {
                EXPECT_TRUE(std::isfinite(position.since_frame.standard_deviation(term)));
            }
            for (const Vec3<float>& v : std::get<std::vector<Vec3<float>>>(read.state.v)) { EXPECT_LT(norm(v), 1e6); }
            if (accepted % 10 == 0) { files.write(read); } // throws if it is not
        }
        catch (const InputError& error)
        {
            ++refused;
            EXPECT_EQ(error.id(), "E190");
        }
    }
    EXPECT_GT(accepted, 500);
    EXPECT_GT(refused, 2000);
}

TEST_F(CheckpointTest, with_the_length_of_an_output_but_no_hash_of_its_end_is_refused)
{
    for (const auto mark : {&OutputMarks::xtc, &OutputMarks::trr, &OutputMarks::edr})
    {
        Checkpoint checkpoint = sample<std::uint32_t, float>(7);
        checkpoint.outputs.files.*mark = {5};
        files.write(checkpoint);
        EXPECT_THROW(read_checkpoint(newest.path()), InputError); // or the file, whichever it is, would be cut to five bytes
        checkpoint.outputs.files.*mark = {0};
        files.write(checkpoint);
        EXPECT_NO_THROW(read_checkpoint(newest.path()));
    }
}

namespace {

System two_atoms()
{
    System system;
    MoleculeType type;
    type.name = "PAIR";
    type.atoms = {{"A", 0, 0, 12, 0.5}, {"B", 0, 0, 16, -0.5}};
    type.residues = {{"PAI", 1}};
    type.constraints = {{0, 1, 0.1}};
    type.exclusion_start = {0, 1, 2};
    type.excluded = {1, 0};
    system.topology.type_names = {"T"};
    system.topology.c6 = {1e-3};
    system.topology.c12 = {1e-6};
    system.topology.molecule_types = {type};
    system.topology.blocks = {{0, 1, 0}};
    system.box = {3, 3, 3};
    system.x = {{0, 0, 0}, {0.1, 0, 0}};
    return system;
}

} // namespace

TEST(RunIdentity, is_that_of_equal_input_however_long_the_run)
{
    RunParameters parameters, longer;
    longer.steps = 1000000;
    EXPECT_EQ(difference(identify_run(two_atoms(), parameters, "mixed"), identify_run(two_atoms(), longer, "mixed")), "");
}

TEST(RunIdentity, names_what_differs)
{
    const NamedList<std::string> then = identify_run(two_atoms(), {}, "mixed");
    const auto changed = [&](const auto& change) {
        System system = two_atoms();
        RunParameters parameters;
        change(system, parameters);
        return difference(then, identify_run(system, parameters, "mixed"));
    };
    EXPECT_EQ(changed([](System&, RunParameters& p) { p.dt = 0.002; }), "dt (0.001 then, 0.002 now)");
    EXPECT_THAT(changed([](System&, RunParameters& p) { p.random_seed = 3; }), HasSubstr("ld-seed"));
    EXPECT_THAT(changed([](System& s, RunParameters&) { s.x[1].y = 1e-9; }), HasSubstr("start configuration"));
    EXPECT_THAT(changed([](System& s, RunParameters&) { s.groups["G"] = {1}; }), HasSubstr("index groups"));
    // Of options that checkpoints of earlier versions do not have.
    EXPECT_EQ(changed([](System&, RunParameters& p) { p.mass_repartition_factor = 3; }),
              "mass-repartition-factor (nothing then, 3 now)");
    for (const auto& [key, value] : then)
    {
        for (const char* const later :
             {"disre", "ensemble-temperature", "mass-repartition-factor", "freeze", "annealing", "electric-field"})
        {
            EXPECT_FALSE(key.starts_with(later)) << key;
        }
    }
    EXPECT_THAT(difference(then, identify_run(two_atoms(), {}, "double")), HasSubstr("precision (mixed then, double now)"));
    const std::vector<std::function<void(Topology&)>> slips = {
        [](Topology& t) { t.molecule_types[0].atoms[1].mass = 18; },
        [](Topology& t) { t.molecule_types[0].atoms[1].charge = -0.4; },
        [](Topology& t) { t.molecule_types[0].atoms[1].name.back() = 'C'; },
        [](Topology& t) { t.molecule_types[0].constraints[0].length = 0.11; },
        [](Topology& t) {
            t.molecule_types[0].exclusion_start = {0, 1, 1};
        },
        [](Topology& t) {
            t.molecule_types[0].interactions[0].push_back({{0, 1}, 0});
        },
        [](Topology& t) { t.c6[0] *= 2; },
        [](Topology& t) {
            t.parameters[0].push_back({0.1, 1000});
        },
        [](Topology& t) { t.fudge_qq = 0.5; },
    };
    for (std::size_t i = 0; i < slips.size(); ++i)
    {
        EXPECT_THAT(changed([&](System& s, RunParameters&) { slips[i](s.topology); }), HasSubstr("topology")) << i;
    }
}

TEST(OutputFile, goes_on_after_the_bytes_to_keep)
{
    ScratchFile scratch("kept");
    overwrite(scratch.path(), "0123456789");
    {
        OutputFile file(scratch.path(), {4});
        EXPECT_EQ(file.length(), 4u);
        file.append(std::string_view("ab"));
        EXPECT_EQ(file.length(), 4u);
        file.finish_record();
        EXPECT_EQ(file.length(), 6u);
        file.append(std::string_view("unfinished"));
        file.sync();
    }
    EXPECT_EQ(scratch.text(), "0123ab");
}

TEST(OutputFile, that_is_shorter_than_what_is_to_be_kept_is_refused_and_left_alone)
{
    ScratchFile scratch("short");
    overwrite(scratch.path(), "012");
    EXPECT_THROW(OutputFile(scratch.path(), {4}), InputError);
    EXPECT_EQ(scratch.text(), "012");
}

TEST(OutputFile, that_ends_in_other_bytes_is_refused_and_left_alone)
{
    ScratchFile scratch("changed");
    std::string content(3 << 20, '.');
    overwrite(scratch.path(), content);
    const FileMark mark = OutputFile(scratch.path(), {content.size()}).mark(content.size() - 100);
    const auto refusal = [&] { return id_of_error([&] { OutputFile(scratch.path(), mark); }); };
    for (const std::size_t place : {content.size() - 101, content.size() - 100 - (1 << 20)})
    {
        std::string changed = content;
        changed[place] = '!';
        overwrite(scratch.path(), changed);
        EXPECT_EQ(refusal(), "E195") << place;
        EXPECT_EQ(id_of_error([&] { expect_beginning(scratch.path(), mark); }), "E195") << place;
        EXPECT_EQ(scratch.text(), changed);
    }
    content.back() = '!'; // came after the mark
    overwrite(scratch.path(), content);
    EXPECT_EQ(refusal(), "none");
    EXPECT_EQ(scratch.text().size(), mark.bytes);
}

TEST(OutputFile, tells_once_what_something_else_has_done_to_it)
{
    ScratchFile scratch("meddled"), other("other");
    OutputFile removed(scratch.path());
    removed.append("frames");
    EXPECT_EQ(removed.new_interference(), "");
    std::filesystem::rename(scratch.path(), other.path());
    const std::string said = removed.new_interference();
    EXPECT_THAT(said, testing::AllOf(HasSubstr(scratch.path() + " was removed"), HasSubstr("copied from /proc/")));
    EXPECT_EQ(removed.new_interference(), "");
    std::ifstream copy(said.substr(said.find("/proc/"), said.size() - 1 - said.find("/proc/")));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(copy), {}), "frames");

    OutputFile replaced(scratch.path());
    replaced.append("frames");
    std::filesystem::rename(other.path(), scratch.path());
    overwrite(scratch.path(), "another file");
    EXPECT_THAT(replaced.new_interference(), HasSubstr("was replaced"));

    OutputFile cut(other.path());
    cut.append("frames");
    cut.finish_record();
    std::filesystem::resize_file(other.path(), 3);
    cut.append(" and more");
    EXPECT_EQ(other.text(), "fra and more"); // no hole
    EXPECT_THAT(cut.new_interference(), HasSubstr("was changed"));
    cut.close(); // drops what is not finished
    EXPECT_EQ(other.text(), "fra");
}

TEST(OutputFile, takes_the_place_of_a_link_and_leaves_alone_what_it_leads_to)
{
    ScratchFile link("link"), other("other");
    overwrite(other.path(), "somebody's");
    std::filesystem::create_symlink(other.path(), link.path());
    write_text_file(link.path() + ".txt", "ours");
    for (const std::string& name : {link.path() + ".txt.tmp", link.path() + ".xtc"})
    {
        std::filesystem::copy_symlink(link.path(), name);
        if (name.ends_with(".tmp")) { write_text_file(link.path() + ".txt", "new"); }
        else { OutputFile(name).append("frames"); }
        EXPECT_EQ(other.text(), "somebody's") << name;
        EXPECT_FALSE(std::filesystem::is_symlink(name));
        std::filesystem::remove(name);
    }
    std::filesystem::remove(link.path() + ".txt");
    EXPECT_THROW(OutputFile(link.path(), {}, Taken::Empty), SystemError);
    EXPECT_EQ(other.text(), "somebody's");
}

TEST(EnergyFile, in_two_parts_has_the_bytes_of_one)
{
    const std::vector<std::string> terms = {"Potential", "Pressure"};
    TermAverages averages(2);
    averages.add(std::vector<double>{1, 2});
    const auto write = [&](EdrWriter& writer, std::int64_t step) {
        writer.write(step, 0.1 * static_cast<double>(step), std::vector<double>{1, 2}, averages);
    };
    ScratchFile in_one("one.edr"), in_two("two.edr");
    EdrWriter one(in_one.path(), terms, 0, 0.1);
    for (const std::int64_t step : {0, 10, 20}) { write(one, step); }
    one.close();
    EdrWriter first(in_two.path(), terms, 0, 0.1);
    write(first, 0);
    const std::uint64_t kept = first.file().length();
    write(first, 7); // after the checkpoint
    first.close();
    EdrWriter second(in_two.path(), terms, 1, 0.1, {kept});
    for (const std::int64_t step : {10, 20}) { write(second, step); }
    second.close();
    EXPECT_EQ(in_two.text(), in_one.text());
}
