// SPDX-License-Identifier: Apache-2.0
#include "io/output_file.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace parhelion {

OutputFile::OutputFile(std::string path, std::uint64_t kept) : path_(std::move(path))
{
    const int flags = O_WRONLY | O_CLOEXEC | (kept == 0 ? O_CREAT | O_TRUNC : 0);
    descriptor_ = ::open(path_.c_str(), flags, 0666);
    if (descriptor_ < 0 && errno == ENOENT && kept > 0)
    {
        throw InputError(
            "E192", {path_, 0},
            fmt::format("is missing, but {} bytes had been written when the checkpoint was made. Put the file back, or "
                        "start afresh with --new.",
                        kept));
    }
    if (descriptor_ < 0) { fail("open"); }
    if (kept > 0) { cut_to(kept); }
}

void OutputFile::cut_to(std::uint64_t kept)
{
    const off_t length = ::lseek(descriptor_, 0, SEEK_END);
    if (length < 0) { fail("lseek"); }
    if (static_cast<std::uint64_t>(length) < kept)
    {
        ::close(descriptor_);
        throw InputError(
            "E192", {path_, 0},
            fmt::format("has {} bytes, but {} had been written when the checkpoint was made (what is missing would be a gap). "
                        "Put the file back, or start afresh with --new.",
                        length, kept));
    }
    written_ = finished_ = kept;
    if (::ftruncate(descriptor_, static_cast<off_t>(kept)) != 0) { fail("ftruncate"); }
    if (::lseek(descriptor_, static_cast<off_t>(kept), SEEK_SET) < 0) { fail("lseek"); }
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

void OutputFile::sync()
{
    // EINVAL: a pipe or a device, which has nothing to survive.
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

// Best effort: a pipe cannot be cut, and then there is nothing to cut.
void OutputFile::drop_unfinished()
{
    if (descriptor_ < 0 || written_ == finished_) { return; }
    if (::ftruncate(descriptor_, static_cast<off_t>(finished_)) == 0 &&
        ::lseek(descriptor_, static_cast<off_t>(finished_), SEEK_SET) >= 0)
    {
        written_ = finished_;
    }
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
