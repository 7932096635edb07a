// SPDX-License-Identifier: Apache-2.0
#include "comm/transports/plugin_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace parhelion {

const std::vector<PluginFile>& plugin_files()
{
    const std::vector<std::string> mpi = {"mpi", "mpi-rma", "mpi-put"};
    const std::string of_open_mpi = "OMPI_COMM_WORLD_SIZE", of_mpich = "PMI_SIZE";
    static const std::vector<PluginFile> files = {
        {mpi, "libparhelion_mpi_openmpi.so", {"libmpi.so.40"}, {of_open_mpi}},
        // This file is tried before MPICH's. MPICH's library is in a standard place; libmpi_abi.so.1 is found only if a user
        // wants it.
        {mpi, "libparhelion_mpi_abi.so", {"libmpi_abi.so.1"}, {of_mpich, of_open_mpi}},
        {mpi, "libparhelion_mpi_mpich.so", {"libmpich.so.12", "libmpi.so.12"}, {of_mpich}},
        {{"openshmem"}, "libparhelion_openshmem.so", {"liboshmem.so.40"}, {of_open_mpi}},
    };
    return files;
}

std::vector<PluginFile> plugins_of_launcher(const std::string& transport)
{
    std::vector<PluginFile> files;
    std::copy_if(plugin_files().begin(), plugin_files().end(), std::back_inserter(files), [&](const PluginFile& file) {
        return std::find(file.transports.begin(), file.transports.end(), transport) != file.transports.end() &&
               !processes_of_launcher(file).empty();
    });
    return files;
}

std::string processes_of_launcher(const PluginFile& file)
{
    for (const std::string& variable : file.size_variables)
    {
        if (const char* const size = std::getenv(variable.c_str())) { return size; }
    }
    return "";
}

} // namespace parhelion
