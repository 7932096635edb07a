// SPDX-License-Identifier: Apache-2.0
// Tools for text readers: a file mapped into memory, words, and strict numbers. Strict means that the whole
// word is a finite number that fits its type: "1.2.3", "nan", "inf", "12abc" and 1e400 are not numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

// The bytes of a file, read-only, for the life of the object. A regular file is mapped; a pipe is read until its other end is
// closed. A pipe can be read only once, so code that needs a file twice passes on this object, not the path. Throws InputError
// E110 if the file cannot be opened, is neither a regular file nor a pipe, or if a pipe yields nothing for a minute.
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
    // Returns the text without the byte order mark that some editors write at its begin.
    std::string_view text_without_mark() const
    {
        constexpr std::string_view mark = "\xEF\xBB\xBF";
        return text().starts_with(mark) ? text().substr(mark.size()) : text();
    }
    // Frees the memory of the bytes before `position`, for one pass over a huge file.
    // These bytes can still be read, because the system then reads the file again.
    void release_before(std::size_t position);

private:
    [[noreturn]] void refuse(const std::string& why) const;
    void map(int file, std::size_t size);
    void drain(int pipe);

    std::filesystem::path path_;
    std::unique_ptr<std::string> bytes_; // contents of a pipe
    char* data_ = nullptr;               // pages are read-only, unless the file is a pipe
    std::size_t size_ = 0;
    std::size_t released_ = 0;
};

std::optional<double> to_real(std::string_view word);
std::optional<std::int64_t> to_integer(std::string_view word);

std::string_view trimmed(std::string_view text);
// Splits `text` at blanks into words, which are views into `text`.
void split_words(std::string_view text, std::vector<std::string_view>& words);
// Removes and returns the first line of `text`, without its end ("\n" or "\r\n").
std::string_view take_line(std::string_view& text);
// Returns `text` in quotes for a message: shortened if long, with unprintable bytes shown as '?'.
std::string in_quotes(std::string_view text);

} // namespace parhelion
