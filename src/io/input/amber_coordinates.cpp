// SPDX-License-Identifier: Apache-2.0
#include "io/input/amber_coordinates.hpp"

#include "base/units.hpp"
#include "io/input/netcdf.hpp"
#include "io/output/amber_units.hpp"
#include "io/output/box_edges.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

constexpr double velocity_unit = amber_velocity * nm_per_angstrom; // nm/ps: unit of velocities in a text file
constexpr double largest_in_amber = 1e15;                          // largest number that is accepted, as in a .gro
constexpr std::size_t field_width = 12, fields_per_line = 6;

std::string_view field_of(std::string_view line, std::size_t column)
{
    return trimmed(line.substr(std::min(line.size(), column * field_width), field_width));
}

std::size_t fields_in(std::string_view line)
{
    const std::size_t end = line.find_last_not_of(" \t\r");
    return end == line.npos ? 0 : end / field_width + 1;
}

std::optional<std::int64_t> atoms_in(std::string_view line)
{
    std::vector<std::string_view> words;
    split_words(line, words);
    if (words.empty() || words.size() > 3) { return {}; } // the line may have the time and, with replica exchange, a temperature
    for (std::size_t i = 1; i < words.size(); ++i)
    {
        if (!to_real(words[i])) { return {}; }
    }
    const auto atoms = to_integer(words[0]);
    return atoms && *atoms > 0 ? atoms : std::nullopt;
}

void place_box(const std::optional<AmberBox>& box, const std::filesystem::path& path, int line, GroFile& result)
{
    if (!box)
    {
        throw InputError(
            "E170", {path.string(), line},
            "there is no box, neither here nor in the topology (a periodic box is needed). Set one, for example with "
            "ChBox or ParmEd.");
    }
    std::string problem;
    result.box = cell_of(*box, problem);
    if (!problem.empty()) { throw InputError("E580", {path.string(), line}, problem); }
}

class TextReader
{
public:
    TextReader(MappedFile file, const std::optional<AmberBox>& box)
        : file_(std::move(file)), rest_(file_.text_without_mark()), box_(box)
    {
        result_.path = file_.path();
    }
    GroFile read();

private:
    std::string_view take()
    {
        ++line_;
        return take_line(rest_);
    }
    [[noreturn]] void fail(const std::string& message) const
    {
        throw InputError("E170", {result_.path.string(), line_}, message);
    }
    void read_numbers(std::size_t most);
    void take_triples(std::size_t first, double unit, std::vector<Vec3<double>>& to) const;
    void take_box(std::size_t first, std::size_t count);

    MappedFile file_;
    std::string_view rest_;
    int line_ = 0;
    std::optional<AmberBox> box_;
    std::vector<double> numbers_;
    std::size_t atoms_ = 0;
    GroFile result_;
};

void TextReader::read_numbers(std::size_t most)
{
    numbers_.reserve(std::min(most, rest_.size() / field_width + 1));
    while (!rest_.empty())
    {
        const std::string_view line = take();
        const std::size_t fields = fields_in(line);
        if (fields > fields_per_line || numbers_.size() + fields > most)
        {
            fail(fmt::format("there are more numbers than {} atoms have positions, velocities and a box. Is the number of atoms "
                             "in line 2 right, and is it a single frame?",
                             atoms_));
        }
        for (std::size_t i = 0; i < fields; ++i)
        {
            const auto value = to_real(field_of(line, i));
            if (!value || std::abs(*value) > largest_in_amber)
            {
                fail(fmt::format(
                    "columns {} to {} hold {}, not a finite number of usual size (stars: a position that did not fit). "
                    "Write the file anew.",
                    i * field_width + 1, (i + 1) * field_width, in_quotes(field_of(line, i))));
            }
            numbers_.push_back(*value);
        }
    }
}

void TextReader::take_triples(std::size_t first, double unit, std::vector<Vec3<double>>& to) const
{
    to.reserve(atoms_);
    for (std::size_t i = first; i < first + 3 * atoms_; i += 3)
    {
        to.push_back({numbers_[i] * unit, numbers_[i + 1] * unit, numbers_[i + 2] * unit});
    }
}

void TextReader::take_box(std::size_t first, std::size_t count)
{
    const double* const n = numbers_.data() + first;
    const Vec3<double> angles = count == 6 ? Vec3<double>{n[3], n[4], n[5]} : box_ ? box_->angles : Vec3<double>{90, 90, 90};
    box_ = AmberBox{{n[0] * nm_per_angstrom, n[1] * nm_per_angstrom, n[2] * nm_per_angstrom}, angles};
}

GroFile TextReader::read()
{
    result_.title = trimmed(take());
    const auto given = atoms_in(take());
    if (!given || static_cast<std::size_t>(*given) > rest_.size()) // a file cannot have more than three numbers per byte
    {
        fail("the second line is the number of atoms, and perhaps the time; or the file is too short for so many. Is it "
             "complete?");
    }
    atoms_ = static_cast<std::size_t>(*given);
    const std::size_t positions = 3 * atoms_, with_velocities = 2 * positions;
    if (atoms_ <= 2) { fail("has so few atoms that a box cannot be told from velocities. Give a .gro, or NetCDF."); }
    read_numbers(with_velocities + 6);
    const std::size_t all = numbers_.size();
    const bool has_velocities = all >= with_velocities;
    const std::size_t behind = all < positions ? 1 : all - (has_velocities ? with_velocities : positions);
    if (behind != 0 && behind != 3 && behind != 6)
    {
        fail(fmt::format(
            "there are {} numbers; {} atoms have {} for positions, as many for velocities or none, and 0, 3 or 6 for the "
            "box. Is the file complete?",
            all, atoms_, positions));
    }
    take_triples(0, nm_per_angstrom, result_.x);
    if (has_velocities) { take_triples(positions, velocity_unit, result_.v); }
    if (behind > 0) { take_box(all - behind, behind); }
    place_box(box_, result_.path, line_, result_);
    return std::move(result_);
}

} // namespace

