// SPDX-License-Identifier: Apache-2.0
// One line of a topology as words, with checked access: a value that is asked for must exist, be a finite
// number if a number is expected, and be in its range. Otherwise an InputError names file, line and column.
#pragma once

#include "io/input/preprocessor.hpp"
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

    // Removes a remark that begins with '#', from column `first` (counted from 0) to the end.
    // GROMACS ignores such a remark behind a number. Returns whether there was a remark.
    bool end_at_remark(std::size_t first);

    std::size_t size() const { return words_.size(); }
    std::string_view operator[](std::size_t i) const { return words_[i]; }
    Place place() const { return line_.place; }
    SourceLocation where() const { return source_.where(line_.place); }
    std::string_view text() const { return line_.text; }

    // Returns the word in column i (from 0); messages call it `what`.
    std::string_view word(std::size_t i, std::string_view what) const;
    double real(std::size_t i, std::string_view what) const;
    std::int64_t integer(std::size_t i, std::string_view what, std::int64_t lowest, std::int64_t highest) const;
    // Returns the function type. It must be in the usual range of function types.
    int function(std::size_t i) const { return static_cast<int>(integer(i, "function type", 1, 1000)); }
    // Returns an atom of a molecule with `atoms` atoms, numbered from 0.
    std::int32_t atom(std::size_t i, std::size_t atoms) const;
    void expect_at_most(std::size_t columns) const;

    [[noreturn]] void fail(const char* id, const std::string& message) const;

private:
    const Preprocessor& source_;
    SourceLine line_;
    std::vector<std::string_view> words_;
};

} // namespace parhelion
