// SPDX-License-Identifier: Apache-2.0
#include "io/input/error_list.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace parhelion {

namespace {

constexpr std::size_t most_kept = 20;

// The severity of an error is the index of the line with its id. Ids on no line are errors of values, which come last.
constexpr std::string_view worst_first[] = {
    "E110 E111 E112 E114 E115", // a file cannot be read
    "E101 E120 E121 E160 E170", // a line does not have the right form
    "E104 E106 E122 E132 E150", // a name is unknown
    "E130 E140",                // not supported
};

std::ptrdiff_t badness(const InputError& error)
{
    const auto has_id = [&](std::string_view ids) { return ids.find(error.id()) != ids.npos; };
    return std::find_if(std::begin(worst_first), std::end(worst_first), has_id) - std::begin(worst_first);
}

bool say_the_same(const InputError& a, const InputError& b)
{
    return a.id() == b.id() && a.where().file == b.where().file && a.message() == b.message();
}

} // namespace

void ErrorList::keep(const InputError& error)
{
    if (const auto* const several = dynamic_cast<const InputErrors*>(&error); several != nullptr)
    {
        for (const Kept& kept : several->errors().kept_) { insert(kept); }
        left_out_ += several->errors().left_out_;
    }
    else { insert({error, 0}); }
}

void ErrorList::insert(const Kept& kept)
{
    const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return say_the_same(k.error, kept.error); });
    if (same != kept_.end())
    {
        same->repeats += kept.repeats + 1;
        return;
    }
    const auto is_worse = [](const Kept& a, const Kept& b) { return badness(a.error) < badness(b.error); };
    kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), kept, is_worse), kept);
    if (kept_.size() > most_kept)
    {
        left_out_ += kept_.back().repeats + 1;
        kept_.pop_back();
    }
}

bool ErrorList::holds_only(std::string_view id) const
{
    return std::ranges::all_of(kept_, [&](const Kept& kept) { return kept.error.id() == id; });
}

void ErrorList::throw_if_any() const
{
    if (kept_.empty()) { return; }
    if (kept_.size() == 1 && kept_.front().repeats == 0) { throw worst(); }
    throw InputErrors(*this);
}

std::string ErrorList::text() const
{
    std::string text;
    for (const Kept& kept : kept_)
    {
        if (!text.empty()) { text += '\n'; }
        text += kept.error.what();
        if (kept.repeats > 0)
        {
            text += fmt::format(" ({} more {} so)", kept.repeats, kept.repeats == 1 ? "line is" : "lines are");
        }
    }
    if (left_out_ > 0) { text += fmt::format("\nand {} more {}.", left_out_, left_out_ == 1 ? "error" : "errors"); }
    return text;
}

} // namespace parhelion
