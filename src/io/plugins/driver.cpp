// SPDX-License-Identifier: Apache-2.0
#include "io/plugins/driver.hpp"

#include <exception>
#include <functional>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

namespace parhelion::h5md {

namespace {

struct Properties
{
    OrderedFile* file;
};

// What HDF5 knows of an open file; its own part comes first.
struct OpenFile
{
    H5FD_t of_hdf5;
    OrderedFile* file;
    haddr_t end; // end of the allocated bytes
};

OpenFile& opened(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
const OpenFile& opened(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }

template <class Work>
herr_t attempt(const Work& work) noexcept
{
    try
    {
        work();
        return 0;
    }
    catch (const std::exception&)
    {
        return -1;
    }
}

H5FD_t* open_file(const char*, unsigned, hid_t access_properties, haddr_t)
{
    const auto* const properties = static_cast<const Properties*>(H5Pget_driver_info(access_properties));
    if (properties == nullptr) { return nullptr; }
    return &(new OpenFile{{}, properties->file, 0})->of_hdf5;
}

herr_t close_file(H5FD_t* file)
{
    delete &opened(file);
    return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b)
{
    const std::less<const OrderedFile*> before;
    return before(opened(a).file, opened(b).file) ? -1 : before(opened(b).file, opened(a).file) ? 1 : 0;
}

herr_t query(const H5FD_t*, unsigned long* features)
{
    *features = H5FD_FEAT_SUPPORTS_SWMR_IO; // no other features: these join or delay writes, whose order matters
    return 0;
}

haddr_t end_of_allocated(const H5FD_t* file, H5FD_mem_t) { return opened(file).end; }
herr_t set_end_of_allocated(H5FD_t* file, H5FD_mem_t, haddr_t end)
{
    opened(file).end = end;
    return 0;
}
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) { return opened(file).file->length(); }

herr_t read_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, size_t bytes, void* to)
{
    return attempt([&] { opened(file).file->read(at, bytes, static_cast<unsigned char*>(to)); });
}
herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, size_t bytes, const void* from)
{
    return attempt([&] { opened(file).file->write(at, bytes, static_cast<const unsigned char*>(from)); });
}
herr_t cut(H5FD_t* file, hid_t, hbool_t)
{
    if (opened(file).end != opened(file).file->length()) { opened(file).file->resize(opened(file).end); }
    return 0;
}

template <class Class>
Class driver_class()
{
    Class calls{};
    if constexpr (requires { calls.version; }) { calls.version = 1; } // since HDF5 1.14
    calls.name = "parhelion_ordered";
    if constexpr (requires { calls.value; }) { calls.value = 511; } // one of the numbers for private use
    calls.maxaddr = static_cast<haddr_t>(1) << 62;
    calls.fc_degree = H5F_CLOSE_WEAK;
    calls.fapl_size = sizeof(Properties);
    calls.open = open_file;
    calls.close = close_file;
    calls.cmp = compare;
    calls.query = query;
    calls.get_eoa = end_of_allocated;
    calls.set_eoa = set_end_of_allocated;
    calls.get_eof = end_of_file;
    calls.read = read_bytes;
    calls.write = write_bytes;
    calls.truncate = cut;
    return calls;
}

} // namespace

void use_file(hid_t access_properties, OrderedFile& file)
{
    static const H5FD_class_t calls = driver_class<H5FD_class_t>();
    static const hid_t driver = H5FDregister(&calls);
    const Properties properties{&file};
    if (driver < 0 || H5Pset_driver(access_properties, driver, &properties) < 0)
    {
        throw SystemFailure("HDF5 takes no driver for its files");
    }
}

} // namespace parhelion::h5md
