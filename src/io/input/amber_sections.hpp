// SPDX-License-Identifier: Apache-2.0
// The sections of an AMBER topology (prmtop, also parm7): text in fixed columns, where each section names the Fortran format of
// its lines (https://ambermd.org/FileFormats.php, "AMBER parameter/topology file specification").
//
// Opening the file finds the sections in one pass over its lines. A section is parsed only when it is asked for;
// other sections cost no more than that pass. Values may touch, so fields are separated by columns, not by blanks.
#pragma once

#include "base/error.hpp"
#include "io/input/text.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

class AmberSections
{
public:
    // Finds the sections. Throws InputError E120 for a file of another form, and for a section without format or given twice.
    explicit AmberSections(MappedFile file);

    bool has(std::string_view name) const { return sections_.contains(name); }
    // Returns the number of values that fit into the section's lines. Throws E120 if there is no such section.
    std::int64_t size(std::string_view name) const;
    // Returns the first line of a section, without blanks around it, or nothing if there is no such section.
    std::string_view line(std::string_view name) const;

    // Return all values of a section, which must be `count`. Throw InputError E120 if there is no such section, or if its format
    // or number of values differ; E121 for a column that has no such value. Words are views into the file, without blanks around.
    std::vector<std::int32_t> integers(std::string_view name, std::int64_t count) const;
    std::vector<double> reals(std::string_view name, std::int64_t count) const;
    std::vector<std::string_view> words(std::string_view name, std::int64_t count) const;

    // Returns the line of a section's value, or the top of the file if there is no such section.
    SourceLocation where(std::string_view name, std::int64_t value = 0) const;
    [[noreturn]] void fail(const char* id, std::string_view name, std::int64_t value, const std::string& message) const;

private:
    struct Format
    {
        char kind = '?'; // a, i, or e, which stands for all formats of real numbers
        std::int64_t per_line = 1;
        std::size_t width = 1;
    };
    struct Part
    {
        Format format;
        int first_line = 0; // line number of the first value
        std::string_view text;
    };

    static Format format_of(std::string_view text);
    const Part& part(std::string_view name) const;
    template <class Value, class Parse>
    std::vector<Value> values(std::string_view name, std::int64_t count, char kind, const char* what, const Parse& parse) const;

    MappedFile file_;
    std::map<std::string_view, Part> sections_;
};

} // namespace parhelion
