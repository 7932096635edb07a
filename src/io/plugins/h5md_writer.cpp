// SPDX-License-Identifier: Apache-2.0
#include "io/plugins/h5md_writer.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace parhelion::h5md {

namespace {

constexpr hsize_t numbers_in_chunk = 256; // steps or times in a chunk of 2 KiB
constexpr hsize_t most_atoms_in_chunk = 1 << 20;
constexpr unsigned zlib_level = 1; // level 9 takes twice as long and saves 1 % of coordinates
constexpr const char* array_units[] = {"nm", "nm ps-1", "kJ mol-1 nm-1"};

void set_attribute(hid_t object, const char* name, hid_t type, const std::vector<hsize_t>& size, const void* values)
{
    const Object space = size.empty() ? Object(H5Screate(H5S_SCALAR), H5Sclose, "make a data space") : make_space(size, size);
    const Object attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                           std::string("create the attribute ") + name);
    done(H5Awrite(attribute, type, values), std::string("write the attribute ") + name);
}

Object text_type()
{
    Object type(H5Tcopy(H5T_C_S1), H5Tclose, "make a type of texts");
    done(H5Tset_size(type, H5T_VARIABLE), "make a type of texts");
    done(H5Tset_cset(type, H5T_CSET_UTF8), "make a type of texts");
    return type;
}

void set_text(hid_t object, const char* name, const char* text) { set_attribute(object, name, text_type(), {}, &text); }

void set_version(hid_t object, int major, int minor)
{
    const int version[] = {major, minor};
    set_attribute(object, "version", H5T_NATIVE_INT, {2}, version);
}

// Returns the properties of a dataset whose chunks are of this size.
Object dataset_properties(const std::vector<hsize_t>& chunk, bool is_compressed)
{
    Object list = without_times(H5P_DATASET_CREATE);
    done(H5Pset_chunk(list, static_cast<int>(chunk.size()), chunk.data()), "choose chunks");
    if (is_compressed)
    {
        done(H5Pset_shuffle(list), "choose a filter");
        done(H5Pset_deflate(list, zlib_level), "choose a filter");
    }
    return list;
}

Object create_dataset(hid_t parent, const char* name, hid_t type, const std::vector<hsize_t>& size,
                      const std::vector<hsize_t>& most, const std::vector<hsize_t>& chunk, bool is_compressed)
{
    return {H5Dcreate2(parent, name, type, make_space(size, most), H5P_DEFAULT, dataset_properties(chunk, is_compressed),
                       H5P_DEFAULT),
            H5Dclose, std::string("create the dataset ") + name};
}

// Writes a number for each atom, such as its mass, which is constant during the run.
void write_constant(hid_t parent, const char* name, hid_t file_type, hid_t memory_type, hsize_t atoms, const void* values,
                    const char* unit)
{
    const hsize_t chunk = std::min<hsize_t>(atoms, 65536);
    const Object data = create_dataset(parent, name, file_type, {atoms}, {atoms}, {chunk}, true);
    done(H5Dwrite(data, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), std::string("write the dataset ") + name);
    if (unit != nullptr) { set_text(data, "unit", unit); }
}

} // namespace

Writer::Writer(const parhelion_h5md_plan& plan, const std::int64_t* kept)
    : file_(plan.path, kept == nullptr ? OrderedFile::Mode::New : OrderedFile::Mode::Existing),
      real_(plan.is_double != 0 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE), is_tilted_(plan.is_tilted != 0)
{
    for (std::size_t i = 0; i < has_.size(); ++i) { has_[i] = plan.has[i] != 0; }
    if (kept == nullptr) { create(plan); }
    else { drop_frames(plan, kept); }
    file_.commit();
    // From here on HDF5 keeps the order that readers need.
    hdf5_ = Object(H5Fopen(plan.path, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, file_properties(file_)), H5Fclose,
                   std::string("open ") + plan.path);
    open_elements();
    file_.commit();
}

