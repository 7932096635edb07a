// SPDX-License-Identifier: Apache-2.0
#include "io/plugins/h5md_summary.hpp"

#include "io/plugins/hdf5_objects.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace parhelion::h5md {

namespace {

bool exists(hid_t group, const std::string& name)
{
    // HDF5 can test a path only if all its parts but the last exist, so each part is tested.
    for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1))
    {
        if (H5Lexists(group, name.substr(0, end).c_str(), H5P_DEFAULT) <= 0) { return false; }
    }
    return H5Lexists(group, name.c_str(), H5P_DEFAULT) > 0;
}

Object open_data(hid_t group, const std::string& name)
{
    if (!exists(group, name)) { throw ContentsFailure("has no dataset " + name); }
    return {H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose, "open the dataset " + name};
}

std::vector<hsize_t> size_of(hid_t data)
{
    const Object space(H5Dget_space(data), H5Sclose, "tell the size of a dataset");
    std::vector<hsize_t> size(static_cast<std::size_t>(done(H5Sget_simple_extent_ndims(space), "tell the size of a dataset")));
    H5Sget_simple_extent_dims(space, size.data(), nullptr);
    return size;
}

std::string text_of(hid_t group, const char* name)
{
    if (H5Aexists(group, name) <= 0) { return ""; }
    const Object attribute(H5Aopen(group, name, H5P_DEFAULT), H5Aclose, "open an attribute"),
        type(H5Aget_type(attribute), H5Tclose, "tell the type of an attribute");
    if (H5Tget_class(type) != H5T_STRING) { return ""; }
    if (H5Tis_variable_str(type) > 0)
    {
        char* text = nullptr;
        done(H5Aread(attribute, type, &text), "read an attribute");
        const std::string copy = text == nullptr ? "" : text;
        H5free_memory(text);
        return copy;
    }
    std::string text(H5Tget_size(type), '\0');
    done(H5Aread(attribute, type, text.data()), "read an attribute");
    return text.c_str(); // the characters before the first zero byte
}

// Returns the dataset's unit in nm or ps, as this table has it; NaN if the table does not have the unit.
template <std::size_t Count>
double unit_of(hid_t data, const std::array<std::pair<const char*, double>, Count>& table)
{
    const std::string unit = text_of(data, "unit");
    for (const auto& [name, size] : table)
    {
        if (unit == name) { return size; }
    }
    return std::numeric_limits<double>::quiet_NaN();
}
constexpr std::array<std::pair<const char*, double>, 4> lengths{
    {{"nm", 1}, {"Angstrom", 0.1}, {"\u212b", 0.1}, {"pm", 1e-3}}};                                        // nm
constexpr std::array<std::pair<const char*, double>, 3> durations{{{"ps", 1}, {"fs", 1e-3}, {"ns", 1e3}}}; // ps

// Returns the steps or times of an element. A scalar is the interval of frames that are evenly spaced.
std::vector<double> numbers_of(hid_t group, const std::string& name, std::size_t frames)
{
    const Object data = open_data(group, name);
    const std::vector<hsize_t> size = size_of(data);
    if (size.size() > 1 || (!size.empty() && size.front() < frames)) { throw ContentsFailure("has too few of " + name); }
    std::vector<double> numbers(size.empty() ? 1 : size.front());
    done(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), "read " + name);
    if (!size.empty()) { return numbers; }
    const double interval = numbers.front();
    numbers.resize(frames);
    for (std::size_t i = 0; i < frames; ++i) { numbers[i] = interval * static_cast<double>(i); }
    return numbers;
}

// Reads a box of one frame or of all: three edges, or three vectors.
void read_box(hid_t group, double* box)
{
    const bool is_one = exists(group, "box/edges") && H5Oexists_by_name(group, "box/edges/value", H5P_DEFAULT) <= 0;
    if (!exists(group, "box/edges")) { return; }
    const Object data = open_data(group, is_one ? "box/edges" : "box/edges/value");
    const std::vector<hsize_t> size = size_of(data);
    hsize_t numbers = 1;
    for (std::size_t i = is_one ? 0 : 1; i < size.size(); ++i) { numbers *= size[i]; }
    if ((numbers != 3 && numbers != 9) || (!is_one && size.front() == 0)) { return; }
    std::vector<hsize_t> start(size.size(), 0), count = size;
    if (!is_one) { start.front() = size.front() - 1, count.front() = 1; }
    const Object file_space(H5Dget_space(data), H5Sclose, "read a box"), memory_space = make_space({numbers}, {numbers});
    done(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "read a box");
    std::array<double, 9> edges{};
    done(H5Dread(data, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT, edges.data()), "read a box");
    const double unit = unit_of(data, lengths);
    for (std::size_t i = 0; i < numbers && !std::isnan(unit); ++i) { box[numbers == 3 ? 4 * i : i] = edges[i] * unit; }
}

