// SPDX-License-Identifier: Apache-2.0
// Objects of the HDF5 library that are closed with their C++ objects, and errors as exceptions.
#pragma once

#include "io/plugins/driver.hpp"

#include <hdf5.h>

#include <string>
#include <utility>
#include <vector>

namespace parhelion::h5md {

inline constexpr const char* array_names[] = {"position", "velocity", "force"}; // in the order of parhelion_h5md_x and so on

// The contents of a file are not what is expected.
struct ContentsFailure : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

// Returns the result of a call of HDF5. Throws SystemFailure if the call has failed.
template <class Result>
Result done(Result result, const std::string& what)
{
    if (result < 0) { throw SystemFailure("HDF5 cannot " + what); }
    return result;
}

class Object
{
public:
    Object() = default;
    // Takes the result of a call that opens or creates an object.
    Object(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(done(id, what)), close_(close) {}
    Object(Object&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Object& operator=(Object&& other) noexcept
    {
        std::swap(id_, other.id_), std::swap(close_, other.close_);
        return *this;
    }
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    ~Object()
    {
        if (id_ >= 0) { close_(id_); }
    }

    operator hid_t() const { return id_; } // converts to an argument of HDF5's calls

private:
    hid_t id_ = -1;
    herr_t (*close_)(hid_t) = nullptr;
};

inline Object file_properties(OrderedFile& file)
{
    Object list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make a property list");
    // The newest format that all readers since 1.10 know. Its indexes may be read while they grow.
    done(H5Pset_libver_bounds(list, H5F_LIBVER_V110, H5F_LIBVER_V110), "choose the format of a file");
    use_file(list, file);
    return list;
}

// Returns a property list for objects without times of their creation: equal runs leave equal files.
inline Object without_times(hid_t kind)
{
    Object list(H5Pcreate(kind), H5Pclose, "make a property list");
    done(H5Pset_obj_track_times(list, false), "leave out times of creation");
    return list;
}

inline Object make_group(hid_t parent, const char* name)
{
    return {H5Gcreate2(parent, name, H5P_DEFAULT, without_times(H5P_GROUP_CREATE), H5P_DEFAULT), H5Gclose,
            std::string("create the group ") + name};
}

inline Object make_space(const std::vector<hsize_t>& size, const std::vector<hsize_t>& most)
{
    return {H5Screate_simple(static_cast<int>(size.size()), size.data(), most.data()), H5Sclose, "make a data space"};
}

} // namespace parhelion::h5md