void Writer::create(const parhelion_h5md_plan& plan)
{
    const Object properties = without_times(H5P_FILE_CREATE),
                 file(H5Fcreate(plan.path, H5F_ACC_TRUNC, properties, file_properties(file_)), H5Fclose,
                      std::string("create ") + plan.path);
    const Object about = make_group(file, "h5md");
    set_version(about, 1, 1);
    const Object author = make_group(about, "author"), creator = make_group(about, "creator"),
                 modules = make_group(about, "modules");
    set_text(author, "name", "N/A");
    set_text(creator, "name", "Parhelion");
    set_text(creator, "version", plan.program_version);
    set_version(make_group(modules, "units"), 1, 0);
    set_text(about, "title", plan.title);

    make_group(file, "particles");
    const Object group = make_group(file, particles), box = make_group(group, "box");
    const int dimension = 3;
    set_attribute(box, "dimension", H5T_NATIVE_INT, {}, &dimension);
    const char* const boundary[] = {"periodic", "periodic", "periodic"};
    set_attribute(box, "boundary", text_type(), {3}, boundary);
    describe_atoms(group, plan);
    const auto atoms = static_cast<hsize_t>(plan.atoms);
    for (std::size_t i = 0; i < has_.size(); ++i)
    {
        if (has_[i]) { create_element(group, array_names[i], {atoms, 3}, array_units[i], H5I_INVALID_HID); }
    }
    const auto first_name = array_names[std::find(has_.begin(), has_.end() - 1, true) - has_.begin()];
    const Object first(H5Gopen2(group, first_name, H5P_DEFAULT), H5Gclose, "open the first array");
    create_element(box, "edges", is_tilted_ ? std::vector<hsize_t>{3, 3} : std::vector<hsize_t>{3}, array_units[0], first);
}

void Writer::describe_atoms(hid_t group, const parhelion_h5md_plan& plan)
{
    const auto atoms = static_cast<hsize_t>(plan.atoms);
    const Object type(H5Tenum_create(H5T_STD_I32LE), H5Tclose, "make the type of species");
    for (std::int32_t i = 0; i < plan.species_count; ++i)
    {
        done(H5Tenum_insert(type, plan.species_names[i], &i), "name the species");
    }
    write_constant(group, "species", type, type, atoms, plan.species, nullptr);
    write_constant(group, "id", H5T_STD_I64LE, H5T_NATIVE_INT64, atoms, plan.ids, nullptr);
    write_constant(group, "mass", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, atoms, plan.masses, "u");
    write_constant(group, "charge", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, atoms, plan.charges, "e");
}

// Creates an element. Its steps and times are those of the group `same_times`, if there is one.
void Writer::create_element(hid_t parent, const char* name, std::vector<hsize_t> frame, const char* unit, hid_t same_times)
{
    const Object group = make_group(parent, name);
    std::vector<hsize_t> size = frame, most = frame, chunk = frame;
    size.insert(size.begin(), 0), most.insert(most.begin(), H5S_UNLIMITED), chunk.insert(chunk.begin(), 1);
    const bool is_box = same_times >= 0;
    if (is_box) { chunk.front() = numbers_in_chunk; }
    else { chunk[1] = std::min(chunk[1], most_atoms_in_chunk); }
    set_text(create_dataset(group, "value", real_, size, most, chunk, !is_box), "unit", unit);
    if (is_box)
    {
        for (const char* each : {"step", "time"})
        {
            done(H5Lcreate_hard(same_times, each, group, each, H5P_DEFAULT, H5P_DEFAULT), "link steps and times");
        }
        return;
    }
    create_dataset(group, "step", H5T_STD_I64LE, {0}, {H5S_UNLIMITED}, {numbers_in_chunk}, false);
    set_text(create_dataset(group, "time", H5T_IEEE_F64LE, {0}, {H5S_UNLIMITED}, {numbers_in_chunk}, false), "unit", "ps");
}

void Writer::open_elements()
{
    const auto exists = [&](const std::string& path) { return H5Lexists(hdf5_, path.c_str(), H5P_DEFAULT) > 0; };
    const auto open = [&](const std::string& name) {
        Series series;
        const std::string path = std::string(particles) + "/" + name;
        series.data = Object(H5Dopen2(hdf5_, path.c_str(), H5P_DEFAULT), H5Dclose, "open " + path);
        const Object space(H5Dget_space(series.data), H5Sclose, "tell the size of " + path);
        series.size.resize(static_cast<std::size_t>(done(H5Sget_simple_extent_ndims(space), "tell the size of " + path)));
        H5Sget_simple_extent_dims(space, series.size.data(), nullptr);
        return series;
    };
    for (std::size_t i = 0; i < elements_.size(); ++i)
    {
        const std::string name = array_names[i];
        if (exists(std::string(particles) + "/" + name))
        {
            elements_[i] = {open(name + "/value"), open(name + "/step"), open(name + "/time")};
        }
    }
    box_ = open("box/edges/value");
}

