// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint.hpp"

#include "base/error.hpp"
#include "io/output_file.hpp"
#include "io/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xxhash.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace parhelion {
namespace {

using Json = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "arrays are written as they are in memory");

constexpr std::uint64_t format_version = 1;
// A word of eight characters.
constexpr std::uint64_t word(const char (&text)[9])
{
    std::uint64_t value = 0;
    for (int i = 7; i >= 0; --i) { value = value << 8 | static_cast<unsigned char>(text[i]); }
    return value;
}
constexpr std::uint64_t magic = word("PARH-CPT"), about_name = word("about   "), x_name = word("x       "),
                        v_name = word("v       ");

using Header = std::array<std::uint64_t, 4>;        // magic, version, length of the file, hash of these
using SectionHeader = std::array<std::uint64_t, 3>; // name, bytes, hash of the bytes, seeded with that of name and bytes
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

Json to_json(const std::vector<double>& numbers)
{
    for (const double number : numbers) { PARHELION_EXPECTS(std::isfinite(number)); } // JSON has no other
    return numbers;
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
TermAverages averages_from(const Json& json)
{
    auto mean = json.at("mean").get<std::vector<double>>(), squares = json.at("squared_deviations").get<std::vector<double>>();
    if (mean.size() != squares.size()) { throw std::length_error("averages of different lengths"); }
    return {json.at("count").get<std::int64_t>(), std::move(mean), std::move(squares)};
}

Json describe(const Checkpoint& checkpoint)
{
    Json run = Json::object(), coupling = Json::object();
    for (const auto& [name, value] : checkpoint.run) { run[name] = value; }
    for (const auto& [name, values] : checkpoint.state.coupling) { coupling[name] = to_json(values); }
    const SavedState& state = checkpoint.state;
    const OutputPosition& outputs = checkpoint.outputs;
    return {{"step", state.step},
            {"reached", checkpoint.reached},
            {"seed", state.seed},
            {"box_nm", to_json({state.box.x, state.box.y, state.box.z})},
            {"coupling", coupling},
            {"position_bits", std::holds_alternative<std::vector<Vec3<std::uint32_t>>>(state.x) ? 32 : 64},
            {"outputs",
             {{"xtc_bytes", outputs.files.xtc},
              {"trr_bytes", outputs.files.trr},
              {"edr_bytes", outputs.files.edr},
              {"log_bytes", outputs.log},
              {"next_energy_step", outputs.next_energy_step},
              {"since_frame", to_json(outputs.since_frame)},
              {"whole_run", to_json(outputs.whole_run)}}},
            {"run", run}};
}

// All but positions and velocities; throws what the JSON library throws if something is missing.
Checkpoint checkpoint_from(const Json& about)
{
    Checkpoint checkpoint;
    SavedState& state = checkpoint.state;
    state.step = about.at("step").get<std::int64_t>();
    checkpoint.reached = about.at("reached").get<std::int64_t>();
    state.seed = about.at("seed").get<std::int64_t>();
    const auto box = about.at("box_nm").get<std::array<double, 3>>();
    state.box = {box[0], box[1], box[2]};
    for (const auto& [name, values] : about.at("coupling").items()) { state.coupling[name] = values.get<std::vector<double>>(); }
    const Json& outputs = about.at("outputs");
    OutputPosition& position = checkpoint.outputs;
    position.files = {outputs.at("xtc_bytes").get<std::uint64_t>(), outputs.at("trr_bytes").get<std::uint64_t>(),
                      outputs.at("edr_bytes").get<std::uint64_t>()};
    position.log = outputs.at("log_bytes").get<std::uint64_t>();
    position.next_energy_step = outputs.at("next_energy_step").get<std::int64_t>();
    position.since_frame = averages_from(outputs.at("since_frame"));
    position.whole_run = averages_from(outputs.at("whole_run"));
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

// Makes renamings in the folder of `path` survive a power failure.
void sync_folder(const std::string& path)
{
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const std::string name = folder.empty() ? "." : folder.string();
    const int descriptor = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) { failed("open", name); }
    const int result = ::fsync(descriptor);
    ::close(descriptor);
    if (result != 0 && errno != EINVAL) { failed("fsync", name); } // EINVAL: a file system that has no such thing
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

} // namespace

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name)
{
    Reader reader(name, bytes);
    const std::span<const unsigned char> text = reader.section(about_name);
    try
    {
        const Json about = Json::parse(text.begin(), text.end());
        Checkpoint checkpoint = checkpoint_from(about);
        if (about.at("position_bits").get<int>() == 32)
        {
            checkpoint.state.x = reader.vectors<std::uint32_t>(x_name);
            checkpoint.state.v = reader.vectors<float>(v_name);
        }
        else
        {
            checkpoint.state.x = reader.vectors<std::uint64_t>(x_name);
            checkpoint.state.v = reader.vectors<double>(v_name);
        }
        return checkpoint;
    }
    catch (const Json::exception& error)
    {
        reader.damaged(error.what());
    }
    catch (const std::length_error& error)
    {
        reader.damaged(error.what());
    }
}

Checkpoint read_checkpoint(const std::string& path) { return parse_checkpoint(MappedFile(path).text(), path); }

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
