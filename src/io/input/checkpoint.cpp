// SPDX-License-Identifier: Apache-2.0
#include "io/input/checkpoint.hpp"

#include "base/error.hpp"
#include "io/input/text.hpp"
#include "io/output/box_edges.hpp"
#include "io/output/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <unistd.h>

namespace parhelion {
namespace {

using Json = nlohmann::ordered_json;
// The JSON type for reading. It finds a name among many in one look-up, while the ordered type would compare each.
using ReadJson = nlohmann::json;
static_assert(std::endian::native == std::endian::little, "arrays are written as they are in memory");

constexpr std::uint64_t format_version = 1;
// Returns eight characters as a 64-bit word.
constexpr std::uint64_t word(const char (&text)[9])
{
    std::uint64_t value = 0;
    for (int i = 7; i >= 0; --i) { value = value << 8 | static_cast<unsigned char>(text[i]); }
    return value;
}
constexpr std::uint64_t magic = word("PARH-CPT"), about_name = word("about   "), x_name = word("x       "),
                        v_name = word("v       ");

using Header = std::array<std::uint64_t, 4>;        // magic, version, length of the file, hash of the three before
using SectionHeader = std::array<std::uint64_t, 3>; // name, number of bytes, hash of the bytes (seed: hash of both before)
constexpr std::size_t hashed_words(const Header&) { return 3; }
constexpr std::size_t hashed_words(const SectionHeader&) { return 2; }

template <class Words>
std::uint64_t hash_of(const Words& words)
{
    return XXH64(words.data(), hashed_words(words) * sizeof(std::uint64_t), format_version);
}
std::uint64_t hash_of(const SectionHeader& header, std::span<const unsigned char> bytes)
{
    return XXH64(bytes.data(), bytes.size(), hash_of(header));
}

template <class T>
std::span<const unsigned char> bytes_of(const T& list)
{
    return {reinterpret_cast<const unsigned char*>(list.data()), list.size() * sizeof(*list.data())};
}

// --- the description

// Throws unless `condition` holds. Written values are always possible, but a file that is read may come from anywhere.
void require(bool condition, const char* problem)
{
    if (!condition) { throw std::domain_error(problem); }
}

constexpr std::int64_t latest_step = std::numeric_limits<std::int64_t>::max() / 4 * 3; // larger steps are for runs without an end
constexpr double longest_edge = 1e6;                                                   // nm
constexpr double speed_of_light = 299792.458;                                          // nm/ps

Json to_json(const std::vector<double>& numbers)
{
    for (const double number : numbers) { PARHELION_EXPECTS(std::isfinite(number)); } // JSON has only finite numbers
    return numbers;
}

// Returns the edge lengths of a rectangular box, or the three edge vectors of any other box.
std::vector<double> numbers_of(const Box<double>& box)
{
    const Vec3<double>& diagonal = box.diagonal();
    if (box.is_rectangular()) { return {diagonal.x, diagonal.y, diagonal.z}; }
    const BoxEdges edges = edges_of(box);
    return {edges.begin(), edges.end()};
}

Box<double> box_from(const std::vector<double>& numbers)
{
    require(numbers.size() == 3 || numbers.size() == 9, "a box of another number of edges");
    BoxEdges edges{};
    for (std::size_t i = 0; i < numbers.size(); ++i) { edges[numbers.size() == 3 ? 4 * i : i] = numbers[i]; }
    std::string problem;
    const Box<double> box = box_of(edges, problem);
    for (int d = 0; d < 3; ++d)
    {
        require(box.diagonal()[d] > 0 && box.diagonal()[d] <= longest_edge, "an edge of the box has no possible length");
    }
    require(problem.empty(), "an edge of the box leans too far");
    return box;
}

Json to_json(const TermAverages& averages)
{
    std::vector<double> mean, squares;
    for (std::size_t i = 0; i < averages.terms(); ++i)
    {
        mean.push_back(averages.mean(i));
        squares.push_back(averages.squared_deviations(i));
    }
    return {{"count", averages.count()}, {"mean", to_json(mean)}, {"squared_deviations", to_json(squares)}};
}

// Returns an integer in a range. Checks its type, because the JSON library converts numbers of any kind.
std::int64_t integer_from(const ReadJson& json, std::int64_t least, std::int64_t most)
{
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    require(json.is_number_integer() && (!json.is_number_unsigned() || json.get<std::uint64_t>() <= largest),
            "a number is not whole, or too large");
    const auto value = json.get<std::int64_t>();
    require(value >= least && value <= most, "a number is out of range");
    return value;
}

TermAverages averages_from(const ReadJson& json)
{
    auto mean = json.at("mean").get<std::vector<double>>(), squares = json.at("squared_deviations").get<std::vector<double>>();
    require(mean.size() == squares.size(), "averages of different lengths");
    return {integer_from(json.at("count"), 0, latest_step), std::move(mean), std::move(squares)};
}

void add_mark(Json& outputs, const std::string& name, const FileMark& mark)
{
    outputs[name + "_bytes"] = mark.bytes;
    if (mark.tail) { outputs[name + "_tail"] = *mark.tail; }
}
// Returns the mark of an output file. With its length alone, a continued run could cut a replaced file to this length unnoticed.
FileMark mark_from(const ReadJson& outputs, const std::string& name)
{
    FileMark mark;
    mark.bytes = static_cast<std::uint64_t>(integer_from(outputs.at(name + "_bytes"), 0, std::numeric_limits<off_t>::max()));
    const auto tail = outputs.find(name + "_tail");
    require(tail != outputs.end() || mark.bytes == 0, "the length of a file without a hash of its end");
    if (tail == outputs.end()) { return mark; }
    require(tail->is_number_unsigned(), "a hash is not one");
    mark.tail = tail->get<std::uint64_t>();
    return mark;
}

H5mdFrames frames_from(const ReadJson& outputs)
{
    H5mdFrames frames{};
    const auto list = outputs.find("h5md_frames");
    if (list == outputs.end()) { return frames; } // an older version of the program wrote no such files
    require(list->is_array() && list->size() == frames.size(), "numbers of frames of other arrays");
    for (std::size_t i = 0; i < frames.size(); ++i) { frames[i] = integer_from(list->at(i), 0, latest_step); }
    return frames;
}

Json to_json(const BlockAverages& blocks)
{
    const BlockAverages::Data& data = blocks.data();
    return {{"length", data.length}, {"in_block", data.in_block}, {"sums", to_json(data.sums)}, {"means", to_json(data.means)}};
}
BlockAverages blocks_from(const ReadJson& json, std::size_t terms)
{
    BlockAverages::Data data{integer_from(json.at("length"), 1, latest_step), integer_from(json.at("in_block"), 0, latest_step),
                             json.at("sums").get<std::vector<double>>(), json.at("means").get<std::vector<double>>()};
    require(data.sums.size() == terms && BlockAverages::is_possible(data), "blocks of energies that cannot be");
    return BlockAverages(std::move(data));
}

Json describe(const Checkpoint& checkpoint)
{
    Json run = Json::object(), coupling = Json::object();
    for (const auto& [name, value] : checkpoint.run) { run[name] = value; }
    for (const auto& [name, values] : checkpoint.state.coupling) { coupling[name] = to_json(values); }
    const SavedState& state = checkpoint.state;
    const OutputPosition& position = checkpoint.outputs;
    Json outputs = {{"next_energy_step", position.next_energy_step},
                    {"since_frame", to_json(position.since_frame)},
                    {"whole_run", to_json(position.whole_run)},
                    {"blocks", to_json(position.blocks)}};
    add_mark(outputs, "xtc", position.files.xtc);
    add_mark(outputs, "trr", position.files.trr);
    add_mark(outputs, "edr", position.files.edr);
    outputs["h5md_frames"] = position.files.h5md;
    add_mark(outputs, "log", position.log);
    return {
        {"step", state.step},   {"reached", checkpoint.reached},
        {"seed", state.seed},   {"box_nm", to_json(numbers_of(state.box))},
        {"coupling", coupling}, {"position_bits", std::holds_alternative<std::vector<Vec3<std::uint32_t>>>(state.x) ? 32 : 64},
        {"outputs", outputs},   {"run", run}};
}

// Reads all data except positions and velocities. If an entry is missing, throws an error
// of the JSON library. If an entry is impossible for a run, throws std::domain_error.
Checkpoint checkpoint_from(const ReadJson& about)
{
    Checkpoint checkpoint;
    SavedState& state = checkpoint.state;
    state.step = integer_from(about.at("step"), 0, latest_step);
    checkpoint.reached = integer_from(about.at("reached"), state.step - 1, latest_step);
    constexpr std::numeric_limits<std::int64_t> any;
    state.seed = integer_from(about.at("seed"), any.min(), any.max());
    state.box = box_from(about.at("box_nm").get<std::vector<double>>());
    for (const auto& [name, values] : about.at("coupling").items()) { state.coupling[name] = values.get<std::vector<double>>(); }
    const ReadJson& outputs = about.at("outputs");
    OutputPosition& position = checkpoint.outputs;
    position.files = {mark_from(outputs, "xtc"), mark_from(outputs, "trr"), mark_from(outputs, "edr")};
    position.files.h5md = frames_from(outputs);
    position.log = mark_from(outputs, "log");
    position.next_energy_step = integer_from(outputs.at("next_energy_step"), 0, state.step);
    position.since_frame = averages_from(outputs.at("since_frame"));
    position.whole_run = averages_from(outputs.at("whole_run"));
    require(position.since_frame.terms() == position.whole_run.terms(), "averages of different lengths");
    require(position.since_frame.count() <= std::min(state.step - position.next_energy_step, position.whole_run.count()),
            "more energies than there were steps");
    position.blocks = blocks_from(outputs.at("blocks"), position.whole_run.terms());
    for (const auto& [name, value] : about.at("run").items()) { checkpoint.run.emplace_back(name, value.get<std::string>()); }
    return checkpoint;
}

// --- writing

void append_section(OutputFile& file, std::uint64_t name, std::span<const unsigned char> bytes)
{
    SectionHeader header{name, bytes.size(), 0};
    header[2] = hash_of(header, bytes);
    file.append(bytes_of(header));
    file.append(bytes);
}

void write_file(const std::string& path, const Checkpoint& checkpoint)
{
    const std::string about = describe(checkpoint).dump();
    const std::array<std::span<const unsigned char>, 3> sections = {
        bytes_of(about), std::visit([](const auto& list) { return bytes_of(list); }, checkpoint.state.x),
        std::visit([](const auto& list) { return bytes_of(list); }, checkpoint.state.v)};
    Header header{magic, format_version, sizeof(Header), 0};
    for (const auto& section : sections) { header[2] += sizeof(SectionHeader) + section.size(); }
    header[3] = hash_of(header);
    OutputFile file(path);
    file.append(bytes_of(header));
    append_section(file, about_name, sections[0]);
    append_section(file, x_name, sections[1]);
    append_section(file, v_name, sections[2]);
    file.finish_record();
    file.sync();
    file.close();
}

[[noreturn]] void failed(const std::string& call, const std::string& path)
{
    throw SystemError(fmt::format("{}  {} failed: {} (errno {})", path, call, std::strerror(errno), errno));
}

// Syncs the folder of `path` to disk, so that renamings survive a power failure.
void sync_folder(const std::string& path)
{
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const std::string name = folder.empty() ? "." : folder.string();
    const int descriptor = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) { failed("open", name); }
    const int result = ::fsync(descriptor);
    ::close(descriptor);
    if (result != 0 && errno != EINVAL) { failed("fsync", name); } // EINVAL: the file system does not support it
}

void rename_file(const std::string& from, const std::string& to)
{
    if (::rename(from.c_str(), to.c_str()) != 0) { failed("rename", from); }
}

// --- reading

class Reader
{
public:
    Reader(const std::string& path, std::string_view bytes) : path_(path), bytes_(bytes)
    {
        const auto header = take<Header>();
        if (header[0] != magic) { damaged("it does not begin like a checkpoint"); }
        if (header[3] != hash_of(header)) { damaged("the hash of its header is wrong"); }
        if (header[1] != format_version)
        {
            damaged(fmt::format("its format is number {}, this program knows {}", header[1], format_version));
        }
        if (header[2] != bytes.size()) { damaged(fmt::format("it has {} bytes instead of {}", bytes.size(), header[2])); }
    }