// Throws an error unless the frames of the file have the atoms of the plan.
void Writer::expect_atoms(const parhelion_h5md_plan& plan) const
{
    const std::string path = std::string(particles) + "/id";
    const hid_t id = H5Dopen2(hdf5_, path.c_str(), H5P_DEFAULT);
    if (id < 0) { throw ContentsFailure("has no " + path); }
    const Object data(id, H5Dclose, ""), space(H5Dget_space(data), H5Sclose, "tell the number of atoms");
    std::vector<std::int64_t> ids(
        static_cast<std::size_t>(done(H5Sget_simple_extent_npoints(space), "tell the number of atoms")));
    done(H5Dread(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, ids.data()), "read " + path);
    if (std::equal(ids.begin(), ids.end(), plan.ids, plan.ids + plan.atoms)) { return; }
    throw ContentsFailure("has other atoms than the run would write now, which are all atoms if the run writes a .trr and those "
                          "of compressed-x-grps if not");
}

void Writer::drop_frames(const parhelion_h5md_plan& plan, const std::int64_t* kept)
{
    const hid_t id = H5Fopen(plan.path, H5F_ACC_RDWR, file_properties(file_));
    if (id < 0) { throw ContentsFailure("is damaged, or no file of HDF5"); }
    hdf5_ = Object(id, H5Fclose, "");
    expect_atoms(plan);
    open_elements();
    const auto cut = [](Series& series, std::int64_t frames) {
        if (series.size.front() < static_cast<hsize_t>(frames))
        {
            throw ContentsFailure("has " + std::to_string(series.size.front()) + " frames of an array, but " +
                                  std::to_string(frames) + " had been written when the checkpoint was made");
        }
        series.size.front() = static_cast<hsize_t>(frames);
        done(H5Dset_extent(series.data, series.size.data()), "drop frames");
        done(H5Dflush(series.data), "drop frames");
    };
    // Values are cut first, because readers take the number of frames from them; when a frame is added, they come last. If the
    // process is killed here, frames that it drops may contain zeros, but no earlier frame does.
    for (std::size_t i = 0; i < elements_.size(); ++i)
    {
        if (elements_[i].is_there()) { cut(elements_[i].value, kept[i]); }
        else if (has_[i]) { throw ContentsFailure(std::string("has no ") + array_names[i]); }
    }
    cut(box_, kept[first_array()]);
    for (std::size_t i = 0; i < elements_.size(); ++i)
    {
        if (!elements_[i].is_there()) { continue; }
        cut(elements_[i].step, kept[i]), cut(elements_[i].time, kept[i]);
    }
    close_all();
}

void Writer::append(Series& series, hid_t memory_type, const void* values)
{
    std::vector<hsize_t> start(series.size.size(), 0), count = series.size;
    start.front() = series.size.front()++;
    count.front() = 1;
    done(H5Dset_extent(series.data, series.size.data()), "add a frame");
    const Object file_space(H5Dget_space(series.data), H5Sclose, "add a frame"), memory_space = make_space(count, count);
    done(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "add a frame");
    done(H5Dwrite(series.data, memory_type, memory_space, file_space, H5P_DEFAULT, values), "add a frame");
    done(H5Dflush(series.data), "add a frame");
}

void Writer::append_box(const parhelion_h5md_frame& frame)
{
    const double diagonal[] = {frame.box[0], frame.box[4], frame.box[8]};
    append(box_, H5T_NATIVE_DOUBLE, is_tilted_ ? frame.box : diagonal);
}

void Writer::write(const parhelion_h5md_frame& frame)
{
    // A reader takes the number of frames from the values. These come last, so that it finds all else of these frames.
    for (std::size_t i = has_.size(); i-- > 0;)
    {
        if (frame.arrays[i] == nullptr) { continue; }
        append(elements_[i].step, H5T_NATIVE_INT64, &frame.step);
        append(elements_[i].time, H5T_NATIVE_DOUBLE, &frame.time);
        if (i == first_array()) { append_box(frame); }
        append(elements_[i].value, H5T_NATIVE_DOUBLE, frame.arrays[i]);
    }
    done(H5Fflush(hdf5_, H5F_SCOPE_LOCAL), "write a frame");
    file_.commit();
}

std::size_t Writer::first_array() const
{
    return static_cast<std::size_t>(
        std::find_if(elements_.begin(), elements_.end() - 1, [](const Element& each) { return each.is_there(); }) -
        elements_.begin());
}

void Writer::close_all()
{
    for (Element& element : elements_) { element = {}; }
    box_ = {};
    hdf5_ = Object();
}

void Writer::close()
{
    close_all();
    file_.commit();
    file_.close();
}

} // namespace parhelion::h5md
