// SPDX-License-Identifier: Apache-2.0
// A file that only ever holds whole records. Bytes go straight to the operating system; when it refuses them, the file is cut
// back to the last finished record before the error is thrown, so what is on disk can be read and continued.
//
// A run that goes on appends to the files of its earlier part. A FileMark says which bytes these must begin with. It holds a hash
// of the last MiB alone: that much of a file of any size is read in a millisecond, and a file that was replaced or written over
// does not end in the same bytes. What a failing disk does to the bytes before is not noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parhelion {

// The bytes that a file had at some moment.
struct FileMark
{
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> tail = std::nullopt; // hash of the last of them; nothing: not known
};

// Throws InputError E192 if the file is missing or has fewer bytes, E195 if they are others. Touches nothing. An empty path: of
// no file.
void expect_beginning(const std::string& path, const FileMark& mark);

// What becomes of a file that has the name of a new one.
enum class Taken
{
    Replace, // it loses its name. A symbolic link does, too: what it leads to is left alone
    Empty    // it stays the same file, for those who hold a lock on it. It must not be a symbolic link
};

class OutputFile
{
public:
    // Begins a new file; or, if `kept` has any bytes, goes on after these. Throws SystemError, and as expect_beginning().
    explicit OutputFile(std::string path, const FileMark& kept = {}, Taken taken = Taken::Replace);
    ~OutputFile(); // gives the descriptor back; call close() to learn about errors
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    // Adds to the record being written. Throws SystemError naming file and cause; the record is then gone.
    void append(std::span<const unsigned char> bytes);
    void append(std::string_view text) { append({reinterpret_cast<const unsigned char*>(text.data()), text.size()}); }
    void finish_record() { finished_ = written_; }
    std::uint64_t length() const { return finished_; } // bytes of finished records
    FileMark mark(std::uint64_t length) const;         // of the first `length` bytes
    // Between records: what something else has done to the file, in a sentence. Empty if nothing, or if it has been told before.
    std::string new_interference();
    // Returns when what was written survives a power failure. Throws SystemError.
    void sync();
    // Drops an unfinished record. Throws SystemError: some file systems report a failed write only here.
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
    bool has_told_ = false; // of an interference
};

// A file that has its name from the moment on that it is whole; until then, and for good after an error, what had that name
// stays.
class WholeFile
{
public:
    // Writes beside `path`, as path.tmp. Throws SystemError, as do all below.
    explicit WholeFile(std::string path);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    void append(std::string_view text) { file_.append(text); }
    void finish(); // names it

private:
    std::string path_;
    OutputFile file_;
    bool is_finished_ = false;
};

// A WholeFile of this text.
void write_text_file(const std::string& path, std::string_view text);

} // namespace parhelion
