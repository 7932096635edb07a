// SPDX-License-Identifier: Apache-2.0
// What every text reader needs: a file mapped into memory, words, and strict numbers. Strict means that the whole word is the
// number, that it is finite, and that it fits; "1.2.3", "nan", "inf", "12abc" and 1e400 are not numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

// The bytes of a file, read-only, for the life of the object: mapped, or those that come out of a pipe until its other end is
// closed. A pipe can be read once, so whoever looks at a file twice hands this on instead of its path. Throws InputError E110 if
// the file cannot be opened or is neither a regular file nor a pipe, and if nothing comes out of a pipe for a minute.
class MappedFile
{
public:
    explicit MappedFile(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    bool is_pipe() const { return bytes_ != nullptr; }
    std::string_view text() const { return {data_, size_}; }
    // Without the byte order mark that some editors begin a text with.
    std::string_view text_without_mark() const
    {
        constexpr std::string_view mark = "\xEF\xBB\xBF";
        return text().starts_with(mark) ? text().substr(mark.size()) : text();
    }
    // Gives back the memory of the bytes before `position`, which stay readable (from the file again). For one pass over a huge
    // file.
    void release_before(std::size_t position);

private:
    [[noreturn]] void refuse(const std::string& why) const;
    void map(int file, std::size_t size);
    void drain(int pipe);

    std::filesystem::path path_;
    std::unique_ptr<std::string> bytes_; // of a pipe
    const char* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t released_ = 0;
};

std::optional<double> to_real(std::string_view word);
std::optional<std::int64_t> to_integer(std::string_view word);

std::string_view trimmed(std::string_view text);
// The words of `text`, which are separated by blanks. Views into `text`.
void split_words(std::string_view text, std::vector<std::string_view>& words);
// Removes and returns the first line of `text`, without its end ("\n" or "\r\n").
std::string_view take_line(std::string_view& text);
// `text` in quotes for a message: cut when long, unprintable bytes shown as '?'.
std::string in_quotes(std::string_view text);

} // namespace parhelion