    std::span<const unsigned char> section(std::uint64_t name)
    {
        const auto header = take<SectionHeader>();
        if (header[0] != name || header[1] > bytes_.size()) { damaged("a section is not where it should be"); }
        const std::span<const unsigned char> bytes = bytes_of(bytes_.substr(0, header[1]));
        if (header[2] != hash_of(header, bytes)) { damaged("the hash of a section is wrong"); }
        bytes_.remove_prefix(header[1]);
        return bytes;
    }
    template <class T>
    std::vector<Vec3<T>> vectors(std::uint64_t name)
    {
        const std::span<const unsigned char> bytes = section(name);
        if (bytes.size() % sizeof(Vec3<T>) != 0) { damaged("an array has no whole number of vectors"); }
        std::vector<Vec3<T>> list(bytes.size() / sizeof(Vec3<T>));
        if (!list.empty()) { std::memcpy(list.data(), bytes.data(), bytes.size()); }
        return list;
    }
    void expect_end() const
    {
        if (!bytes_.empty()) { damaged("something follows its last section"); }
    }
    [[noreturn]] void damaged(const std::string& problem) const
    {
        throw InputError("E190", {path_, 0}, "is not a whole checkpoint: " + problem + ".");
    }

private:
    template <class Words>
    Words take()
    {
        Words words;
        if (bytes_.size() < sizeof words) { damaged("it ends too early"); }
        std::memcpy(words.data(), bytes_.data(), sizeof words);
        bytes_.remove_prefix(sizeof words);
        return words;
    }

