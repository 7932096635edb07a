// SPDX-License-Identifier: Apache-2.0
#include "io/input/tpr/tree.hpp"

#include "io/input/mdp_value.hpp"

#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace parhelion {

namespace {

constexpr int most_levels = 32;

class TreeReader
{
public:
    explicit TreeReader(TprCursor& cursor) : cursor_(cursor) {}

    TprTree read()
    {
        object("", 0);
        return std::move(tree_);
    }

private:
    void object(const std::string& path, int level)
    {
        const std::size_t count = cursor_.count("options of a tree", 5);
        for (std::size_t i = 0; i < count; ++i)
        {
            const std::string name = cursor_.text();
            value(path.empty() ? name : path + "/" + name, level + 1);
        }
    }

    // Reads a value. An empty path means that the value is an element of an array.
    void value(const std::string& path, int level)
    {
        if (level > most_levels) { cursor_.fail("a tree of options is too deep"); }
        const int tag = cursor_.byte();
        switch (tag)
        {
        case 'O':
            return object(path, level);
        case 'A': {
            const std::size_t count = cursor_.count("values of an array", 1);
            for (std::size_t i = 0; i < count; ++i) { value("", level + 1); }
            return;
        }
        case 's':
            return keep(path, cursor_.text());
        case 'b':
            return keep(path, cursor_.truth() ? "true" : "false");
        case 'c':
        case 'u':
            return keep(path, std::to_string(cursor_.byte()));
        case 'i':
            return keep(path, std::to_string(cursor_.integer()));
        case 'l':
            return keep(path, std::to_string(cursor_.long_integer()));
        case 'f':
            return keep(path, number_text(float_number()));
        case 'd':
            return keep(path, number_text(cursor_.real64()));
        default:
            cursor_.fail(fmt::format("a tree of options has a value of the unknown kind {}", tag));
        }
    }

    double float_number()
    {
        const auto bits = static_cast<std::uint32_t>(cursor_.integer());
        const auto number = std::bit_cast<float>(bits);
        if (!std::isfinite(number)) { cursor_.fail("a number is not finite"); }
        return decimal_of(number);
    }

    void keep(const std::string& path, std::string value)
    {
        if (!path.empty()) { tree_.insert_or_assign(path, std::move(value)); }
    }

    TprCursor& cursor_;
    TprTree tree_;
};

} // namespace

TprTree read_tpr_tree(TprCursor& cursor) { return TreeReader(cursor).read(); }

std::string value_at(const TprTree& tree, std::string_view path, std::string_view otherwise)
{
    const auto found = tree.find(path);
    return found == tree.end() ? std::string(otherwise) : found->second;
}

} // namespace parhelion
