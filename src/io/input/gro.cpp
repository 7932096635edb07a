// SPDX-License-Identifier: Apache-2.0
#include "io/input/gro.hpp"

#include "io/input/error_list.hpp"
#include "io/output/box_edges.hpp"
#include "io/output/output_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace parhelion {

namespace {

constexpr double largest = 1e15;         // nm, nm/ps: keeps results finite that are computed from positions
constexpr std::size_t first_column = 20; // before it: residue number, residue, atom, atom number, five columns each
constexpr double power_of_ten[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

bool begins_with_digits(std::string_view text)
{
    constexpr std::string_view begins = "0123456789+-.";
    return !text.empty() && begins.find(text[0]) != begins.npos;
}

// Returns whether GROMACS would read the field as a number. It reads the beginning only, so "0.1 nm" and "nano" are numbers.
bool reads_as_number(std::string_view field)
{
    const std::string text(field);
    char* stop = nullptr;
    std::strtod(text.c_str(), &stop);
    return stop != text.c_str();
}

class GroReader
{
public:
    explicit GroReader(MappedFile file) : file_(std::move(file)), rest_(file_.text()) { result_.path = file_.path(); }
    GroFile read();

private:
    std::string_view take();
    std::int64_t read_atom_count();
    void read_columns(std::string_view first_atom);
    void read_atom(std::string_view line);
    bool has_velocity(std::string_view line);
    void note_remark(std::string_view line, std::size_t end_of_columns);
    double number(std::string_view line, std::size_t column) const;
    void read_box();
    [[noreturn]] void fail(const std::string& message) const
    {
        throw InputError("E170", {result_.path.string(), line_}, message);
    }

    MappedFile file_;
    std::string_view rest_;
    int line_ = 0;
    std::size_t width_ = 0; // number of columns that a number takes
    bool velocities_ = false;
    GroFile result_;
};

std::string_view GroReader::take()
{
    ++line_;
    return take_line(rest_);
}

std::int64_t GroReader::read_atom_count()
{
    const std::string_view text = trimmed(take());
    const auto count = to_integer(text);
    if (!count || *count < 1)
    {
        fail("the second line of a .gro file is the number of atoms, not " + in_quotes(text) + ". Correct it.");
    }
    constexpr std::int64_t shortest_line = first_column + 6;
    if (*count > static_cast<std::int64_t>(rest_.size()) / shortest_line)
    {
        fail("the file is too short for the " + std::to_string(*count) + " atoms it announces. Is it complete?");
    }
    return *count;
}

// Finds the columns of numbers: the distance between decimal points is their width; a second triple means velocities.
void GroReader::read_columns(std::string_view first_atom)
{
    const std::size_t a = first_atom.find('.', first_column);
    const std::size_t b = a == first_atom.npos ? a : first_atom.find('.', a + 1);
    const std::size_t c = b == first_atom.npos ? b : first_atom.find('.', b + 1);
    if (c == first_atom.npos || c - b != b - a || b - a < 2 || b - a > 30)
    {
        fail("the line of the first atom has no three numbers with decimal points at equal distances from column 21 on. Write "
             "fixed columns, as in '%8.3f'.");
    }
    width_ = b - a;
    velocities_ = has_velocity(first_atom);
}

// Returns whether a line has a velocity. Text behind the positions is a remark if GROMACS would read no number from it.
bool GroReader::has_velocity(std::string_view line)
{
    const std::size_t end = first_column + 3 * width_;
    if (line.size() <= end || trimmed(line.substr(end)).empty()) { return false; }
    if (begins_with_digits(trimmed(line.substr(end, width_)))) { return true; }
    for (std::size_t column = end; column < std::min(line.size(), end + 3 * width_); column += width_)
    {
        if (reads_as_number(line.substr(column, width_))) { return true; }
    }
    note_remark(line, end);
    return false;
}

void GroReader::note_remark(std::string_view line, std::size_t end_of_columns)
{
    if (result_.first_remark > 0 || line.size() <= end_of_columns || trimmed(line.substr(end_of_columns)).empty()) { return; }
    result_.first_remark = line_;
}

// Returns the number in the columns from `column` on, which are `width_`.
double GroReader::number(std::string_view line, std::size_t column) const
{
    const char* c = line.data() + column;
    const char* const end = c + std::min(width_, line.size() - std::min(line.size(), column));
    const std::string_view field(c, static_cast<std::size_t>(end - c));
    while (c != end && *c == ' ') { ++c; }
    const bool negative = c != end && *c == '-';
    if (negative) { ++c; }
    std::uint64_t digits = 0; // wraps around if there are too many digits; these are parsed below
    int count = 0, decimals = 0;
    for (bool point = false; c != end; ++c)
    {
        const int digit = *c - '0';
        if (digit >= 0 && digit <= 9)
        {
            digits = 10 * digits + static_cast<std::uint64_t>(digit);
            ++count;
            decimals += point ? 1 : 0;
        }
        else if (*c == '.' && !point) { point = true; }
        else { break; }
    }
    if (c == end && count > 0 && count <= 15) // below 2^53 both numbers are exact, so the quotient is rounded correctly
    {
        const double value = static_cast<double>(digits) / power_of_ten[decimals];
        return negative ? -value : value;
    }
    const auto value = to_real(trimmed(field));
    if (!value || std::abs(*value) > largest)
    {
        fail("columns " + std::to_string(column + 1) + " to " + std::to_string(column + width_) + " hold " + in_quotes(field) +
             ", not a finite number of usual size. Correct them.");
    }
    return *value;
}

std::array<char, 5> name_in(std::string_view columns)
{
    std::array<char, 5> name{};
    const std::string_view text = trimmed(columns);
    std::copy_n(text.begin(), text.size(), name.begin());
    return name;
}

void GroReader::read_atom(std::string_view line)
{
    if (line.size() < first_column + 3 * width_ - (width_ - 1))
    {
        fail("the line is too short for an atom. Is the number of atoms in line 2 right?");
    }
    result_.names.push_back({name_in(line.substr(5, 5)), name_in(line.substr(10, 5))});
    const auto triple = [&](std::size_t column) {
        return Vec3<double>{number(line, column), number(line, column + width_), number(line, column + 2 * width_)};
    };
    result_.x.push_back(triple(first_column));
    if (has_velocity(line) != velocities_)
    {
        fail("velocities are given for some atoms only (the others would be at rest). Give all or none.");
    }
    if (!velocities_) { return; }
    if (line.size() < first_column + 5 * width_ + 1) { fail("the velocity is incomplete. Complete the line."); }
    result_.v.push_back(triple(first_column + 3 * width_));
    note_remark(line, first_column + 6 * width_);
}

void GroReader::read_box()
{
    if (rest_.empty()) { fail("the file ends before the line of the box. Is it complete?"); }
    std::vector<std::string_view> words;
    split_words(take(), words);
    for (const std::size_t numbers : {std::size_t{3}, std::size_t{9}})
    {
        if (words.size() <= numbers || reads_as_number(words[numbers])) { continue; }
        words.resize(numbers);
        result_.first_remark = result_.first_remark == 0 ? line_ : result_.first_remark;
    }
    if (words.size() != 3 && words.size() != 9)
    {
        fail("the last line is the box: three numbers (or nine), not " + std::to_string(words.size()) +
             ". Is the number of atoms in line 2 right?");
    }
    double value[9] = {};
    for (std::size_t i = 0; i < words.size(); ++i)
    {
        const auto number = to_real(words[i]);
        if (!number || std::abs(*number) > largest)
        {
            fail("the box contains " + in_quotes(words[i]) + ", which is not a finite number of usual size. Correct it.");
        }
        value[i] = *number;
    }
    for (int d = 0; d < 3; ++d)
    {
        if (!(value[d] > 0))
        {
            fail("edge " + std::to_string(d + 1) +
                 " of the box is not positive (a periodic box is needed). Set the box, for example with gmx editconf -d.");
        }
    }
    // In the file the diagonal comes first: xx yy zz xy xz yx yz zx zy.
    std::string problem;
    result_.box = box_of({value[0], value[3], value[4], value[5], value[1], value[6], value[7], value[8], value[2]}, problem);
    if (!problem.empty()) { throw InputError("E580", {result_.path.string(), line_}, problem); }
}

GroFile GroReader::read()
{
    result_.title = trimmed(take());
    const std::int64_t atoms = read_atom_count();
    result_.names.reserve(static_cast<std::size_t>(atoms));
    result_.x.reserve(static_cast<std::size_t>(atoms));
    ErrorList errors;
    for (std::int64_t i = 0; i < atoms; ++i)
    {
        if (rest_.empty())
        {
            fail("the file ends after " + std::to_string(i) + " of " + std::to_string(atoms) + " atoms. Is it complete?");
        }
        const std::string_view line = take();
        if (i == 0)
        {
            read_columns(line);
            if (velocities_) { result_.v.reserve(static_cast<std::size_t>(atoms)); }
        }
        errors.attempt([&] { read_atom(line); });
        if (i % 4096 == 0) { file_.release_before(static_cast<std::size_t>(line.data() - file_.text().data())); }
    }
    errors.attempt([&] { read_box(); });
    errors.throw_if_any();
    result_.has_more_frames = rest_.find_first_not_of(" \t\r\n") != rest_.npos;
    return std::move(result_);
}

} // namespace

GroFile read_gro(MappedFile file) { return GroReader(std::move(file)).read(); }

void compare_names(const GroFile& coordinates, const Topology& topology, Diagnostics& diagnostics)
{
    const auto given = static_cast<std::int64_t>(coordinates.x.size());
    if (given != topology.atom_count())
    {
        throw InputError("E171", {coordinates.path.string(), coordinates.names.empty() ? 0 : 2},
                         "has " + std::to_string(given) + " atoms, but the topology describes " +
                             std::to_string(topology.atom_count()) +
                             ". Are both of the same system? Check the numbers in [ molecules ].");
    }
    if (coordinates.names.empty()) { return; }
    std::int64_t different = 0, first = -1, atom = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const std::vector<Atom>& atoms = topology.molecule_types[static_cast<std::size_t>(block.type)].atoms;
        std::vector<std::array<char, 5>> names(atoms.size());
        for (std::size_t i = 0; i < atoms.size(); ++i)
        {
            std::copy_n(atoms[i].name.begin(), std::min<std::size_t>(5, atoms[i].name.size()), names[i].begin());
        }
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            for (const auto& name : names)
            {
                if (name != coordinates.names[static_cast<std::size_t>(atom)].atom && different++ == 0) { first = atom; }
                ++atom;
            }
        }
    }
    if (different > 0)
    {
        const auto& name = coordinates.names[static_cast<std::size_t>(first)].atom;
        constexpr std::int64_t lines_above = 3; // title and number of atoms; lines are counted from 1
        diagnostics.warn("W030", {coordinates.path.string(), static_cast<int>(first + lines_above)},
                         fmt::format("{} atom names differ from the topology, first {} which is {} there; the topology's are "
                                     "used. Is the order of the molecules the same?",
                                     different, in_quotes({name.data(), strnlen(name.data(), name.size())}),
                                     topology.describe(first)));
    }
    if (coordinates.first_remark > 0)
    {
        diagnostics.note("N172", {coordinates.path.string(), coordinates.first_remark},
                         "this is the first line with text behind the columns. It is a remark, as for GROMACS.");
    }
    if (coordinates.has_more_frames)
    {
        diagnostics.note("N030", {coordinates.path.string(), 0}, "has more than one frame; the first was read.");
    }
}

