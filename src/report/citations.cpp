// SPDX-License-Identifier: Apache-2.0
#include "report/citations.hpp"

#include "base/error.hpp"
#include "run/methods.hpp"
#include "run/version.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace parhelion {

namespace {

struct Entry
{
    Method method;
    Publication publication;
};

// Returns the entries, in the order of methods. A method may have several entries.
const std::vector<Entry>& entries()
{
    static const Publication berendsen = {
        "Berendsen1984",
        "Berendsen, H. J. C. and Postma, J. P. M. and van Gunsteren, W. F. and DiNola, A. and Haak, J. R.",
        "Molecular dynamics with coupling to an external bath",
        "J. Chem. Phys.",
        "81",
        "3684--3690",
        "1984",
        "10.1063/1.448118"};
    static const Publication feenstra = {
        "Feenstra1999",
        "Feenstra, K. A. and Hess, B. and Berendsen, H. J. C.",
        "Improving efficiency of large time-scale molecular dynamics simulations of hydrogen-rich systems",
        "J. Comput. Chem.",
        "20",
        "786--798",
        "1999",
        "10.1002/(SICI)1096-987X(199906)20:8<786::AID-JCC5>3.0.CO;2-B"};
    static const std::vector<Entry> table = {
        {Method::LeapFrog,
         {"Hockney1974", "Hockney, R. W. and Goel, S. P. and Eastwood, J. W.",
          "Quiet high-resolution computer models of a plasma", "J. Comput. Phys.", "14", "148--158", "1974",
          "10.1016/0021-9991(74)90010-2"}},
        {Method::VelocityVerlet,
         {"Swope1982", "Swope, W. C. and Andersen, H. C. and Berens, P. H. and Wilson, K. R.",
          "A computer simulation method for the calculation of equilibrium constants for the formation of physical clusters of "
          "molecules: Application to small water clusters",
          "J. Chem. Phys.", "76", "637--649", "1982", "10.1063/1.442716"}},
        {Method::NoseHooverChain,
         {"Martyna1996", "Martyna, G. J. and Tuckerman, M. E. and Tobias, D. J. and Klein, M. L.",
          "Explicit reversible integrators for extended systems dynamics", "Mol. Phys.", "87", "1117--1157", "1996",
          "10.1080/00268979600100761"}},
        {Method::StochasticDynamics,
         {"Goga2012", "Goga, N. and Rzepiela, A. J. and de Vries, A. H. and Marrink, S. J. and Berendsen, H. J. C.",
          "Efficient algorithms for Langevin and DPD dynamics", "J. Chem. Theory Comput.", "8", "3637--3649", "2012",
          "10.1021/ct3000876"}},
        {Method::ConjugateGradients,
         {"Gilbert1992", "Gilbert, J. C. and Nocedal, J.",
          "Global convergence properties of conjugate gradient methods for optimization", "SIAM J. Optim.", "2", "21--42", "1992",
          "10.1137/0802003"}},
        {Method::LBfgs,
         {"Nocedal1980", "Nocedal, J.", "Updating quasi-Newton matrices with limited storage", "Math. Comp.", "35", "773--782",
          "1980", "10.1090/S0025-5718-1980-0572855-7"}},
        {Method::MultipleTimeSteps,
         {"Tuckerman1992", "Tuckerman, M. and Berne, B. J. and Martyna, G. J.",
          "Reversible multiple time scale molecular dynamics", "J. Chem. Phys.", "97", "1990--2001", "1992", "10.1063/1.463137"}},
        {Method::ClusterPairLists,
         {"Pall2013", "Páll, S. and Hess, B.", "A flexible algorithm for calculating pair interactions on SIMD architectures",
          "Comput. Phys. Commun.", "184", "2641--2650", "2013", "10.1016/j.cpc.2013.06.003"}},
        {Method::ReactionField,
         {"Tironi1995", "Tironi, I. G. and Sperb, R. and Smith, P. E. and van Gunsteren, W. F.",
          "A generalized reaction field method for molecular dynamics simulations", "J. Chem. Phys.", "102", "5451--5459", "1995",
          "10.1063/1.469273"}},
        {Method::Pme,
         {"Essmann1995", "Essmann, U. and Perera, L. and Berkowitz, M. L. and Darden, T. and Lee, H. and Pedersen, L. G.",
          "A smooth particle mesh Ewald method", "J. Chem. Phys.", "103", "8577--8593", "1995", "10.1063/1.470117"}},
        {Method::LjPme,
         {"Wennberg2013", "Wennberg, C. L. and Murtola, T. and Hess, B. and Lindahl, E.",
          "Lennard-Jones lattice summation in bilayer simulations has critical effects on surface tension and lipid properties",
          "J. Chem. Theory Comput.", "9", "3527--3537", "2013", "10.1021/ct400140n"}},
        {Method::Cmap,
         {"MacKerell2004", "MacKerell, Jr., A. D. and Feig, M. and Brooks, III, C. L.",
          "Extending the treatment of backbone energetics in protein force fields: Limitations of gas-phase quantum mechanics "
          "in reproducing protein conformational distributions in molecular dynamics simulations",
          "J. Comput. Chem.", "25", "1400--1415", "2004", "10.1002/jcc.20065"}},
        {Method::RestrictedBending,
         {"Bulacu2013",
          "Bulacu, M. and Goga, N. and Zhao, W. and Rossi, G. and Monticelli, L. and Periole, X. and Tieleman, D. P. and "
          "Marrink, S. J.",
          "Improved angle potentials for coarse-grained molecular dynamics simulations", "J. Chem. Theory Comput.", "9",
          "3282--3292", "2013", "10.1021/ct400219n"}},
        {Method::Settle,
         {"Miyamoto1992", "Miyamoto, S. and Kollman, P. A.",
          "Settle: An analytical version of the SHAKE and RATTLE algorithm for rigid water models", "J. Comput. Chem.", "13",
          "952--962", "1992", "10.1002/jcc.540130805"}},
        {Method::Lincs,
         {"Hess1997", "Hess, B. and Bekker, H. and Berendsen, H. J. C. and Fraaije, J. G. E. M.",
          "LINCS: A linear constraint solver for molecular simulations", "J. Comput. Chem.", "18", "1463--1472", "1997",
          "10.1002/(SICI)1096-987X(199709)18:12<1463::AID-JCC4>3.0.CO;2-H"}},
        {Method::Lincs,
         {"Hess2008", "Hess, B.", "P-LINCS: A parallel linear constraint solver for molecular simulation",
          "J. Chem. Theory Comput.", "4", "116--122", "2008", "10.1021/ct700200b"}},
        {Method::VirtualSites, feenstra},
        {Method::HeavyHydrogens, feenstra},
        {Method::VRescale,
         {"Bussi2007", "Bussi, G. and Donadio, D. and Parrinello, M.", "Canonical sampling through velocity rescaling",
          "J. Chem. Phys.", "126", "014101", "2007", "10.1063/1.2408420"}},
        {Method::BerendsenThermostat, berendsen},
        {Method::NoseHoover,
         {"Nose1984", "Nosé, S.", "A molecular dynamics method for simulations in the canonical ensemble", "Mol. Phys.", "52",
          "255--268", "1984", "10.1080/00268978400101201"}},
        {Method::NoseHoover,
         {"Hoover1985", "Hoover, W. G.", "Canonical dynamics: Equilibrium phase-space distributions", "Phys. Rev. A", "31",
          "1695--1697", "1985", "10.1103/PhysRevA.31.1695"}},
        {Method::CRescale,
         {"Bernetti2020", "Bernetti, M. and Bussi, G.", "Pressure control using stochastic cell rescaling", "J. Chem. Phys.",
          "153", "114107", "2020", "10.1063/5.0020514"}},
        {Method::CRescaleOfEdges,
         {"DelTatto2022", "Del Tatto, V. and Raiteri, P. and Bernetti, M. and Bussi, G.",
          "Molecular dynamics of solids at constant pressure and stress using anisotropic stochastic cell rescaling",
          "Appl. Sci.", "12", "1139", "2022", "10.3390/app12031139"}},
        {Method::BerendsenBarostat, berendsen},
        {Method::ParrinelloRahman,
         {"Parrinello1981", "Parrinello, M. and Rahman, A.",
          "Polymorphic transitions in single crystals: A new molecular dynamics method", "J. Appl. Phys.", "52", "7182--7190",
          "1981", "10.1063/1.328693"}},
        {Method::BlockAverages,
         {"Flyvbjerg1989", "Flyvbjerg, H. and Petersen, H. G.", "Error estimates on averages of correlated data",
          "J. Chem. Phys.", "91", "461--466", "1989", "10.1063/1.457480"}}};
    return table;
}

std::string replaced(std::string text, std::string_view from, std::string_view to)
{
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    {
        text.replace(at, from.size(), to);
    }
    return text;
}

// Returns program, version and commit of "parhelion 0.1.0 (9d8bce7), g++ ...", without the compiler.
std::string program_of(const Citations& citations)
{
    const std::string program = citations.program.empty() ? version_text() : citations.program;
    return program.substr(0, program.find(','));
}

} // namespace

