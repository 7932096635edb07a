// SPDX-License-Identifier: Apache-2.0
#include "generate/ethanol_water.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "generate/tiles.hpp"
#include "io/xtc.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>

namespace parhelion {

namespace {

// Parameters: OPLS-AA ethanol (Jorgensen, Maxwell and Tirado-Rives, J. Am. Chem. Soc. 118, 11225 (1996)) and SPC/E water (Berendsen,
// Grigera and Straatsma, J. Phys. Chem. 91, 6269 (1987)), in nm and kJ/mol. Combination rule 3; 1-4 interactions are halved.
constexpr const char* force_field = R"(; Ethanol (OPLS-AA) and water (SPC/E), self-contained
[ defaults ]
; nbfunc  comb-rule  gen-pairs  fudgeLJ  fudgeQQ
  1       3          yes        0.5      0.5

[ atomtypes ]
; name  number  mass      charge   ptype  sigma     epsilon
  CT    6       12.011    0.0      A      0.350     0.276144
  HC    1        1.008    0.0      A      0.250     0.125520
  OH    8       15.9994   0.0      A      0.312     0.711280
  HO    1        1.008    0.0      A      0.0       0.0
  OW    8       15.9994   0.0      A      0.316557  0.650194
  HW    1        1.008    0.0      A      0.0       0.0

[ bondtypes ]
  CT  CT  1  0.1529  224262.4
  CT  HC  1  0.1090  284512.0
  CT  OH  1  0.1410  267776.0
  OH  HO  1  0.0945  462750.4

[ angletypes ]
  HC  CT  HC  1  107.8  276.144
  HC  CT  CT  1  110.7  313.800
  CT  CT  OH  1  109.5  418.400
  HC  CT  OH  1  109.5  292.880
  CT  OH  HO  1  108.5  460.240

[ dihedraltypes ]
  HC  CT  CT  HC  3   0.62760  1.88280  0.00000  -2.51040  0.0  0.0
  HC  CT  CT  OH  3   0.97905  2.93716  0.00000  -3.91622  0.0  0.0
  CT  CT  OH  HO  3  -0.44350  3.83255  0.72801  -4.11705  0.0  0.0
  HC  CT  OH  HO  3   0.94140  2.82420  0.00000  -3.76560  0.0  0.0

[ moleculetype ]
; name  nrexcl
  ETH   3
[ atoms ]
; nr  type  resnr  residue  atom  cgnr  charge   mass
  1   CT    1      ETH      C1    1     -0.180   12.011
  2   HC    1      ETH      H11   1      0.060    1.008
  3   HC    1      ETH      H12   1      0.060    1.008
  4   HC    1      ETH      H13   1      0.060    1.008
  5   CT    1      ETH      C2    2      0.145   12.011
  6   HC    1      ETH      H21   2      0.060    1.008
  7   HC    1      ETH      H22   2      0.060    1.008
  8   OH    1      ETH      O     2     -0.683   15.9994
  9   HO    1      ETH      HO    2      0.418    1.008
[ bonds ]
  1 2 1
  1 3 1
  1 4 1
  1 5 1
  5 6 1
  5 7 1
  5 8 1
  8 9 1
[ pairs ]
  2 6 1
  2 7 1
  2 8 1
  3 6 1
  3 7 1
  3 8 1
  4 6 1
  4 7 1
  4 8 1
  1 9 1
  6 9 1
  7 9 1
[ angles ]
  2 1 3 1
  2 1 4 1
  3 1 4 1
  2 1 5 1
  3 1 5 1
  4 1 5 1
  1 5 6 1
  1 5 7 1
  1 5 8 1
  6 5 7 1
  6 5 8 1
  7 5 8 1
  5 8 9 1
[ dihedrals ]
  2 1 5 6 3
  2 1 5 7 3
  2 1 5 8 3
  3 1 5 6 3
  3 1 5 7 3
  3 1 5 8 3
  4 1 5 6 3
  4 1 5 7 3
  4 1 5 8 3
  1 5 8 9 3
  6 5 8 9 3
  7 5 8 9 3

[ moleculetype ]
; name  nrexcl
  SOL   2
[ atoms ]
; nr  type  resnr  residue  atom  cgnr  charge   mass
  1   OW    1      SOL      OW    1     -0.8476  15.9994
  2   HW    1      SOL      HW1   1      0.4238   1.008
  3   HW    1      SOL      HW2   1      0.4238   1.008
#ifdef FLEXIBLE
[ bonds ]
  1 2 1 0.1 345000
  1 3 1 0.1 345000
[ angles ]
  2 1 3 1 109.47 383
#else
[ settles ]
; OW  funct  dOH  dHH
  1   1      0.1  0.16330
#endif
[ exclusions ]
  1 2 3
  2 1 3
  3 1 2

[ system ]
ethanol in water

[ molecules ]
)";

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
constexpr std::array<double, ethanol_atoms> ethanol_masses = {carbon, hydrogen, hydrogen, hydrogen, carbon, hydrogen, hydrogen, oxygen, hydrogen};
constexpr std::array<double, water_atoms> water_masses = {oxygen, hydrogen, hydrogen};

// A file that reports what went wrong with it by name, and is complete when close() returns.
class TextFile
{
public:
    explicit TextFile(const std::filesystem::path& path) : path_(path), file_(std::fopen(path.c_str(), "w"))
    {
        if (!file_) { fail("open"); }
    }
    void write(const fmt::memory_buffer& text)
    {
        if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) { fail("write"); }
    }
    void close()
    {
        if (std::fclose(file_.release()) != 0) { fail("write"); }
    }

private:
    [[noreturn]] void fail(const char* what) const
    {
        throw SystemError(fmt::format("cannot {} {}: {}", what, path_.string(), std::strerror(errno)));
    }
    struct Close
    {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    std::filesystem::path path_;
    std::unique_ptr<std::FILE, Close> file_;
};

struct Tile
{
    std::int64_t ethanols, waters;
    XtcFrame frame;
    std::int64_t atoms() const { return ethanol_atoms * ethanols + water_atoms * waters; }
};

// Writes one molecule kind of one copy of the tile; velocities are Maxwell-Boltzmann at 300 K, keyed by the global atom.
template <std::size_t Sites>
void append_molecules(fmt::memory_buffer& text, const Tile& tile, std::int64_t first_tile_atom, std::int64_t count,
                      const char* residue, const std::array<const char*, Sites>& names, const std::array<double, Sites>& masses,
                      const Vec3<double>& shift, std::uint64_t seed, std::int64_t& residue_number, std::int64_t& atom_number)
{
    for (std::int64_t m = 0; m < count; ++m, ++residue_number)
    {
        for (std::size_t s = 0; s < Sites; ++s, ++atom_number)
        {
            const Vec3<float>& x = tile.frame.x[static_cast<std::size_t>(first_tile_atom) + static_cast<std::size_t>(m) * Sites + s];
            const NormalDeviates n = normal_deviates(random_bits(seed, RandomPurpose::Velocities, 0, static_cast<std::uint32_t>(atom_number)));
            const Vec3<double> v = std::sqrt(units::boltzmann * 300.0 / masses[s]) * Vec3<double>{n.value[0], n.value[1], n.value[2]};
            fmt::format_to(std::back_inserter(text), "{:5d}{:<5s}{:>5s}{:5d}{:8.3f}{:8.3f}{:8.3f}{:8.4f}{:8.4f}{:8.4f}\n",
                           (residue_number + 1) % 100000, residue, names[s], (atom_number + 1) % 100000, x.x + shift.x, x.y + shift.y,
                           x.z + shift.z, v.x, v.y, v.z);
        }
    }
}

} // namespace

