// SPDX-License-Identifier: Apache-2.0
// A file that HDF5 changes and that can be read at any time. HDF5 does not only append: each frame also changes bytes in the
// middle of the file, such as indexes and the number of frames. OrderedFile keeps all changes in memory until commit(), which
// writes them in an order that leaves a readable file wherever the process is killed:
//   1. bytes behind the end, which nothing refers to yet; if the disk is full, the file is cut back to its earlier length;
//   2. the superblock, which says how long the file is; it comes last if the file becomes shorter;
//   3. changes of other bytes, in the order in which HDF5 made them. In its mode for one writer and many readers (SWMR) HDF5
//      changes what is referred to before what refers to it.
// Cost: a copy of the changed bytes, which are a frame in compressed form and some KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace parhelion::h5md {

// An error of the disk or of HDF5.
struct SystemFailure : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

class OrderedFile
{
public:
    enum class Mode : std::uint8_t
    {
        New,      // replaces a file of this name
        Existing, // continues it
        Read
    };

    // Throws SystemFailure, as do all calls.
    OrderedFile(std::string path, Mode mode);
    ~OrderedFile();
    OrderedFile(const OrderedFile&) = delete;
    OrderedFile& operator=(const OrderedFile&) = delete;

    std::uint64_t length() const { return length_; } // including changes
    // Reads bytes with their changes. Bytes behind the end are zeros.
    void read(std::uint64_t at, std::size_t bytes, unsigned char* to) const;
    void write(std::uint64_t at, std::size_t bytes, const unsigned char* from);
    void resize(std::uint64_t length);
    // Writes all changes to the file. After an error all later calls fail.
    void commit();
    void sync(); // returns when the bytes of the file would survive a power failure
    void close();

private:
    struct Change
    {
        std::uint64_t at;
        std::vector<unsigned char> bytes;
    };

    [[noreturn]] void fail(const char* call) const;
    void put(std::uint64_t at, const unsigned char* from, std::size_t bytes);
    void append_changes();
    void put_superblock();

    std::string path_;
    int descriptor_ = -1;
    std::uint64_t length_ = 0, on_disk_ = 0;
    std::vector<Change> changes_;
    bool has_failed_ = false;
};

} // namespace parhelion::h5md
