// SPDX-License-Identifier: Apache-2.0
// All that is wrong with an input, told in one go. A reader keeps the error of a line and goes on with the next one; whoever has
// read everything throws the list as one error.
//
// The worst errors come first, since they explain others: files that cannot be read, then lines without the right form, unknown
// names, what is not supported, and last the values. Among equally bad ones the order is that of reading: .mdp, topology,
// structure.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parhelion {

class ErrorList
{
public:
    // Does `work` and keeps the InputError that it throws, or all of them if it throws a list. Returns whether it threw none.
    template <class Work>
    bool attempt(const Work& work)
    {
        try
        {
            work();
            return true;
        }
        catch (const InputError& error)
        {
            keep(error);
            return false;
        }
    }

    bool empty() const { return kept_.empty(); }
    // Whether all errors have this id, as they have if there are none.
    bool holds_only(std::string_view id) const;
    // Throws the error if there is one, and an InputErrors if there are several.
    void throw_if_any() const;
    // A line for each error; at most 20, and how many more there are.
    std::string text() const;
    const InputError& worst() const { return kept_.front().error; }

private:
    struct Kept
    {
        InputError error;
        std::size_t repeats; // how many more lines of the file have the same error
    };
    void keep(const InputError& error);
    void insert(const Kept& kept);

    std::vector<Kept> kept_; // the worst first
    std::size_t left_out_ = 0;
};

// Several errors. As an InputError it is the worst of them, and what() tells them all.
class InputErrors : public InputError
{
public:
    explicit InputErrors(ErrorList errors) : InputError(errors.worst()), errors_(std::move(errors)), text_(errors_.text()) {}
    const char* what() const noexcept override { return text_.c_str(); }
    const ErrorList& errors() const { return errors_; }

private:
    ErrorList errors_;
    std::string text_;
};

} // namespace parhelion