bool is_amber_coordinates(std::string_view text)
{
    if (is_netcdf(text)) { return true; }
    take_line(text);
    if (!atoms_in(take_line(text))) { return false; }
    const std::string_view line = take_line(text);
    const std::size_t fields = fields_in(line);
    if (fields < 3 || fields > fields_per_line) { return false; }
    for (std::size_t i = 0; i < fields; ++i)
    {
        const std::string_view field = field_of(line, i);
        if (!to_real(field) && field.find('*') == field.npos) { return false; }
    }
    return true;
}

Box<double> cell_of(const AmberBox& given, std::string& problem)
{
    const auto cosine = [](double angle) { return angle == 90 ? 0.0 : std::cos(angle * units::degree); };
    const Vec3<double>& l = given.lengths;
    const double alpha = cosine(given.angles.x), beta = cosine(given.angles.y), gamma = cosine(given.angles.z);
    const double sine = gamma == 0 ? 1.0 : std::sin(given.angles.z * units::degree);
    const double along_y = (alpha - beta * gamma) / sine, along_z2 = 1 - beta * beta - along_y * along_y;
    const auto is_angle = [](double angle) { return angle > 0 && angle < 180; };
    if (!(l.x > 0) || !(l.y > 0) || !(l.z > 0) || !is_angle(given.angles.x) || !is_angle(given.angles.y) ||
        !is_angle(given.angles.z) || !(along_z2 > 1e-6))
    {
        problem = fmt::format("edges of {}, {} and {} nm with angles of {}, {} and {} degrees make no cell. Correct the box.",
                              l.x, l.y, l.z, given.angles.x, given.angles.y, given.angles.z);
        return {};
    }
    Vec3<double> b = {l.y * gamma, l.y * sine, 0}, c = {l.z * beta, l.z * along_y, l.z * std::sqrt(along_z2)};
    constexpr double most = 0.5 * 1.001; // an edge may lean by this fraction of another edge, as in box_of()
    const auto shorten = [&](double& along, double by) { return std::abs(along) > most * by ? std::round(along / by) : 0.0; };
    if (const double n = shorten(c.y, b.y); n != 0) { c -= n * b; }
    c.x -= shorten(c.x, l.x) * l.x;
    b.x -= shorten(b.x, l.x) * l.x;
    return box_of({l.x, 0, 0, b.x, b.y, 0, c.x, c.y, c.z}, problem);
}

namespace {

std::vector<Vec3<double>> triples(const NetcdfFile& file, const char* name, double unit)
{
    const std::vector<std::int64_t>& shape = file.find(name)->shape;
    if (shape.size() != 2 || shape[1] != 3)
    {
        file.fail(fmt::format("its variable {} is not three numbers for each atom.", name));
    }
    const std::vector<double> numbers = file.values(name, largest_in_amber);
    std::vector<Vec3<double>> result;
    result.reserve(numbers.size() / 3);
    for (std::size_t i = 0; i < numbers.size(); i += 3)
    {
        result.push_back({numbers[i] * unit, numbers[i + 1] * unit, numbers[i + 2] * unit});
    }
    return result;
}

Vec3<double> triple(const NetcdfFile& file, const char* name)
{
    const std::vector<double> numbers = file.values(name, largest_in_amber);
    if (numbers.size() != 3) { file.fail(fmt::format("its variable {} is not three numbers.", name)); }
    return {numbers[0], numbers[1], numbers[2]};
}

// Reads a restart file by AMBER's NetCDF Trajectory/Restart Convention, version 1.0.
GroFile read_netcdf(MappedFile mapped, std::optional<AmberBox> box)
{
    const NetcdfFile file(std::move(mapped));
    if (file.attribute("Conventions") != "AMBERRESTART" || file.find("coordinates") == nullptr)
    {
        file.fail("is NetCDF, but no AMBER restart file with positions. Turn a frame of a trajectory into one, for example with "
                  "cpptraj.");
    }
    GroFile result;
    result.path = file.path();
    result.title = file.attribute("title");
    result.x = triples(file, "coordinates", nm_per_angstrom);
    // Numbers times the variable's scale_factor, 20.455, are in Angstrom/ps.
    if (file.find("velocities") != nullptr) { result.v = triples(file, "velocities", nm_per_angstrom); }
    if (!result.v.empty() && result.v.size() != result.x.size()) { file.fail("has velocities of another number of atoms."); }
    if (file.find("cell_lengths") != nullptr)
    {
        const Vec3<double> right{90, 90, 90};
        const Vec3<double> angles = file.find("cell_angles") != nullptr ? triple(file, "cell_angles") : box ? box->angles : right;
        box = AmberBox{nm_per_angstrom * triple(file, "cell_lengths"), angles};
    }
    place_box(box, file.path(), 0, result);
    return result;
}

} // namespace

GroFile read_amber_coordinates(MappedFile file, const std::optional<AmberBox>& topology)
{
    if (is_netcdf(file.text())) { return read_netcdf(std::move(file), topology); }
    return TextReader(std::move(file), topology).read();
}

} // namespace parhelion
