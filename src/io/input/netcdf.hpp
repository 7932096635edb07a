// SPDX-License-Identifier: Apache-2.0
// Reads variables of real numbers from NetCDF files of the classic formats 1, 2 and 5, in which AMBER writes restart files
// (NetCDF Classic Format Specification, Unidata). Their header is a tree of counted lists; numbers are big-endian. A
// library would also read compressed HDF5, which no AMBER program writes, but would be one more dependency of every build.
//
// Contents are not trusted: every count is compared with the bytes that are left before memory is allocated.
#pragma once

#include "io/input/text.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

bool is_netcdf(std::string_view bytes);

class NetcdfFile
{
public:
    struct Attribute
    {
        std::string text;  // value of a text attribute
        double number = 0; // first value of a numeric attribute
        bool is_number = false;
    };
    struct Variable
    {
        std::vector<std::int64_t> shape; // lengths of the dimensions; 0: the record dimension
        std::map<std::string, Attribute, std::less<>> attributes;
        std::int32_t type = 0;
        std::int64_t begin = 0; // offset of the variable's values in the file
    };

    // Reads the header. Throws InputError E170 if the file has another format or is damaged.
    explicit NetcdfFile(MappedFile file);

    const std::filesystem::path& path() const { return file_.path(); }
    // Returns the text attribute of this name, or nothing if there is none.
    std::string_view attribute(std::string_view name) const;
    // Returns the variable of this name, or null if there is none.
    const Variable* find(std::string_view name) const;
    // Returns the values in the file's order, times the variable's scale_factor. Throws E170 for records, values that
    // are no real numbers or beyond the end of the file, and numbers that are not finite or larger than `largest`.
    std::vector<double> values(std::string_view name, double largest) const;

    [[noreturn]] void fail(const std::string& message) const;

private:
    friend class NetcdfHeader;

    MappedFile file_;
    std::map<std::string, Attribute, std::less<>> attributes_;
    std::map<std::string, Variable, std::less<>> variables_;
};

} // namespace parhelion
