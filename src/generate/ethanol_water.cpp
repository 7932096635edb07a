// SPDX-License-Identifier: Apache-2.0
#include "generate/ethanol_water.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "generate/tiles.hpp"
#include "io/output/output_file.hpp"
#include "io/output/xtc.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>

namespace parhelion {

namespace {

constexpr const char* run_settings = R"(; the settings of the series: {} atoms
integrator             = md
dt                     = 0.002
nsteps                 = 20000
cutoff-scheme          = Verlet
nstlist                = 10
coulombtype            = {}
rcoulomb               = 0.9
rvdw                   = 0.9
DispCorr               = EnerPres
constraints            = h-bonds
tcoupl                 = v-rescale
tc-grps                = System
tau-t                  = 1.0
ref-t                  = 300
nsttcouple             = 100
pcoupl                 = no
gen-vel                = no
nstenergy              = 1000
nstlog                 = 10000
nstcalcenergy          = 100
nstcomm                = 100
)";

constexpr int ethanol_atoms = 9, water_atoms = 3;
constexpr std::array<const char*, ethanol_atoms> ethanol_names = {"C1", "H11", "H12", "H13", "C2", "H21", "H22", "O", "HO"};
constexpr std::array<const char*, water_atoms> water_names = {"OW", "HW1", "HW2"};
constexpr double carbon = 12.011, hydrogen = 1.008, oxygen = 15.9994;
constexpr std::array<double, ethanol_atoms> ethanol_masses = {carbon,   hydrogen, hydrogen, hydrogen, carbon,
                                                              hydrogen, hydrogen, oxygen,   hydrogen};
constexpr std::array<double, water_atoms> water_masses = {oxygen, hydrogen, hydrogen};

struct Tile
{
    std::int64_t ethanols, waters;
    XtcFrame frame;
    std::int64_t atoms() const { return ethanol_atoms * ethanols + water_atoms * waters; }
};

// Writes one kind of molecule of one copy of the tile. Velocities are Maxwell-Boltzmann at 300 K, drawn by global atom.
template <std::size_t Sites>
void append_molecules(fmt::memory_buffer& text, const Tile& tile, std::int64_t first_tile_atom, std::int64_t count,
                      const char* residue, const std::array<const char*, Sites>& names, const std::array<double, Sites>& masses,
                      const Vec3<double>& shift, std::uint64_t seed, std::int64_t& residue_number, std::int64_t& atom_number)
{
    for (std::int64_t m = 0; m < count; ++m, ++residue_number)
    {
        for (std::size_t s = 0; s < Sites; ++s, ++atom_number)
        {
            const Vec3<float>& x =
                tile.frame.x[static_cast<std::size_t>(first_tile_atom) + static_cast<std::size_t>(m) * Sites + s];
            const NormalDeviates n =
                normal_deviates(random_bits(seed, RandomPurpose::Velocities, 0, static_cast<std::uint32_t>(atom_number)));
            const Vec3<double> v =
                std::sqrt(units::boltzmann * 300.0 / masses[s]) * Vec3<double>{n.value[0], n.value[1], n.value[2]};
            fmt::format_to(std::back_inserter(text), "{:5d}{:<5s}{:>5s}{:5d}{:8.3f}{:8.3f}{:8.3f}{:8.4f}{:8.4f}{:8.4f}\n",
                           (residue_number + 1) % 100000, residue, names[s], (atom_number + 1) % 100000, x.x + shift.x,
                           x.y + shift.y, x.z + shift.z, v.x, v.y, v.z);
        }
    }
}

} // namespace

const char* electrostatics_name(SeriesElectrostatics electrostatics)
{
    return electrostatics == SeriesElectrostatics::Pme ? "pme" : "rf";
}

std::vector<std::int64_t> ethanol_water_sizes()
{
    std::vector<std::int64_t> sizes;
    for (std::int64_t n = 3000; n < 45000; n *= 2) { sizes.push_back(n); }
    for (std::int64_t n = 45000; n <= 46080000; n *= 2) { sizes.push_back(n); }
    return sizes;
}