void read_about(hid_t file, parhelion_h5md_summary& summary)
{
    if (!exists(file, "h5md")) { throw ContentsFailure("has no group h5md"); }
    const Object about(H5Gopen2(file, "h5md", H5P_DEFAULT), H5Gclose, "open the group h5md");
    if (H5Aexists(about, "version") > 0)
    {
        const Object version(H5Aopen(about, "version", H5P_DEFAULT), H5Aclose, "open an attribute"),
            space(H5Aget_space(version), H5Sclose, "tell the size of an attribute");
        if (H5Sget_simple_extent_npoints(space) == 2)
        {
            done(H5Aread(version, H5T_NATIVE_INT32, summary.version), "read an attribute");
        }
    }
    if (!exists(about, "creator")) { return; }
    const Object creator(H5Gopen2(about, "creator", H5P_DEFAULT), H5Gclose, "open the group creator");
    const std::string text = text_of(creator, "name") + " " + text_of(creator, "version");
    std::strncpy(summary.creator, text.c_str(), sizeof summary.creator - 1);
}

Object open_particles(hid_t file)
{
    if (exists(file, "particles"))
    {
        std::array<char, 256> name{};
        const ssize_t length =
            H5Lget_name_by_idx(file, "particles", H5_INDEX_NAME, H5_ITER_INC, 0, name.data(), name.size(), H5P_DEFAULT);
        if (length > 0)
        {
            return {H5Gopen2(file, (std::string("particles/") + name.data()).c_str(), H5P_DEFAULT), H5Gclose, "open particles"};
        }
    }
    throw ContentsFailure("has no group of particles");
}

} // namespace

parhelion_h5md_summary summarise(const std::string& path)
{
    parhelion_h5md_summary summary{};
    OrderedFile bytes(path, OrderedFile::Mode::Read);
    const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, file_properties(bytes));
    if (id < 0) { throw ContentsFailure("is damaged, or no file of HDF5"); }
    const Object file(id, H5Fclose, "");
    read_about(file, summary);
    const Object group = open_particles(file);
    bool is_first = true;
    for (std::size_t i = 0; i < parhelion_h5md_arrays; ++i)
    {
        const std::string name = array_names[i];
        if (!exists(group, name + "/value")) { continue; }
        const Object data = open_data(group, name + "/value"), type(H5Dget_type(data), H5Tclose, "tell the type of an array");
        const std::vector<hsize_t> size = size_of(data);
        if (size.size() != 3) { throw ContentsFailure("has no frames of atoms in " + name); }
        summary.frames[i] = static_cast<std::int64_t>(size[0]);
        if (!std::exchange(is_first, false) || size[0] == 0) { continue; }
        summary.atoms = static_cast<std::int64_t>(size[1]);
        summary.is_double = H5Tget_size(type) == sizeof(double);
        const std::vector<double> steps = numbers_of(group, name + "/step", size[0]),
                                  times = numbers_of(group, name + "/time", size[0]);
        const double unit = unit_of(open_data(group, name + "/time"), durations);
        const std::size_t last = size[0] - 1;
        summary.steps[0] = static_cast<std::int64_t>(steps[0]), summary.steps[1] = static_cast<std::int64_t>(steps[last]);
        summary.times[0] = times[0] * unit, summary.times[1] = times[last] * unit;
        for (std::size_t j = 1; j <= last; ++j)
        {
            const double interval = (times[j] - times[j - 1]) * unit;
            summary.intervals[0] = j == 1 ? interval : std::min(summary.intervals[0], interval);
            summary.intervals[1] = j == 1 ? interval : std::max(summary.intervals[1], interval);
        }
    }
    read_box(group, summary.box);
    return summary;
}

} // namespace parhelion::h5md
