// SPDX-License-Identifier: Apache-2.0
// The preprocessor of topology files: #include, #define with and without value, #undef, #ifdef/#ifndef/#else/#endif, `\`
// continuation and `;` comments. It is a stream: the reader asks for one line after another and can ask of each where it began,
// so nothing is expanded into memory and messages name the file that the user wrote.
//
// Macros replace whole words (letters, digits, underscore); what they expand to is expanded again, without the macro itself. A
// macro without value is a flag: it is tested, never replaced, as in GROMACS. Costs: one pass, a hash look-up per word once
// macros exist.
#pragma once

#include "base/error.hpp"
#include "io/text.hpp"

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

// The folders of GMXLIB. They need not exist.
std::vector<std::filesystem::path> gmxlib_paths();
// Where includes are looked for last: the folders of GMXLIB, then the one of an installed gromacs-data. They need not exist.
std::vector<std::filesystem::path> library_paths();

// A line of a file in eight bytes; Preprocessor::where makes it readable.
struct Place
{
    std::int32_t file = 0;
    std::int32_t line = 0;
};

struct SourceLine
{
    std::string_view text; // comment stripped, macros replaced, trimmed, not empty; valid until the next line is asked for
    Place place;
};

class Preprocessor
{
public:
    // `defines`: "NAME" or "NAME=VALUE". Includes are looked for in the including file's folder, then `include_paths` in order,
    // then library_paths(). Messages about `defines` point to `defined_at`. A root that is a pipe is in the working folder.
    Preprocessor(MappedFile root, const std::vector<std::string>& defines,
                 const std::vector<std::filesystem::path>& include_paths, SourceLocation defined_at = {});
    Preprocessor(const std::filesystem::path& root, const std::vector<std::string>& defines,
                 const std::vector<std::filesystem::path>& include_paths, SourceLocation defined_at = {})
        : Preprocessor(MappedFile(root), defines, include_paths, std::move(defined_at))
    {
    }

    // The next line with something on it; false at the end. Throws InputError on a bad directive, a missing or circular include,
    // an unterminated #ifdef (naming the line it began on) and a macro that expands without end. The next call then goes on
    // behind the line; behind such a macro nothing is left to read.
    bool next(SourceLine& line);

    SourceLocation where(Place place) const { return {names_[static_cast<std::size_t>(place.file)], place.line}; }

    // After the last line: warns of `defines` that were never tested nor replaced anything; they may be misspelt.
    void warn_of_unused_defines(Diagnostics& diagnostics) const;

private:
    struct Condition
    {
        int line;
        bool outer_active; // what the condition stands in counts
        bool taken;        // the branch being read counts, if so
        bool was_else;
    };
    struct Source
    {
        MappedFile file;
        std::string_view rest;
        std::filesystem::path path; // canonical, to see cycles
        std::filesystem::path folder;
        Place place; // of the line in hand
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
    std::vector<std::string> names_;               // every file opened, as shown in messages
    std::vector<std::unique_ptr<Source>> sources_; // innermost last
    std::unordered_map<std::string, Macro> macros_;
    std::vector<std::string> user_defines_;
    std::set<std::string> tested_; // names in #ifdef and #ifndef: what a misspelt define may have meant
    std::string joined_, expanded_;
    bool any_value_ = false;
};

} // namespace parhelion