std::string ethanol_water_topology(std::int64_t tiles, std::int64_t ethanols, std::int64_t waters)
{
    const std::span<const std::byte> molecules = ethanol_water_molecules();
    std::string text(reinterpret_cast<const char*>(molecules.data()), molecules.size());
    for (std::int64_t t = 0; t < tiles; ++t) { text += fmt::format("ETH {}\nSOL {}\n", ethanols, waters); }
    return text;
}

void generate_ethanol_water(const EthanolWaterOptions& options, const std::filesystem::path& folder)
{
    const std::vector<std::int64_t> sizes = ethanol_water_sizes();
    if (std::find(sizes.begin(), sizes.end(), options.atoms) == sizes.end())
    {
        std::string known;
        for (const std::int64_t size : sizes) { known += fmt::format(" {}", size); }
        throw InputError(
            "E301", {},
            fmt::format("{} atoms is not a size of the ethanol-water series (boxes are whole copies of an equilibrated "
                        "tile). Sizes:{}.",
                        options.atoms, known));
    }
    const bool small = options.atoms % 45000 != 0;
    const Tile tile = small ? Tile{100, 700, read_xtc_frame(ethanol_water_tile_3k(), "the 3 000-atom tile")}
                            : Tile{1500, 10500, read_xtc_frame(ethanol_water_tile_45k(), "the 45 000-atom tile")};
    PARHELION_EXPECTS(static_cast<std::int64_t>(tile.frame.x.size()) == tile.atoms());

    // Doubles the numbers of copies along z, y, x in turn, so that boxes are almost cubes and x is the longest edge.
    std::array<std::int64_t, 3> copies = {1, 1, 1};
    std::int64_t tiles = options.atoms / tile.atoms();
    for (int d = 0; copies[0] * copies[1] * copies[2] < tiles; d = (d + 1) % 3) { copies[static_cast<std::size_t>(d)] *= 2; }

    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) { throw SystemError(fmt::format("cannot create {}: {}", folder.string(), error.message())); }

    const Vec3<double> edge(tile.frame.box.diagonal());
    WholeFile conf(folder / "conf.gro");
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text), "ethanol in water, {} atoms\n{}\n", options.atoms, options.atoms);
    std::int64_t residue = 0, atom = 0;
    for (std::int64_t i = 0; i < copies[0]; ++i)
    {
        for (std::int64_t j = 0; j < copies[1]; ++j)
        {
            for (std::int64_t k = 0; k < copies[2]; ++k)
            {
                const Vec3<double> shift{static_cast<double>(i) * edge.x, static_cast<double>(j) * edge.y,
                                         static_cast<double>(k) * edge.z};
                append_molecules(text, tile, 0, tile.ethanols, "ETH", ethanol_names, ethanol_masses, shift, options.seed, residue,
                                 atom);
                append_molecules(text, tile, tile.ethanols * ethanol_atoms, tile.waters, "SOL", water_names, water_masses, shift,
                                 options.seed, residue, atom);
                conf.append(std::string_view(text.data(), text.size()));
                text.clear();
            }
        }
    }
    fmt::format_to(std::back_inserter(text), "{:10.5f}{:10.5f}{:10.5f}\n", edge.x * static_cast<double>(copies[0]),
                   edge.y * static_cast<double>(copies[1]), edge.z * static_cast<double>(copies[2]));
    conf.append(std::string_view(text.data(), text.size()));
    conf.finish();
    write_text_file(folder / "topol.top", ethanol_water_topology(tiles, tile.ethanols, tile.waters));
    write_text_file(
        folder / "md.mdp",
        fmt::format(run_settings, options.atoms,
                    options.electrostatics == SeriesElectrostatics::Pme ? "PME" : "reaction-field\nepsilon-rf             = 0"));
}

} // namespace parhelion