std::vector<std::int64_t> ethanol_water_sizes()
{
    std::vector<std::int64_t> sizes;
    for (std::int64_t n = 3000; n < 45000; n *= 2) { sizes.push_back(n); }
    for (std::int64_t n = 45000; n <= 46080000; n *= 2) { sizes.push_back(n); }
    return sizes;
}

std::string ethanol_water_topology(std::int64_t tiles, std::int64_t ethanols, std::int64_t waters)
{
    std::string text = force_field;
    for (std::int64_t t = 0; t < tiles; ++t) { text += fmt::format("ETH {}\nSOL {}\n", ethanols, waters); }
    return text;
}

void generate_ethanol_water(const EthanolWaterOptions& options, const std::filesystem::path& folder)
{
    const std::vector<std::int64_t> sizes = ethanol_water_sizes();
    if (std::find(sizes.begin(), sizes.end(), options.atoms) == sizes.end())
    {
        throw InputError("E301", {},
                         fmt::format("{} atoms is not a size of the ethanol-water series (boxes are whole copies of an equilibrated tile). "
                                     "Sizes: {}",
                                     options.atoms, fmt::join(sizes, ", ")));
    }
    const bool small = options.atoms % 45000 != 0;
    const Tile tile = small ? Tile{100, 700, read_xtc_frame(ethanol_water_tile_3k(), "the 3 000-atom tile")}
                            : Tile{1500, 10500, read_xtc_frame(ethanol_water_tile_45k(), "the 45 000-atom tile")};
    PARHELION_EXPECTS(static_cast<std::int64_t>(tile.frame.x.size()) == tile.atoms());

    // Copies along z, y, x in turn, so that boxes are as near to cubes as doublings allow and x is the longest edge.
    std::array<std::int64_t, 3> copies = {1, 1, 1};
    std::int64_t tiles = options.atoms / tile.atoms();
    for (int d = 0; copies[0] * copies[1] * copies[2] < tiles; d = (d + 1) % 3) { copies[static_cast<std::size_t>(d)] *= 2; }

    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) { throw SystemError(fmt::format("cannot create {}: {}", folder.string(), error.message())); }

    const Vec3<double> edge(tile.frame.box);
    TextFile conf(folder / "conf.gro");
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text), "ethanol in water, {} atoms\n{}\n", options.atoms, options.atoms);
    std::int64_t residue = 0, atom = 0;
    for (std::int64_t i = 0; i < copies[0]; ++i)
    {
        for (std::int64_t j = 0; j < copies[1]; ++j)
        {
            for (std::int64_t k = 0; k < copies[2]; ++k)
            {
                const Vec3<double> shift{static_cast<double>(i) * edge.x, static_cast<double>(j) * edge.y, static_cast<double>(k) * edge.z};
                append_molecules(text, tile, 0, tile.ethanols, "ETH", ethanol_names, ethanol_masses, shift, options.seed, residue, atom);
                append_molecules(text, tile, tile.ethanols * ethanol_atoms, tile.waters, "SOL", water_names, water_masses, shift,
                                 options.seed, residue, atom);
                conf.write(text);
                text.clear();
            }
        }
    }
    fmt::format_to(std::back_inserter(text), "{:10.5f}{:10.5f}{:10.5f}\n", edge.x * static_cast<double>(copies[0]),
                   edge.y * static_cast<double>(copies[1]), edge.z * static_cast<double>(copies[2]));
    conf.write(text);
    conf.close();

    const auto write_small = [&](const char* name, const std::string& content) {
        TextFile file(folder / name);
        fmt::memory_buffer buffer;
        fmt::format_to(std::back_inserter(buffer), "{}", content);
        file.write(buffer);
        file.close();
    };
    write_small("topol.top", ethanol_water_topology(tiles, tile.ethanols, tile.waters));
    write_small("md.mdp", fmt::format(run_settings, options.atoms,
                                      options.electrostatics == SeriesElectrostatics::Pme ? "PME" : "reaction-field\nepsilon-rf             = 0"));
}

} // namespace parhelion
