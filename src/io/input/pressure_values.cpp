// SPDX-License-Identifier: Apache-2.0
#include "io/input/pressure_values.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace parhelion {

namespace {

struct Layout
{
    const char* name;
    std::size_t count;
    const char* needs; // for example "needs two values of ref-p"
    const char* order; // the meaning of the values
};

Layout layout_of(BoxCoupling edges)
{
    switch (edges)
    {
    case BoxCoupling::SemiIsotropic:
        return {"semiisotropic", 2, "two values", "two values: for x and y, for z"};
    case BoxCoupling::SurfaceTension:
        return {"surface-tension", 2, "two values", "two values: for x and y (of ref-p the surface tension), for z"};
    case BoxCoupling::Anisotropic:
        return {"anisotropic", 6, "six values", "six values: xx yy zz xy xz yz"};
    default:
        return {"isotropic", 1, "one value", "one value"};
    }
}

const std::vector<double>& values_of(const MdpInput& input, const char* key, const std::vector<double>& values,
                                     Diagnostics& diagnostics)
{
    const BoxCoupling edges = input.parameters.box_coupling;
    const Layout layout = layout_of(edges);
    if (edges == BoxCoupling::Isotropic && values.size() > 1)
    {
        diagnostics.note("N129", input.where(key),
                         "isotropic pressure coupling takes the first value of " + std::string(key) + ", " +
                             number_text(values[0]) + ".");
    }
    else if (values.size() != layout.count)
    {
        throw InputError("E107", input.where(values.empty() ? "pcoupl" : key),
                         fmt::format("{} pressure coupling needs {} of {}, found {}. Give {}.", layout.name, layout.needs, key,
                                     values.size(), layout.order));
    }
    return values;
}

// Returns the values by axis, from a list that layout_of() describes.
Vec3<double> by_axis(BoxCoupling edges, const std::vector<double>& values)
{
    switch (edges)
    {
    case BoxCoupling::SemiIsotropic:
    case BoxCoupling::SurfaceTension:
        return {values[0], values[0], values[1]};
    case BoxCoupling::Anisotropic:
        return {values[0], values[1], values[2]};
    default:
        return {values[0], values[0], values[0]};
    }
}

bool has_shear(BoxCoupling edges, const std::vector<double>& values)
{
    return edges == BoxCoupling::Anisotropic && std::any_of(values.begin() + 3, values.end(), [](double x) { return x != 0; });
}

// Returns the off-diagonal values yx, zx, zy of anisotropic coupling.
Vec3<double> shear_of(BoxCoupling edges, const std::vector<double>& values)
{
    if (!has_shear(edges, values)) { return {}; }
    return {values[3], values[4], values[5]};
}

std::string text_of(BoxCoupling edges, double first, const Vec3<double>& axes, const Vec3<double>& shear)
{
    switch (edges)
    {
    case BoxCoupling::SemiIsotropic:
    case BoxCoupling::SurfaceTension:
        return number_text(first) + " " + number_text(axes.z);
    case BoxCoupling::Anisotropic:
        return number_text(axes.x) + " " + number_text(axes.y) + " " + number_text(axes.z) + " " + number_text(shear.x) + " " +
               number_text(shear.y) + " " + number_text(shear.z);
    default:
        return number_text(first);
    }
}

} // namespace

void take_pressure_values(MdpInput& input, Diagnostics& diagnostics)
{
    RunParameters& p = input.parameters;
    const std::vector<double>& compressibility = values_of(input, "compressibility", input.compressibility, diagnostics);
    p.compressibility = by_axis(p.box_coupling, compressibility);
    p.shear_compressibility = shear_of(p.box_coupling, compressibility);
    if (std::ranges::any_of(compressibility, [](double x) { return x < 0; }))
    {
        throw InputError("E105", input.where("compressibility"),
                         "a negative compressibility has no meaning here. Give a number >= 0.");
    }
    const bool shears = p.shear_compressibility != Vec3<double>{};
    if (shears && p.barostat == Barostat::CRescale)
    {
        throw InputError(
            "E140", input.where("compressibility"),
            "C-rescale with off-diagonal compressibilities (xy xz yz) other than 0 is not supported (no shear of its "
            "own is). Set the last three values to 0, or use pcoupl = Parrinello-Rahman.");
    }

    const std::vector<double>& reference = values_of(input, "ref-p", input.reference_p, diagnostics);
    p.reference_pressure = by_axis(p.box_coupling, reference);
    if (p.box_coupling == BoxCoupling::SurfaceTension)
    {
        p.surface_tension = reference[0];
        p.reference_pressure.x = p.reference_pressure.y = reference[1];
    }
    if (shears) { p.shear_reference_pressure = shear_of(p.box_coupling, reference); }
    else if (has_shear(p.box_coupling, reference))
    {
        diagnostics.note("N180", input.where("ref-p"),
                         "off-diagonal reference pressures (xy xz yz) are not used: compressibilities of 0 keep the box from "
                         "being sheared.");
    }
}

std::string compressibility_text(const RunParameters& p)
{
    return text_of(p.box_coupling, p.compressibility.x, p.compressibility, p.shear_compressibility);
}

std::string reference_pressure_text(const RunParameters& p)
{
    const bool tension = p.box_coupling == BoxCoupling::SurfaceTension;
    return text_of(p.box_coupling, tension ? p.surface_tension : p.reference_pressure.x, p.reference_pressure,
                   p.shear_reference_pressure);
}

} // namespace parhelion
