// SPDX-License-Identifier: Apache-2.0
#include "io/input/text.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace parhelion {

namespace {

// An open file, which the destructor closes.
class OpenFile
{
public:
    explicit OpenFile(const std::filesystem::path& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~OpenFile()
    {
        if (number_ >= 0) { ::close(number_); }
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    int number() const { return number_; }

private:
    int number_;
};

} // namespace

void MappedFile::refuse(const std::string& why) const
{
    throw InputError("E110", {path_.string(), 0}, "cannot be read: " + why + ". Check the name and the permissions.");
}

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path)
{
    const OpenFile file(path);
    if (file.number() < 0) { refuse(std::strerror(errno)); }
    struct stat status = {};
    if (::fstat(file.number(), &status) != 0) { refuse(std::strerror(errno)); }
    if (S_ISREG(status.st_mode)) { map(file.number(), static_cast<std::size_t>(status.st_size)); }
    else if (S_ISFIFO(status.st_mode)) { drain(file.number()); }
    else { refuse("it is not a regular file, nor a pipe"); }
}

void MappedFile::map(int file, std::size_t size)
{
    if (size == 0) { return; }
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) { refuse(std::strerror(errno)); }
    ::madvise(mapped, size, MADV_SEQUENTIAL);
    data_ = static_cast<char*>(mapped);
    size_ = size;
}

// Reads a pipe to its end. Waits for a writer that has not opened the pipe yet, since a read would return the end of file.
void MappedFile::drain(int pipe)
{
    constexpr int patience_ms = 60'000;
    constexpr std::size_t piece = std::size_t{1} << 20, most = std::size_t{1} << 34; // 16 GiB: the largest useful .gro has 5 GB
    bytes_ = std::make_unique<std::string>();
    for (;;)
    {
        pollfd waits{pipe, POLLIN, 0};
        const int ready = ::poll(&waits, 1, patience_ms);
        if (ready < 0 && errno == EINTR) { continue; }
        if (ready < 0) { refuse(std::strerror(errno)); }
        if (ready == 0) { refuse("nothing has come out of this pipe for a minute"); }
        bytes_->resize(size_ + piece);
        const ssize_t got = ::read(pipe, bytes_->data() + size_, piece);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) { continue; }
        if (got < 0) { refuse(std::strerror(errno)); }
        if (got == 0) { break; }
        size_ += static_cast<std::size_t>(got);
        if (size_ > most) { refuse("more comes out of this pipe than any input has"); }
    }
    bytes_->resize(size_);
    data_ = bytes_->data();
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::move(other.bytes_)), data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)), released_(other.released_)
{
}

MappedFile::~MappedFile()
{
    if (size_ > 0 && !is_pipe()) { ::munmap(data_, size_); }
}

void MappedFile::release_before(std::size_t position)
{
    constexpr std::size_t block = std::size_t{1} << 24;
    const std::size_t end = position / block * block;
    if (end <= released_ || is_pipe()) { return; }
    ::madvise(data_ + released_, end - released_, MADV_DONTNEED);
    released_ = end;
}

std::optional<double> to_real(std::string_view word)
{
    if (word.starts_with('+') && word.size() > 1 && word[1] != '-') { word.remove_prefix(1); }
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (error == std::errc::result_out_of_range && stop == end)
    {
        // A number too small for a double counts as zero, one too large is refused. The sign of the exponent tells which it is.
        return word.find("e-") != word.npos || word.find("E-") != word.npos ? std::optional<double>(0.0) : std::nullopt;
    }
    if (error != std::errc{} || stop != end || !std::isfinite(value)) { return std::nullopt; }
    return value;
}

std::optional<std::int64_t> to_integer(std::string_view word)
{
    if (word.starts_with('+') && word.size() > 1 && word[1] != '-') { word.remove_prefix(1); }
    std::int64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc{} || stop != end) { return std::nullopt; }
    return value;
}

namespace {
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
} // namespace

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && is_blank(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && is_blank(text.back())) { text.remove_suffix(1); }
    return text;
}

void split_words(std::string_view text, std::vector<std::string_view>& words)
{
    words.clear();
    for (std::size_t i = 0; i < text.size();)
    {
        while (i < text.size() && is_blank(text[i])) { ++i; }
        const std::size_t begin = i;
        while (i < text.size() && !is_blank(text[i])) { ++i; }
        if (i > begin) { words.push_back(text.substr(begin, i - begin)); }
    }
}

std::string_view take_line(std::string_view& text)
{
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.ends_with('\r')) { line.remove_suffix(1); }
    return line;
}

std::string in_quotes(std::string_view text)
{
    constexpr std::size_t longest = 40;
    std::string shown = "'";
    for (const char c : text.substr(0, longest)) { shown += c >= ' ' && c <= '~' ? c : '?'; }
    return shown + (text.size() > longest ? "...'" : "'");
}

} // namespace parhelion
