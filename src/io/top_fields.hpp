// SPDX-License-Identifier: Apache-2.0
// One line of a topology as words, with checked access: every value asked for exists, is a finite number where one is due and
// lies in its range, or an InputError says which column of which file and line is wrong.
#pragma once

#include "io/preprocessor.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

class Fields
{
public:
    Fields(const Preprocessor& source, const SourceLine& line) : source_(source), line_(line) { split_words(line.text, words_); }

    // Leaves out a remark that begins with '#', which GROMACS does not read behind a number: from column `first` on, counted from
    // 0. Returns whether there was one.
    bool end_at_remark(std::size_t first);

    std::size_t size() const { return words_.size(); }
    std::string_view operator[](std::size_t i) const { return words_[i]; }
    Place place() const { return line_.place; }
    SourceLocation where() const { return source_.where(line_.place); }
    std::string_view text() const { return line_.text; }

    // The word in column i (from 0); `what` names it in the message.
    std::string_view word(std::size_t i, std::string_view what) const;
    double real(std::size_t i, std::string_view what) const;
    std::int64_t integer(std::size_t i, std::string_view what, std::int64_t lowest, std::int64_t highest) const;
    // Function types and atom numbers in their usual ranges.
    int function(std::size_t i) const { return static_cast<int>(integer(i, "function type", 1, 1000)); }
    // Zero-based, of a molecule with `atoms` atoms.
    std::int32_t atom(std::size_t i, std::size_t atoms) const;
    void expect_at_most(std::size_t columns) const;

    [[noreturn]] void fail(const char* id, const std::string& message) const;

private:
    const Preprocessor& source_;
    SourceLine line_;
    std::vector<std::string_view> words_;
};

} // namespace parhelion