namespace {

// Appends `value` with `decimals` digits, right-aligned in `width` columns. It is
// much faster than printf, whose time would dominate when a large file is written.
void append_fixed(std::string& text, double value, std::size_t width, int decimals)
{
    const double scaled = std::abs(value) * power_of_ten[decimals];
    if (!(scaled < 9e15))
    {
        fmt::format_to(std::back_inserter(text), "{:{}.{}f}", value, width, decimals);
        return;
    }
    char buffer[32];
    char* c = std::end(buffer);
    auto digits = static_cast<std::uint64_t>(std::llrint(scaled));
    const bool negative = std::signbit(value) && digits != 0;
    for (int i = 0; i <= decimals || digits != 0; ++i)
    {
        if (i == decimals) { *--c = '.'; }
        *--c = static_cast<char>('0' + digits % 10);
        digits /= 10;
    }
    if (negative) { *--c = '-'; }
    const auto length = static_cast<std::size_t>(std::end(buffer) - c);
    if (length < width) { text.append(width - length, ' '); }
    text.append(c, length);
}

// Returns the column width, decimals + 5 or more if a number is longer. Readers find it from the decimal points.
std::size_t column_width(const std::vector<Vec3<double>>& x, const std::vector<Vec3<double>>& v, int decimals)
{
    std::size_t width = static_cast<std::size_t>(decimals) + 5;
    for (const auto& [list, digits] : {std::pair(&x, decimals), {&v, decimals + 1}})
    {
        double least = 0, most = 0;
        for (const Vec3<double>& a : *list)
        {
            for (int d = 0; d < 3; ++d) { least = std::min(least, a[d]), most = std::max(most, a[d]); }
        }
        for (const double number : {least, most})
        {
            std::string text;
            append_fixed(text, number, 0, digits);
            width = std::max(width, text.size());
        }
    }
    return width;
}

void append_number(std::string& text, std::int64_t number)
{
    char digits[5];
    number %= 100000;
    int i = 5;
    do {
        digits[--i] = static_cast<char>('0' + number % 10);
    } while ((number /= 10) != 0);
    text.append(static_cast<std::size_t>(i), ' ');
    text.append(digits + i, static_cast<std::size_t>(5 - i));
}

void append_name(std::string& text, std::string_view name, bool left)
{
    name = name.substr(0, 5);
    const std::size_t blanks = 5 - name.size();
    if (!left) { text.append(blanks, ' '); }
    text += name;
    if (left) { text.append(blanks, ' '); }
}

} // namespace

