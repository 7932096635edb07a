// SPDX-License-Identifier: Apache-2.0
// The preprocessor of topology files: #include, #define with and without value, #undef, #ifdef/#ifndef/#else/#endif,
// `\` continuation and `;` comments. It is a stream: the reader asks for one line after another, and for the place
// where a line began. Nothing is expanded into memory, and messages name the file that the user wrote.
//
// Macros replace whole words (letters, digits, underscore). The replacement is expanded again, without the macro
// itself. As in GROMACS, a macro without a value is a flag, which is tested but never replaced. Cost: one pass, and
// a hash look-up per word if there are macros.
#pragma once

#include "base/error.hpp"
#include "io/input/text.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace parhelion {

// Returns the folders of GMXLIB. They need not exist.
std::vector<std::filesystem::path> gmxlib_paths();
// Returns the folders that are searched last for includes: GMXLIB, then an installed gromacs-data. The folders need not exist.
std::vector<std::filesystem::path> library_paths();

// A line of a file in eight bytes. Preprocessor::where() converts it to a readable place.
struct Place
{
    std::int32_t file = 0;
    std::int32_t line = 0;
};

struct SourceLine
{
    std::string_view text; // the line without comment, macros replaced, trimmed, not empty; valid until the next call
    Place place;
};

class Preprocessor
{
public:
    // `defines`: "NAME" or "NAME=VALUE". Includes are searched in the including file's folder, `include_paths` in order, and
    // library_paths(). Messages about `defines` point to `defined_at`. A root that is a pipe counts as in the working folder.
    Preprocessor(MappedFile root, const std::vector<std::string>& defines,
                 const std::vector<std::filesystem::path>& include_paths, SourceLocation defined_at = {});
    Preprocessor(const std::filesystem::path& root, const std::vector<std::string>& defines,
                 const std::vector<std::filesystem::path>& include_paths, SourceLocation defined_at = {})
        : Preprocessor(MappedFile(root), defines, include_paths, std::move(defined_at))
    {
    }

    // Gets the next line that is not empty; returns false at the end. Throws InputError for a bad directive, a
    // missing or circular include, an unterminated #ifdef (with the line where it began) and a macro that expands
    // without end. The next call then continues behind the line; behind such a macro nothing more is read.
    bool next(SourceLine& line);

    SourceLocation where(Place place) const { return {names_[static_cast<std::size_t>(place.file)], place.line}; }

    // Warns of `defines` that were neither tested nor replaced, since they may be misspelt. Call it after the last line.
    void warn_of_unused_defines(Diagnostics& diagnostics) const;

private:
    struct Condition
    {
        int line;
        bool outer_active; // true if the text around the condition is read
        bool taken;        // true if the current branch is read when outer_active is true
        bool was_else;
    };
    struct Source
    {
        MappedFile file;
        std::string_view rest;
        std::filesystem::path path; // canonical path, by which cycles of includes are detected
        std::filesystem::path folder;
        Place place; // place of the current line
        std::int32_t lines_read = 0;
        std::vector<Condition> conditions;
    };
    struct Macro
    {
        std::string value;
        bool used = false;
        bool expanding = false;
    };

    bool read_joined_line(Source& source);
    bool active(const Source& source) const;
    void obey(Source& source, std::string_view directive);
    void test(Source& source, std::string_view name, bool wanted, std::string_view directive);
    void define(Place place, std::string_view rest);
    void include(const Source& from, std::string_view rest);
    void open(MappedFile file);
    void expand(std::string_view text, int depth, Place place);
    [[noreturn]] void fail(const char* id, Place place, const std::string& message) const;

    std::vector<std::filesystem::path> include_paths_;
    SourceLocation defined_at_;
    std::vector<std::string> names_;               // names of all opened files, as shown in messages
    std::vector<std::unique_ptr<Source>> sources_; // open files, the innermost file last
    std::unordered_map<std::string, Macro> macros_;
    std::vector<std::string> user_defines_;
    std::set<std::string> tested_; // names in #ifdef and #ifndef, to suggest for a misspelt define
    std::string joined_, expanded_;
    bool any_value_ = false;
};

} // namespace parhelion