    const std::string& path_;
    std::string_view bytes_;
};

void require_usable(const SavedState& state)
{
    const auto atoms = [](const auto& list) { return list.size(); };
    require(std::visit(atoms, state.x) == std::visit(atoms, state.v), "positions and velocities of different numbers of atoms");
    const auto is_possible = [](const auto& v) { // written so that NaN gives false
        return std::abs(v.x) < speed_of_light && std::abs(v.y) < speed_of_light && std::abs(v.z) < speed_of_light;
    };
    require(std::visit([&](const auto& list) { return std::all_of(list.begin(), list.end(), is_possible); }, state.v),
            "an atom is faster than light");
}

// Checks that the file can be read. A disk that fails is an error here; once the file is mapped it would end the program.
void expect_readable(const std::string& path)
{
    std::vector<char> block(1 << 20);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ssize_t got = 1;
    while (descriptor >= 0 && got > 0) { got = ::read(descriptor, block.data(), block.size()); }
    const int error = errno;
    if (descriptor >= 0) { ::close(descriptor); }
    if (descriptor < 0 || got < 0)
    {
        throw InputError("E110", {path, 0}, fmt::format("cannot be read: {}.", std::strerror(error)));
    }
}

} // namespace

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name)
{
    Reader reader(name, bytes);
    const std::span<const unsigned char> text = reader.section(about_name);
    try
    {
        const ReadJson about = ReadJson::parse(text.begin(), text.end());
        Checkpoint checkpoint = checkpoint_from(about);
        const std::int64_t bits = integer_from(about.at("position_bits"), 32, 64);
        require(bits == 32 || bits == 64, "positions of a size that none have");
        if (bits == 32)
        {
            checkpoint.state.x = reader.vectors<std::uint32_t>(x_name);
            checkpoint.state.v = reader.vectors<float>(v_name);
        }
        else
        {
            checkpoint.state.x = reader.vectors<std::uint64_t>(x_name);
            checkpoint.state.v = reader.vectors<double>(v_name);
        }
        require_usable(checkpoint.state);
        reader.expect_end();
        return checkpoint;
    }
    catch (const Json::exception& error)
    {
        reader.damaged(error.what());
    }
    catch (const std::domain_error& error)
    {
        throw InputError("E190", {name, 0}, std::string("is not a checkpoint of any run: ") + error.what() + ".");
    }
}

