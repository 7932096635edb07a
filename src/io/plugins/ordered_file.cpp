// SPDX-License-Identifier: Apache-2.0
#include "io/plugins/ordered_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace parhelion::h5md {

namespace {

constexpr std::size_t superblock_bytes = 48; // bytes of the superblock of version 3 (HDF5 File Format Specification 3.0, II.A)

} // namespace

OrderedFile::OrderedFile(std::string path, Mode mode) : path_(std::move(path))
{
    struct stat status = {};
    const bool is_taken = ::lstat(path_.c_str(), &status) == 0 && (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode));
    if (mode == Mode::New && is_taken && ::unlink(path_.c_str()) != 0) { fail("unlink"); }
    const int flags = mode == Mode::Read ? O_RDONLY : mode == Mode::New ? O_RDWR | O_CREAT | O_EXCL : O_RDWR;
    descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor_ < 0) { fail("open"); }
    if (::fstat(descriptor_, &status) != 0)
    {
        ::close(descriptor_);
        fail("fstat");
    }
    length_ = on_disk_ = static_cast<std::uint64_t>(status.st_size);
}

OrderedFile::~OrderedFile()
{
    if (descriptor_ >= 0) { ::close(descriptor_); }
}

void OrderedFile::fail(const char* call) const
{
    const int cause = errno;
    throw SystemFailure(path_ + "  " + call + " failed: " + std::strerror(cause) + " (errno " + std::to_string(cause) + ")");
}

void OrderedFile::read(std::uint64_t at, std::size_t bytes, unsigned char* to) const
{
    std::size_t have = 0;
    while (have < bytes)
    {
        const ssize_t got = ::pread(descriptor_, to + have, bytes - have, static_cast<off_t>(at + have));
        if (got < 0 && errno == EINTR) { continue; }
        if (got < 0) { fail("read"); }
        if (got == 0) { break; }
        have += static_cast<std::size_t>(got);
    }
    std::fill(to + have, to + bytes, static_cast<unsigned char>(0));
    for (const Change& change : changes_)
    {
        const std::uint64_t first = std::max(at, change.at), last = std::min(at + bytes, change.at + change.bytes.size());
        if (first < last) { std::memcpy(to + (first - at), change.bytes.data() + (first - change.at), last - first); }
    }
}

void OrderedFile::write(std::uint64_t at, std::size_t bytes, const unsigned char* from)
{
    changes_.push_back({at, {from, from + bytes}});
    length_ = std::max(length_, at + bytes);
}

void OrderedFile::resize(std::uint64_t length) { length_ = length; }

void OrderedFile::put(std::uint64_t at, const unsigned char* from, std::size_t bytes)
{
    while (bytes > 0)
    {
        const ssize_t done = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(at));
        if (done < 0 && errno == EINTR) { continue; }
        if (done <= 0) { fail("write"); }
        at += static_cast<std::uint64_t>(done), from += done, bytes -= static_cast<std::size_t>(done);
    }
}

void OrderedFile::append_changes()
{
    try
    {
        for (const Change& change : changes_)
        {
            const std::uint64_t end = change.at + change.bytes.size(), first = std::max(change.at, on_disk_);
            if (first < end) { put(first, change.bytes.data() + (first - change.at), end - first); }
        }
        if (length_ > on_disk_ && ::ftruncate(descriptor_, static_cast<off_t>(length_)) != 0) { fail("ftruncate"); }
    }
    catch (const SystemFailure&)
    {
        static_cast<void>(::ftruncate(descriptor_, static_cast<off_t>(on_disk_)) == 0); // the first error is the one to report
        throw;
    }
}

void OrderedFile::put_superblock()
{
    unsigned char block[superblock_bytes];
    read(0, sizeof block, block);
    put(0, block, sizeof block);
}

void OrderedFile::commit()
{
    if (has_failed_) { throw SystemFailure(path_ + "  an earlier change could not be written"); }
    has_failed_ = true; // stays true unless all is written
    append_changes();
    const bool has_changes = !changes_.empty(), is_shorter = length_ < on_disk_;
    if (has_changes && !is_shorter) { put_superblock(); }
    for (const Change& change : changes_)
    {
        const std::uint64_t first = std::max<std::uint64_t>(change.at, superblock_bytes),
                            last = std::min(change.at + change.bytes.size(), on_disk_);
        if (first < last) { put(first, change.bytes.data() + (first - change.at), last - first); }
    }
    if (has_changes && is_shorter) { put_superblock(); }
    if (is_shorter && ::ftruncate(descriptor_, static_cast<off_t>(length_)) != 0) { fail("ftruncate"); }
    on_disk_ = length_;
    changes_.clear();
    has_failed_ = false;
}

void OrderedFile::sync()
{
    if (::fsync(descriptor_) != 0 && errno != EINVAL) { fail("fsync"); } // EINVAL: the file cannot be synced
}

void OrderedFile::close()
{
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor >= 0 && ::close(descriptor) != 0) { fail("close"); }
}

} // namespace parhelion::h5md
