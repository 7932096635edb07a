// SPDX-License-Identifier: Apache-2.0
// A file that contains only complete records. Bytes go directly to the operating system. If a write fails, the file
// is cut back to the last complete record before the error is thrown, so the file on disk can be read and continued.
//
// A continued run appends to the files of its earlier part. A FileMark describes the bytes with which such a file must begin.
// It has a hash of the last MiB only, which takes a millisecond to read for a file of any size. A file that was replaced or
// overwritten does not end in the same bytes. The hash does not detect damage of earlier bytes by a failing disk.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parhelion {

// Identifies the bytes that a file had at some time.
struct FileMark
{
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> tail = std::nullopt; // hash of the last bytes; empty: it is not known
};

// Checks that the file begins with the bytes that the mark describes, and changes nothing. Throws InputError
// E192 if the file is missing or too short, E195 if its bytes differ. An empty path means no file.
void expect_beginning(const std::string& path, const FileMark& mark);

// Says how to treat an existing file that has the name of a new file.
enum class Taken
{
    Replace, // the existing file loses its name; a symbolic link is removed, and its target stays unchanged
    Empty    // the same file is emptied, because others hold a lock on it; it must not be a symbolic link
};

class OutputFile
{
public:
    // Begins a new file, or continues after the bytes of `kept` if it has any. Throws SystemError, and as expect_beginning().
    explicit OutputFile(std::string path, const FileMark& kept = {}, Taken taken = Taken::Replace);
    ~OutputFile(); // closes the descriptor; call close() to get errors
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    // Adds bytes to the current record. Throws SystemError with file and cause; the record is then discarded.
    void append(std::span<const unsigned char> bytes);
    void append(std::string_view text) { append({reinterpret_cast<const unsigned char*>(text.data()), text.size()}); }
    void finish_record() { finished_ = written_; }
    std::uint64_t length() const { return finished_; } // number of bytes of complete records
    FileMark mark(std::uint64_t length) const;         // mark of the first `length` bytes
    // Returns a sentence the first time that another program is found to have changed the file. Call it between records.
    std::string new_interference();
    // Returns when the written data would survive a power failure. Throws SystemError.
    void sync();
    // Drops an incomplete record. Throws SystemError: some file systems report a failed write only here.
    void close();
    const std::string& path() const { return path_; }

private:
    [[noreturn]] void fail(const char* call);
    void begin(Taken taken);
    void go_on_after(const FileMark& kept);
    void drop_unfinished();

    std::string path_;
    int descriptor_ = -1;
    std::uint64_t written_ = 0, finished_ = 0;
    bool has_told_ = false; // true after new_interference() has returned a sentence
};

// A file that gets its name only when it is complete. Until then,
// and after an error, an existing file of that name stays unchanged.
class WholeFile
{
public:
    // Writes to path.tmp beside `path`. It and the functions below throw SystemError.
    explicit WholeFile(std::string path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    void append(std::string_view text) { file_.append(text); }
    void finish(); // renames the complete file to `path`

private:
    std::string path_;
    OutputFile file_;
    bool is_finished_ = false;
};

// Writes `text` to a file as WholeFile does.
void write_text_file(const std::string& path, std::string_view text);

} // namespace parhelion
