// SPDX-License-Identifier: Apache-2.0
#include "io/text.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace parhelion {

MappedFile::MappedFile(const std::filesystem::path& path)
{
    const auto refuse = [&](const std::string& why) {
        throw InputError("E110", {path.string(), 0}, "cannot be read: " + why + ". Check the name and the permissions.");
    };
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) { refuse(std::strerror(errno)); }
    struct stat status = {};
    const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    void* mapped = nullptr;
    if (regular && status.st_size > 0)
    {
        mapped = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    }
    const int error = errno;
    ::close(file);
    if (!regular) { refuse("it is not a regular file"); }
    if (mapped == MAP_FAILED) { refuse(std::strerror(error)); }
    data_ = static_cast<const char*>(mapped);
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0) { ::madvise(mapped, size_, MADV_SEQUENTIAL); }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), released_(other.released_)
{
}

MappedFile::~MappedFile()
{
    if (size_ > 0) { ::munmap(const_cast<char*>(data_), size_); }
}

void MappedFile::release_before(std::size_t position)
{
    constexpr std::size_t block = std::size_t{1} << 24;
    const std::size_t end = position / block * block;
    if (end <= released_) { return; }
    ::madvise(const_cast<char*>(data_) + released_, end - released_, MADV_DONTNEED);
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
        // Too small to tell from zero is zero; too large is refused. The exponent's sign tells which.
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