std::vector<Publication> publications_of(const std::string& method)
{
    std::vector<Publication> found;
    for (const Entry& entry : entries())
    {
        if (method_names[static_cast<std::size_t>(entry.method)] == method) { found.push_back(entry.publication); }
    }
    return found;
}

Citations citations_in(const LoggedRun& log)
{
    Citations citations{log.version, {}};
    const auto methods = std::find_if(log.about.begin(), log.about.end(), [](const auto& one) { return one.first == "methods"; });
    for (std::string_view rest = methods == log.about.end() ? "" : std::string_view(methods->second); !rest.empty();)
    {
        const std::size_t end = rest.find(", ");
        const std::string name(rest.substr(0, end));
        citations.methods.push_back({name, publications_of(name)});
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
    }
    return citations;
}

Citations citations_of_run(const std::string& prefix)
{
    const std::string path = prefix + ".log";
    Citations citations = citations_in(std::filesystem::exists(path) ? read_log(path) : LoggedRun());
    if (!citations.methods.empty()) { return citations; }
    throw InputError("E189", {path, 0},
                     "does not say which methods a run used (no run has begun with this prefix, or an earlier version made it). "
                     "Give what -o of the run was, or no prefix for all methods.");
}

Citations citations_of_all()
{
    Citations citations;
    for (const std::string_view name : method_names)
    {
        citations.methods.push_back({std::string(name), publications_of(std::string(name))});
    }
    return citations;
}