Checkpoint read_checkpoint(const std::string& path)
{
    const MappedFile file(path);
    expect_readable(path);
    return parse_checkpoint(file.text(), path);
}

CheckpointFiles::CheckpointFiles(const std::string& prefix) : newest_(prefix + ".cpt"), previous_(prefix + ".prev.cpt") {}

std::optional<Checkpoint> CheckpointFiles::read(std::string& remark)
{
    const bool newest_exists = std::filesystem::exists(newest_), previous_exists = std::filesystem::exists(previous_);
    if (!newest_exists && !previous_exists) { return std::nullopt; }
    std::string problem = newest_ + " is missing.";
    if (newest_exists)
    {
        try
        {
            Checkpoint checkpoint = read_checkpoint(newest_);
            newest_step_ = checkpoint.state.step;
            return checkpoint;
        }
        catch (const InputError& error)
        {
            if (error.id() != "E190") { throw; } // the file may be complete, so its error is passed on
            newest_is_damaged_ = true;
            problem = newest_ + " " + error.message();
        }
    }
    try
    {
        Checkpoint checkpoint = read_checkpoint(previous_);
        remark = fmt::format("{} Continuing from {}, step {}.", problem, previous_, checkpoint.state.step);
        return checkpoint;
    }
    catch (const InputError& error)
    {
        throw InputError(
            "E190", {newest_, 0},
            fmt::format(
                "cannot be used to continue, and neither can {}: {} {} {} Put a copy in place, or start afresh with --new.",
                previous_, problem, previous_, error.message()));
    }
}

void CheckpointFiles::write(const Checkpoint& checkpoint)
{
    const std::string unfinished = newest_ + ".tmp";
    try
    {
        write_file(unfinished, checkpoint);
    }
    catch (const SystemError&)
    {
        ::unlink(unfinished.c_str());
        throw;
    }
    const bool is_kept = !newest_is_damaged_ && newest_step_ != checkpoint.state.step;
    if (is_kept && std::filesystem::exists(newest_)) { rename_file(newest_, previous_); }
    rename_file(unfinished, newest_);
    newest_is_damaged_ = false;
    newest_step_ = checkpoint.state.step;
    sync_folder(newest_);
}

} // namespace parhelion