void write_gro(const std::filesystem::path& path, const Topology& topology, std::string_view title, const Box<double>& box,
               const std::vector<Vec3<double>>& x, const std::vector<Vec3<double>>& v, int decimals)
{
    const std::int64_t atoms = topology.atom_count();
    PARHELION_EXPECTS(static_cast<std::int64_t>(x.size()) == atoms && (v.empty() || v.size() == x.size()));
    PARHELION_EXPECTS(decimals >= 1 && decimals <= 12);
    const std::size_t width = column_width(x, v, decimals);
    WholeFile file(path.string());
    std::string text = fmt::format("{}\n{:5}\n", title.substr(0, title.find('\n')), atoms);
    std::size_t atom = 0;
    std::int64_t residues_before = 0;
    for (const MoleculeBlock& block : topology.blocks)
    {
        const MoleculeType& type = topology.molecule_types[static_cast<std::size_t>(block.type)];
        for (std::int64_t copy = 0; copy < block.count; ++copy)
        {
            for (const Atom& a : type.atoms)
            {
                const Residue& residue = type.residues[static_cast<std::size_t>(a.residue)];
                append_number(text, type.residues.size() == 1 ? residues_before + copy + 1 : residue.number);
                append_name(text, residue.name, true);
                append_name(text, a.name, false);
                append_number(text, static_cast<std::int64_t>(atom) + 1);
                for (int d = 0; d < 3; ++d) { append_fixed(text, x[atom][d], width, decimals); }
                for (int d = 0; d < 3 && !v.empty(); ++d) { append_fixed(text, v[atom][d], width, decimals + 1); }
                text += '\n';
                ++atom;
            }
            if (text.size() > std::size_t{1} << 20)
            {
                file.append(text);
                text.clear();
            }
        }
        residues_before += block.count * static_cast<std::int64_t>(type.residues.size());
    }
    // The numbers of the box have no fixed columns. Blanks separate them, however long they are.
    const int box_decimals = std::max(5, decimals);
    const BoxEdges edges = edges_of(box);
    const std::size_t numbers = box.is_rectangular() ? 3 : 9;
    constexpr std::array<std::size_t, 9> order{0, 4, 8, 1, 2, 3, 5, 6, 7}; // the order in the file, diagonal first
    for (std::size_t i = 0; i < numbers; ++i)
    {
        std::string edge;
        append_fixed(edge, edges[order[i]], static_cast<std::size_t>(box_decimals) + 5, box_decimals);
        if (i > 0 && edge.front() != ' ') { text += ' '; }
        text += edge;
    }
    text += '\n';
    file.append(text);
    file.finish();
}

} // namespace parhelion
