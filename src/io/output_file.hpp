// SPDX-License-Identifier: Apache-2.0
// A file that only ever holds whole records. Bytes go straight to the operating system; when it refuses them, the file is cut
// back to the last finished record before the error is thrown, so what is on disk can be read and continued.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace parhelion {

class OutputFile
{
public:
    // Creates the file, or empties it; or goes on after the first `kept` bytes of one that exists. Throws SystemError, and
    // InputError E192 if it has fewer.
    explicit OutputFile(std::string path, std::uint64_t kept = 0);
    ~OutputFile(); // gives the descriptor back; call close() to learn about errors
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    // Adds to the record being written. Throws SystemError naming file and cause; the record is then gone.
    void append(std::span<const unsigned char> bytes);
    void append(std::string_view text) { append({reinterpret_cast<const unsigned char*>(text.data()), text.size()}); }
    void finish_record() { finished_ = written_; }
    std::uint64_t length() const { return finished_; } // bytes of finished records
    // Returns when what was written survives a power failure. Throws SystemError.
    void sync();
    // Drops an unfinished record. Throws SystemError: some file systems report a failed write only here.
    void close();
    const std::string& path() const { return path_; }

private:
    [[noreturn]] void fail(const char* call);
    void cut_to(std::uint64_t kept);
    void drop_unfinished();

    std::string path_;
    int descriptor_ = -1;
    std::uint64_t written_ = 0, finished_ = 0;
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
