// SPDX-License-Identifier: Apache-2.0
// Collects all errors of an input. A reader keeps the error of a line and continues with the next
// line. When all files have been read, their caller throws the collected errors as one error.
//
// The worst errors come first, because they explain the errors after them: unreadable files, then lines without the right
// form, unknown names, unsupported features, and finally wrong values.
// Errors of equal severity are in the order of reading: .mdp, topology, structure.
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
    // Calls `work` and keeps the InputError that it throws, or each error of a thrown InputErrors. Returns whether it threw none.
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
    // Returns whether all errors have this id; true if there are no errors.
    bool holds_only(std::string_view id) const;
    // Throws the error if there is one, or an InputErrors if there are several.
    void throw_if_any() const;
    // Returns a line for each of the first 20 errors, then the number of remaining errors.
    std::string text() const;
    const InputError& worst() const { return kept_.front().error; }

private:
    struct Kept
    {
        InputError error;
        std::size_t repeats; // number of later lines of the file with the same error
    };
    void keep(const InputError& error);
    void insert(const Kept& kept);

    std::vector<Kept> kept_; // sorted, with the worst error first
    std::size_t left_out_ = 0;
};

// Several errors thrown as one. Its id and place are those of the worst error; what() returns the text of all errors.
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
