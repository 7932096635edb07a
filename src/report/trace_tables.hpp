// SPDX-License-Identifier: Apache-2.0
// Makes the tables of an analysis, or of two and their differences. The cells are text, for the terminal and for the HTML page.
#pragma once

#include "analysis/analysis.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace parhelion {

struct Table
{
    std::string title, note;
    std::size_t labels = 0; // number of columns with words; the columns after them have numbers
    std::vector<std::string> head;
    std::vector<std::vector<std::string>> rows;
};

enum class Columns : std::uint8_t
{
    All,
    Compared // of each table only the column whose change is shown
};

// Returns all tables that have rows. most_rows: limit for each table; its note then says how many rows are left out.
std::vector<Table> trace_tables(std::span<const TraceAnalysis> traces, std::size_t most_rows, Columns columns);

} // namespace parhelion
