// SPDX-License-Identifier: Apache-2.0
#include "run/imd_packets.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace parhelion {

namespace {

constexpr double angstrom = 10; // angstrom per nm

template <class T>
void append(std::string& text, T value)
{
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    text.append(bytes, sizeof(T));
}

std::int32_t network_order(std::int32_t value)
{
    return std::endian::native == std::endian::big
               ? value
               : static_cast<std::int32_t>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
}

void append_header(std::string& text, ImdType type, std::int32_t value)
{
    append(text, network_order(static_cast<std::int32_t>(type)));
    append(text, network_order(value));
}

void append_vectors(std::string& text, ImdType type, const std::vector<Vec3<double>>& vectors, double unit)
{
    append_header(text, type, static_cast<std::int32_t>(vectors.size()));
    const std::size_t at = text.size();
    text.resize(at + vectors.size() * 3 * sizeof(float));
    char* to = text.data() + at;
    for (const Vec3<double>& v : vectors)
    {
        const float three[] = {static_cast<float>(unit * v.x), static_cast<float>(unit * v.y), static_cast<float>(unit * v.z)};
        std::memcpy(to, three, sizeof three);
        to += sizeof three;
    }
}

void append_energies(std::string& text, std::int64_t step, const ImdEnergies& e)
{
    append_header(text, ImdType::Energies, 1);
    append(text, static_cast<std::int32_t>(step)); // the low 32 bits; in version 3 the packet of type Time has all bits
    for (const float value :
         {e.temperature, e.total, e.potential, e.lennard_jones, e.coulomb, e.bonds, e.angles, e.dihedrals, e.impropers})
    {
        append(text, value);
    }
}

void append_time_and_box(std::string& text, const Frame& frame, double dt, const ImdEnergies& energies)
{
    append_header(text, ImdType::Time, 1);
    append(text, dt), append(text, frame.time), append(text, frame.step);
    append_energies(text, frame.step, energies);
    append_header(text, ImdType::Box, 1);
    const Vec3<double>&d = frame.box.diagonal(), &t = frame.box.tilt();
    for (const double edge : {d.x, 0.0, 0.0, t.x, d.y, 0.0, t.y, t.z, d.z}) { append(text, static_cast<float>(angstrom * edge)); }
}

// Returns the member of ImdEnergies to which an energy of this name is added, or null for none.
float ImdEnergies::*sum_of(std::string_view name)
{
    const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (name == "Temperature") { return &ImdEnergies::temperature; }
    if (name == "Total Energy") { return &ImdEnergies::total; }
    if (name == "Potential") { return &ImdEnergies::potential; }
    if (is_one_of({"LJ (SR)", "LJ-14", "Disper. corr."})) { return &ImdEnergies::lennard_jones; }
    if (is_one_of({"Coulomb (SR)", "Coulomb-14", "Coul. recip."})) { return &ImdEnergies::coulomb; }
    if (is_one_of({"Bond", "G96Bond", "Morse", "Cubic Bonds", "Harmonic Pot.", "FENE Bonds", "Restraint Pot."}))
    {
        return &ImdEnergies::bonds;
    }
    if (is_one_of({"Angle", "G96Angle", "Restr. Angles", "Bond-Cross", "BA-Cross", "U-B", "Quartic Angles"}))
    {
        return &ImdEnergies::angles;
    }
    if (is_one_of({"Proper Dih.", "Ryckaert-Bell.", "Restr. Dih.", "CBT Dih.", "CMAP Dih."})) { return &ImdEnergies::dihedrals; }
    if (is_one_of({"Improper Dih.", "Per. Imp. Dih."})) { return &ImdEnergies::impropers; }
    return nullptr;
}

} // namespace

ImdHeader imd_header(std::span<const char, imd_header_bytes> bytes)
{
    std::array<std::int32_t, 2> words{};
    std::memcpy(words.data(), bytes.data(), imd_header_bytes);
    return {network_order(words[0]), network_order(words[1])};
}

std::string imd_greeting(int version)
{
    PARHELION_EXPECTS(version == 2 || version == 3);
    std::string text;
    append(text, network_order(static_cast<std::int32_t>(ImdType::Handshake)));
    append(text, static_cast<std::int32_t>(version)); // in this machine's byte order, by which the client learns that order
    if (version == 2) { return text; }
    // Flags: time, energies, box, coordinates, coordinates wrapped into the box (no: molecules are whole), velocities, forces.
    constexpr std::array<char, 7> has = {1, 1, 1, 1, 0, 1, 1};
    append_header(text, ImdType::SessionInfo, has.size());
    text.append(has.data(), has.size());
    return text;
}

ImdEnergies imd_energies(std::span<const std::string> names, std::span<const double> values)
{
    ImdEnergies energies;
    for (std::size_t i = 0; i < names.size(); ++i)
    {
        float ImdEnergies::*const sum = sum_of(names[i]);
        if (sum != nullptr) { energies.*sum += static_cast<float>(values[i]); }
    }
    return energies;
}

std::string imd_frame(int version, const Frame& frame, double dt, const ImdEnergies& energies)
{
    PARHELION_EXPECTS(version == 2 || (frame.v.size() == frame.x.size() && frame.f.size() == frame.x.size()));
    std::string text;
    text.reserve(200 + frame.x.size() * (version == 2 ? 12 : 36));
    if (version == 2) { append_energies(text, frame.step, energies); }
    else { append_time_and_box(text, frame, dt, energies); }
    append_vectors(text, ImdType::Coordinates, frame.x, angstrom);
    if (version == 2) { return text; }
    append_vectors(text, ImdType::Velocities, frame.v, angstrom);
    append_vectors(text, ImdType::FrameForces, frame.f, 1 / angstrom);
    return text;
}

} // namespace parhelion
