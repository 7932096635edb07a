// SPDX-License-Identifier: Apache-2.0
#include "io/output/output_file.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace parhelion {

namespace {

constexpr std::uint64_t tail_bytes = 1 << 20;

// Returns the hash of the last bytes of a file's first `length` bytes. Returns nothing if the file cannot be read.
std::optional<std::uint64_t> hash_of_tail(int descriptor, std::uint64_t length)
{
    std::vector<unsigned char> tail(std::min(length, tail_bytes));
    std::size_t have = 0;
    while (have < tail.size())
    {
        const ssize_t got =
            ::pread(descriptor, tail.data() + have, tail.size() - have, static_cast<off_t>(length - tail.size() + have));
        if (got < 0 && errno == EINTR) { continue; }
        if (got < 0) { return std::nullopt; }
        if (got == 0) { break; }
        have += static_cast<std::size_t>(got);
    }
    return XXH64(tail.data(), have, length);
}

void expect_beginning(int descriptor, const std::string& path, const FileMark& mark)
{
    struct stat status = {};
    const std::uint64_t length = ::fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
    if (length < mark.bytes)
    {
        throw InputError(
            "E192", {path, 0},
            fmt::format("has {} bytes, but {} had been written when the checkpoint was made (what is missing would be a gap). "
                        "Put the file back, or start afresh with --new.",
                        length, mark.bytes));
    }
    if (mark.tail && hash_of_tail(descriptor, mark.bytes) != mark.tail)
    {
        throw InputError(
            "E195", {path, 0},
            fmt::format("is not the file that the checkpoint was made with: its first {} bytes end in others (frames added to it "
                        "would belong to another run, or could not be read). Put the file back, or start afresh with --new.",
                        mark.bytes));
    }
}

// Opens a file that is to be continued and returns its descriptor.
int open_existing(const std::string& path, int flags, std::uint64_t bytes)
{
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
    if (descriptor >= 0) { return descriptor; }
    if (errno == ENOENT)
    {
        throw InputError("E192", {path, 0},
                         fmt::format("is missing, but {} bytes had been written when the checkpoint was made. Put the file back, "
                                     "or start afresh with --new.",
                                     bytes));
    }
    throw SystemError(fmt::format("{}  open failed: {} (errno {})", path, std::strerror(errno), errno));
}

} // namespace

void expect_beginning(const std::string& path, const FileMark& mark)
{
    if (path.empty() || mark.bytes == 0) { return; }
    const int descriptor = open_existing(path, O_RDONLY, mark.bytes);
    try
    {
        expect_beginning(descriptor, path, mark);
    }
    catch (const InputError&)
    {
        ::close(descriptor);
        throw;
    }
    ::close(descriptor);
}

OutputFile::OutputFile(std::string path, const FileMark& kept, Taken taken) : path_(std::move(path))
{
    if (kept.bytes == 0) { begin(taken); }
    else { go_on_after(kept); }
}

void OutputFile::begin(Taken taken)
{
    constexpr int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC;
    struct stat status = {};
    const bool is_taken = ::lstat(path_.c_str(), &status) == 0 && (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode));
    if (taken == Taken::Replace && is_taken && ::unlink(path_.c_str()) != 0) { fail("unlink"); }
    descriptor_ = ::open(path_.c_str(), flags | (taken == Taken::Replace ? O_EXCL : O_TRUNC | O_NOFOLLOW), 0666);
    if (descriptor_ < 0) { fail("open"); }
}

void OutputFile::go_on_after(const FileMark& kept)
{
    // In append mode bytes always go to the end. So a file that another program truncates gets no hole.
    descriptor_ = open_existing(path_, O_RDWR | O_APPEND, kept.bytes);
    try
    {
        expect_beginning(descriptor_, path_, kept);
        if (::ftruncate(descriptor_, static_cast<off_t>(kept.bytes)) != 0) { fail("ftruncate"); }
    }
    catch (const std::exception&)
    {
        ::close(descriptor_);
        throw;
    }
    written_ = finished_ = kept.bytes;
}

OutputFile::~OutputFile()
{
    if (descriptor_ >= 0)
    {
        drop_unfinished();
        ::close(descriptor_);
    }
}

void OutputFile::append(std::span<const unsigned char> bytes)
{
    PARHELION_EXPECTS(descriptor_ >= 0);
    while (!bytes.empty())
    {
        const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) { continue; }
        if (done <= 0) { fail("write"); }
        written_ += static_cast<std::uint64_t>(done);
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
}

FileMark OutputFile::mark(std::uint64_t length) const { return {length, hash_of_tail(descriptor_, length)}; }

std::string OutputFile::new_interference()
{
    struct stat ours = {}, named = {};
    if (::fstat(descriptor_, &ours) != 0 || !S_ISREG(ours.st_mode)) { return ""; }
    // Compares only sizes, because on some network file systems a file's inode number changes.
    const bool is_named = ::stat(path_.c_str(), &named) == 0, is_whole = static_cast<std::uint64_t>(ours.st_size) == written_;
    if (has_told_ || (is_named && is_whole && named.st_size == ours.st_size)) { return ""; }
    has_told_ = true;
    std::string text =
        fmt::format("{} {} by something else while this run writes it; the run cannot be continued until it is put back.", path_,
                    !is_named  ? "was removed"
                    : is_whole ? "was replaced"
                               : "was changed");
    if (is_whole) { text += fmt::format(" Until this run ends it can be copied from /proc/{}/fd/{}.", ::getpid(), descriptor_); }
    return text;
}

void OutputFile::sync()
{
    // EINVAL means a pipe or a device, which cannot be synced.
    if (::fsync(descriptor_) != 0 && errno != EINVAL) { fail("fsync"); }
}

void OutputFile::close()
{
    if (descriptor_ < 0) { return; }
    drop_unfinished();
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) { fail("close"); }
}

void OutputFile::fail(const char* call)
{
    const int cause = errno;
    drop_unfinished();
    throw SystemError(fmt::format("{}  {} failed: {} (errno {})", path_, call, std::strerror(cause), cause));
}

// Cuts off an incomplete record. Errors are ignored: a pipe cannot be cut, and need not be.
void OutputFile::drop_unfinished()
{
    if (descriptor_ < 0 || written_ == finished_) { return; }
    const off_t end = ::lseek(descriptor_, 0, SEEK_END), unfinished = static_cast<off_t>(written_ - finished_);
    if (end >= unfinished && ::ftruncate(descriptor_, end - unfinished) == 0) { written_ = finished_; }
}

WholeFile::WholeFile(std::string path) : path_(std::move(path)), file_(path_ + ".tmp") {}

WholeFile::~WholeFile()
{
    if (!is_finished_) { ::unlink(file_.path().c_str()); }
}

void WholeFile::finish()
{
    file_.finish_record();
    file_.close();
    if (std::rename(file_.path().c_str(), path_.c_str()) != 0)
    {
        throw SystemError(fmt::format("{}: cannot get its name: {}", path_, std::strerror(errno)));
    }
    is_finished_ = true;
}

void write_text_file(const std::string& path, std::string_view text)
{
    WholeFile file(path);
    file.append(text);
    file.finish();
}

} // namespace parhelion
