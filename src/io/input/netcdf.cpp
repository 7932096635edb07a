// SPDX-License-Identifier: Apache-2.0
#include "io/input/netcdf.hpp"

#include "base/error.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <utility>

namespace parhelion {

namespace {

constexpr std::int32_t type_characters = 2, type_float = 5, type_double = 6;
constexpr std::array<std::int64_t, 12> bytes_of_type = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

std::uint64_t from_big_endian(std::string_view bytes)
{
    std::uint64_t value = 0;
    for (const char byte : bytes) { value = value << 8 | static_cast<unsigned char>(byte); }
    return value;
}

double real_of(std::string_view bytes)
{
    const std::uint64_t bits = from_big_endian(bytes);
    return bytes.size() == 8 ? std::bit_cast<double>(bits) : double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))};
}

} // namespace

bool is_netcdf(std::string_view bytes)
{
    return bytes.starts_with("CDF\x01") || bytes.starts_with("CDF\x02") || bytes.starts_with("CDF\x05");
}

// Reads the header, starting at its first byte.
class NetcdfHeader
{
public:
    explicit NetcdfHeader(NetcdfFile& file) : file_(file), rest_(file.file_.text()), version_(rest_[3])
    {
        rest_.remove_prefix(4);
        count(); // the number of records is not used
        for (std::int64_t i = list(10); i > 0; --i)
        {
            name();
            dimensions_.push_back(count());
        }
        attributes(file.attributes_);
        for (std::int64_t i = list(11); i > 0; --i) { variable(); }
    }

private:
    std::string_view take(std::int64_t bytes)
    {
        if (bytes < 0 || static_cast<std::uint64_t>(bytes) > rest_.size())
        {
            file_.fail("the file ends within its header. Is it whole?");
        }
        const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(bytes));
        rest_.remove_prefix(taken.size());
        return taken;
    }
    std::int64_t number(std::int64_t bytes)
    {
        const std::uint64_t value = from_big_endian(take(bytes));
        return bytes == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
    }
    std::int64_t count() { return number(version_ == 5 ? 8 : 4); }
    // Returns the number of elements that follow. An empty list may have no tag.
    std::int64_t list(std::int64_t tag)
    {
        const std::int64_t given = number(4), elements = count();
        if ((given != tag && (given != 0 || elements != 0)) || elements < 0)
        {
            file_.fail("its header is damaged. Is it whole?");
        }
        return elements;
    }
    std::string_view padded(std::int64_t bytes)
    {
        const std::string_view taken = take(bytes);
        take((4 - bytes % 4) % 4);
        return taken;
    }
    std::string name() { return std::string(padded(count())); }
    std::int64_t type()
    {
        const std::int64_t t = number(4);
        if (t < 1 || t >= static_cast<std::int64_t>(bytes_of_type.size()))
        {
            file_.fail("its header has a type that does not exist.");
        }
        return t;
    }
    void attributes(std::map<std::string, NetcdfFile::Attribute, std::less<>>& to)
    {
        for (std::int64_t i = list(12); i > 0; --i)
        {
            NetcdfFile::Attribute& attribute = to[name()];
            const std::int64_t t = type(), elements = count(), size = bytes_of_type[static_cast<std::size_t>(t)];
            if (elements < 0 || elements > static_cast<std::int64_t>(rest_.size()) / size) { take(-1); }
            const std::string_view bytes = padded(elements * size);
            if (t == type_characters) { attribute.text = bytes; }
            attribute.is_number = (t == type_float || t == type_double) && elements > 0;
            if (attribute.is_number) { attribute.number = real_of(bytes.substr(0, static_cast<std::size_t>(size))); }
        }
    }
    void variable()
    {
        NetcdfFile::Variable& variable = file_.variables_[name()];
        for (std::int64_t i = count(); i > 0; --i)
        {
            const std::int64_t dimension = count();
            if (dimension < 0 || dimension >= static_cast<std::int64_t>(dimensions_.size()))
            {
                file_.fail("its header is damaged.");
            }
            variable.shape.push_back(dimensions_[static_cast<std::size_t>(dimension)]);
        }
        attributes(variable.attributes);
        variable.type = static_cast<std::int32_t>(type());
        count(); // the size of the variable is not used; it follows from the shape
        variable.begin = number(version_ == 1 ? 4 : 8);
    }

    NetcdfFile& file_;
    std::string_view rest_;
    int version_;
    std::vector<std::int64_t> dimensions_;
};

NetcdfFile::NetcdfFile(MappedFile file) : file_(std::move(file))
{
    if (!is_netcdf(file_.text())) { fail("is no NetCDF file of a classic format."); }
    NetcdfHeader header(*this);
}

void NetcdfFile::fail(const std::string& message) const { throw InputError("E170", {file_.path().string(), 0}, message); }

std::string_view NetcdfFile::attribute(std::string_view name) const
{
    const auto found = attributes_.find(name);
    return found == attributes_.end() ? std::string_view{} : found->second.text;
}

const NetcdfFile::Variable* NetcdfFile::find(std::string_view name) const
{
    const auto found = variables_.find(name);
    return found == variables_.end() ? nullptr : &found->second;
}

std::vector<double> NetcdfFile::values(std::string_view name, double largest) const
{
    const Variable* const variable = find(name);
    if (variable == nullptr) { fail(fmt::format("has no variable {}.", name)); }
    if (variable->type != type_float && variable->type != type_double)
    {
        fail(fmt::format("its variable {} holds no real numbers.", name));
    }
    const std::int64_t size = bytes_of_type[static_cast<std::size_t>(variable->type)];
    const auto all = static_cast<std::int64_t>(file_.text().size());
    const std::int64_t most = variable->begin < 0 || variable->begin > all ? 0 : (all - variable->begin) / size;
    std::int64_t elements = 1;
    for (const std::int64_t length : variable->shape)
    {
        if (length == 0)
        {
            fail(fmt::format("its variable {} has records, as a trajectory does. A restart file is needed.", name));
        }
        if (length < 0 || elements > most / length) { fail(fmt::format("ends within its variable {}. Is it whole?", name)); }
        elements *= length;
    }
    if (elements > most) { fail(fmt::format("ends within its variable {}. Is it whole?", name)); }
    const auto scale = variable->attributes.find("scale_factor");
    const double factor = scale != variable->attributes.end() && scale->second.is_number ? scale->second.number : 1;
    std::vector<double> result;
    result.reserve(static_cast<std::size_t>(elements));
    for (std::int64_t i = 0; i < elements; ++i)
    {
        result.push_back(factor * real_of(file_.text().substr(static_cast<std::size_t>(variable->begin + i * size),
                                                              static_cast<std::size_t>(size))));
        if (!(std::abs(result.back()) <= largest))
        {
            fail(fmt::format("its variable {} has a number that is not finite, or of no usual size.", name));
        }
    }
    return result;
}

} // namespace parhelion
