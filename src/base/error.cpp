// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace parhelion {

std::string SourceLocation::text() const
{
    if (file.empty()) { return "command line"; }
    return line > 0 ? file + ":" + std::to_string(line) : file;
}

InputError::InputError(std::string id, SourceLocation where, const std::string& message)
    : std::runtime_error(id + " " + where.text() + "  " + message), id_(std::move(id)), where_(std::move(where)),
      message_(message)
{
}

std::string Warning::text() const { return id + " " + where.text() + "  " + message; }

void Diagnostics::warn(std::string id, SourceLocation where, std::string message)
{
    warnings.push_back({std::move(id), std::move(where), std::move(message)});
}

void Diagnostics::note(std::string id, SourceLocation where, std::string message)
{
    notes.push_back({std::move(id), std::move(where), std::move(message)});
}

void contract_failed(const char* condition, const char* file, int line)
{
    throw ContractError(std::string(file) + ":" + std::to_string(line) + ": broken contract: " + condition);
}

namespace {
// Returns the Levenshtein distance of two words, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i)
    {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j)
        {
            const std::size_t substituted = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row.back();
}
} // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string_view>& known)
{
    std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
    std::string_view found;
    for (const std::string_view candidate : known)
    {
        const std::size_t longer = std::max(word.size(), candidate.size());
        if (longer - std::min(word.size(), candidate.size()) >= best) { continue; }
        if (const std::size_t d = edit_distance(word, candidate); d < best)
        {
            best = d;
            found = candidate;
        }
    }
    return std::string(found);
}

} // namespace parhelion
