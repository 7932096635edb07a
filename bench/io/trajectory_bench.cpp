// SPDX-License-Identifier: Apache-2.0
// How long writing and reading trajectory frames takes: one JSON line. Water of the given number of molecules, best of five; the
// files go to the given folder, whose disk is part of what is measured (give a memory file system to measure the code).
//   trajectory_bench [MOLECULES [DIR]]
#include "io/input/text.hpp"
#include "io/output/trr.hpp"
#include "io/output/xtc.hpp"
#include "io/trajectory_samples.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>

using namespace parhelion;

namespace {

template <class Work>
double best_ns_per_atom(std::size_t atoms, const Work& work)
{
    double best = 1e30;
    for (int i = 0; i < 5; ++i)
    {
        const auto begin = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best / static_cast<double>(atoms) * 1e9;
}

} // namespace

int main(int argc, char** argv)
{
    const std::size_t molecules = argc > 1 ? std::stoul(argv[1]) : 333333;
    const std::string prefix = (argc > 2 ? std::string(argv[2]) : std::string(".")) + "/trajectory_bench";
    Frame frame;
    frame.box = {25, 25, 25};
    frame.x = samples::water(molecules, 1);
    const std::size_t atoms = frame.x.size();

    XtcWriter xtc(prefix + ".xtc", 1000);
    const double xtc_write = best_ns_per_atom(atoms, [&] { xtc.write(frame); });
    xtc.close();
    TrrWriter trr(prefix + ".trr", Precision::Mixed);
    const double trr_write = best_ns_per_atom(atoms, [&] { trr.write(frame); });
    trr.close();

    const MappedFile file(prefix + ".xtc");
    XtcReader reader({reinterpret_cast<const std::byte*>(file.text().data()), file.text().size()}, prefix + ".xtc");
    XtcFrame read;
    const double xtc_read = best_ns_per_atom(atoms, [&] { reader.read(read); });
    fmt::print(
        R"({{"atoms": {}, "xtc_bytes_per_atom": {:.2f}, "xtc_write_ns_per_atom": {:.1f}, "xtc_read_ns_per_atom": {:.1f}, "trr_write_ns_per_atom": {:.1f}}})"
        "\n",
        atoms, static_cast<double>(file.text().size()) / 5 / static_cast<double>(atoms), xtc_write, xtc_read, trr_write);
    std::filesystem::remove(prefix + ".xtc");
    std::filesystem::remove(prefix + ".trr");
}