std::string text_of(const Publication& p)
{
    return fmt::format("{} {}. {} {}, {} ({}). doi:{}", replaced(p.authors, " and ", "; "), p.title, p.journal, p.volume,
                       replaced(p.pages, "--", "-"), p.year, p.doi);
}

std::string citations_text(const Citations& citations)
{
    std::string text = "Parhelion (molecular dynamics engine), " + program_of(citations) + "\n";
    for (const CitedMethod& method : citations.methods)
    {
        text += "\n" + method.name + "\n";
        for (const Publication& publication : method.publications) { text += "    " + text_of(publication) + "\n"; }
    }
    return text;
}

std::string citations_bibtex(const Citations& citations)
{
    std::string text =
        fmt::format("@misc{{Parhelion,\n  title = {{{{Parhelion}}, a molecular dynamics engine}},\n  note = {{{}}}\n}}\n",
                    program_of(citations));
    std::vector<std::string> keys;
    for (const CitedMethod& method : citations.methods)
    {
        for (const Publication& p : method.publications)
        {
            if (std::find(keys.begin(), keys.end(), p.key) != keys.end()) { continue; }
            keys.push_back(p.key);
            text +=
                fmt::format("@article{{{},\n  author = {{{}}},\n  title = {{{{{}}}}},\n  journal = {{{}}},\n  volume = {{{}}},\n"
                            "  pages = {{{}}},\n  year = {{{}}},\n  doi = {{{}}}\n}}\n",
                            p.key, p.authors, p.title, p.journal, p.volume, p.pages, p.year, p.doi);
        }
    }
    return text;
}

} // namespace parhelion
