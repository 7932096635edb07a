// SPDX-License-Identifier: Apache-2.0
#include "io/input/residue_types.hpp"

#include "io/input/preprocessor.hpp"
#include "io/input/text.hpp"

#include <algorithm>

namespace parhelion {

namespace {

const std::string other = "Other";

// Amino acids that have more names at the ends of a chain: N or C followed by the name.
constexpr std::string_view acids_with_ends =
    "ALA ARG ASN ASP ASPH CYS CYS2 DAB GLN GLU GLUH GLY HID HIE HIP HISD HISE HISH HYP ILE LEU LYS LYSN MET ORN PHE PRO SER THR "
    "TRP TYR VAL";
// Names of other protonation states, rare amino acids, and chain caps.
constexpr std::string_view more_protein = "ABU ACE AIB ARGN ASH ASN1 ASP1 ASPP CT3 CYM CYN CYS1 CYSH CYX DALA GLH GLUP HIS HIS1 "
                                          "HISA HISB HISP HSD HSE HSP LSN LYN LYP LYSH MELEU MEVAL NAC NH2 NHE NME PGLU PHEH "
                                          "PHEU PHL TRPH TRPU TYRH TYRU";
// Names of nucleotides inside a chain, at the two ends of a chain, and alone.
constexpr std::string_view dna = "DA DC DG DT DA3 DC3 DG3 DT3 DA5 DC5 DG5 DT5 DAN DCN DGN DTN";
constexpr std::string_view rna = "A C G U RA RC RG RU RA3 RC3 RG3 RT3 RU3 RA5 RC5 RG5 RT5 RU5 RAN RCN RGN RTN RUN";
constexpr std::string_view water = "HOH OHH SOL T3H T3P T4P T5P TIP WAT";
constexpr std::string_view ions = "BR CA CL CL- CS CU CU1 Cal F I IB+ K LI MG NA NA+ OH RB ZN";

} // namespace

ResidueTypes::ResidueTypes()
{
    const auto add_all = [&](std::string_view names, std::string_view type, std::string_view prefix) {
        std::vector<std::string_view> words;
        split_words(names, words);
        for (const std::string_view word : words) { add(std::string(prefix) + std::string(word), type); }
    };
    for (const std::string_view end : {"", "N", "C"}) { add_all(acids_with_ends, "Protein", end); }
    add_all(more_protein, "Protein", "");
    add_all(dna, "DNA", "");
    add_all(rna, "RNA", "");
    add_all(water, "Water", "");
    add_all(ions, "Ion", "");
    types_.push_back(other);
}

ResidueTypes::ResidueTypes(const std::filesystem::path& file)
{
    const MappedFile mapped(file);
    std::string_view rest = mapped.text_without_mark();
    std::vector<std::string_view> words;
    for (int line = 1; !rest.empty(); ++line)
    {
        const std::string_view text = take_line(rest);
        split_words(text.substr(0, text.find(';')), words);
        if (words.empty()) { continue; }
        if (words.size() != 2)
        {
            throw InputError("E163", {file.string(), line},
                             "expected a residue name and its type, found " + std::to_string(words.size()) +
                                 " words. Write two, as in: LIG Other");
        }
        add(words[0], words[1]);
    }
    if (std::find(types_.begin(), types_.end(), other) == types_.end()) { types_.push_back(other); }
}

void ResidueTypes::add(std::string_view residue, std::string_view type)
{
    type_of_.emplace(residue, type);
    if (std::find(types_.begin(), types_.end(), type) == types_.end()) { types_.emplace_back(type); }
}

const std::string& ResidueTypes::type_of(const std::string& residue) const
{
    const auto found = type_of_.find(residue);
    return found == type_of_.end() ? other : found->second;
}

ResidueTypes find_residue_types(Diagnostics& diagnostics)
{
    std::vector<std::filesystem::path> folders = {""};
    const std::vector<std::filesystem::path> of_user = gmxlib_paths();
    folders.insert(folders.end(), of_user.begin(), of_user.end());
    for (const std::filesystem::path& folder : folders)
    {
        const std::filesystem::path file = folder / "residuetypes.dat";
        std::error_code absent;
        if (!std::filesystem::exists(file, absent)) { continue; }
        diagnostics.note("N132", {file.string(), 0},
                         "says which residues the default groups hold, in place of the program's table.");
        return ResidueTypes(file);
    }
    return {};
}

} // namespace parhelion
