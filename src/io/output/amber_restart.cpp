// SPDX-License-Identifier: Apache-2.0
#include "io/output/amber_restart.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/output/amber_units.hpp"
#include "io/output/box_edges.hpp"
#include "io/output/output_file.hpp"
#include "io/output/xdr.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace parhelion {

namespace {

constexpr std::int32_t tag_dimensions = 10, tag_variables = 11, tag_attributes = 12, type_text = 2, type_double = 6;
enum Dimension : std::int32_t
{
    Spatial,
    Atom,
    CellSpatial,
    CellAngular,
    Label
};

struct Variable
{
    std::string_view name;
    std::vector<Dimension> shape;
    std::int32_t type = type_double;
    std::string_view unit = "";
    double scale = 1; // factor by which readers multiply the values
    XdrBuffer values = {};
};

Variable text(std::string_view name, std::vector<Dimension> shape, std::string_view values)
{
    Variable variable{name, std::move(shape), type_text};
    variable.values.put_padded(values);
    return variable;
}

Variable reals(std::string_view name, std::vector<Dimension> shape, std::string_view unit, const std::vector<double>& values)
{
    Variable variable{name, std::move(shape), type_double, unit};
    for (const double value : values) { variable.values.put(value); }
    return variable;
}

Variable vectors(std::string_view name, std::string_view unit, double scale, const std::vector<Vec3<double>>& values)
{
    Variable variable{name, {Atom, Spatial}, type_double, unit, scale};
    for (const Vec3<double>& value : values)
    {
        for (int d = 0; d < 3; ++d) { variable.values.put(value[d] / nm_per_angstrom / scale); }
    }
    return variable;
}

double angle(const Vec3<double>& a, const Vec3<double>& b)
{
    const double product = dot(a, b);
    return product == 0 ? 90 : std::acos(product / (norm(a) * norm(b))) / units::degree;
}

std::vector<Variable> variables_of(const AmberRestart& restart)
{
    const BoxEdges e = edges_of(restart.box);
    const Vec3<double> a{e[0], e[1], e[2]}, b{e[3], e[4], e[5]}, c{e[6], e[7], e[8]};
    std::vector<Variable> variables;
    variables.push_back(text("spatial", {Spatial}, "xyz"));
    variables.push_back(text("cell_spatial", {CellSpatial}, "abc"));
    variables.push_back(text("cell_angular", {CellAngular, Label}, "alphabeta gamma"));
    variables.push_back(reals("time", {}, "picosecond", {restart.time}));
    variables.push_back(reals("cell_lengths", {CellSpatial}, "angstrom",
                              {norm(a) / nm_per_angstrom, norm(b) / nm_per_angstrom, norm(c) / nm_per_angstrom}));
    variables.push_back(reals("cell_angles", {CellAngular}, "degree", {angle(b, c), angle(a, c), angle(a, b)}));
    variables.push_back(vectors("coordinates", "angstrom", 1, restart.x));
    if (!restart.v.empty()) { variables.push_back(vectors("velocities", "angstrom/picosecond", amber_velocity, restart.v)); }
    return variables;
}

void put_attribute(XdrBuffer& header, std::string_view name, std::string_view value)
{
    header.put(name);
    header.put(type_text);
    header.put(value);
}

void put_list(XdrBuffer& header, std::int32_t tag, std::size_t elements)
{
    header.put(tag);
    header.put(static_cast<std::int32_t>(elements));
}

void put_variable(XdrBuffer& header, const Variable& variable, std::size_t begin)
{
    header.put(variable.name);
    header.put(static_cast<std::int32_t>(variable.shape.size()));
    for (const Dimension dimension : variable.shape) { header.put(std::int32_t{dimension}); }
    const bool has_unit = !variable.unit.empty(), has_scale = variable.scale != 1;
    put_list(header, has_unit ? tag_attributes : 0, (has_unit ? 1U : 0U) + (has_scale ? 1U : 0U));
    if (has_unit) { put_attribute(header, "units", variable.unit); }
    if (has_scale)
    {
        header.put("scale_factor");
        header.put(type_double);
        header.put(std::int32_t{1});
        header.put(variable.scale);
    }
    header.put(variable.type);
    // The field has 32 bits. For larger sizes it has its largest number, and readers compute the size from the shape.
    const std::size_t bytes = std::min<std::size_t>(variable.values.bytes().size(), std::numeric_limits<std::uint32_t>::max());
    header.put(static_cast<std::int32_t>(static_cast<std::uint32_t>(bytes)));
    header.put(static_cast<std::int64_t>(begin));
}

// `begin`: offset of the first variable's values in the file.
XdrBuffer header_of(const AmberRestart& restart, const std::vector<Variable>& variables, std::size_t begin)
{
    XdrBuffer header;
    header.put_padded("CDF\x02");
    header.put(std::int32_t{0}); // records
    const std::pair<std::string_view, std::size_t> dimensions[] = {
        {"spatial", 3}, {"atom", restart.x.size()}, {"cell_spatial", 3}, {"cell_angular", 3}, {"label", 5}};
    put_list(header, tag_dimensions, std::size(dimensions));
    for (const auto& [name, length] : dimensions)
    {
        header.put(name);
        header.put(static_cast<std::int32_t>(length));
    }
    put_list(header, tag_attributes, 5);
    put_attribute(header, "title", restart.title);
    put_attribute(header, "program", "parhelion");
    put_attribute(header, "programVersion", restart.program_version);
    put_attribute(header, "Conventions", "AMBERRESTART");
    put_attribute(header, "ConventionVersion", "1.0");
    put_list(header, tag_variables, variables.size());
    for (const Variable& variable : variables)
    {
        put_variable(header, variable, begin);
        begin += variable.values.bytes().size();
    }
    return header;
}

} // namespace

void write_amber_restart(const std::string& path, const AmberRestart& restart)
{
    PARHELION_EXPECTS(restart.v.empty() || restart.v.size() == restart.x.size());
    const std::vector<Variable> variables = variables_of(restart);
    const std::size_t begin = header_of(restart, variables, 0).bytes().size();
    WholeFile file(path);
    const auto append = [&](const XdrBuffer& buffer) {
        file.append({reinterpret_cast<const char*>(buffer.bytes().data()), buffer.bytes().size()});
    };
    append(header_of(restart, variables, begin));
    for (const Variable& variable : variables) { append(variable.values); }
    file.finish();
}

} // namespace parhelion
