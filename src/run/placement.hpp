// SPDX-License-Identifier: Apache-2.0
// How a run is computed, where, and how its ranks are connected: three values, whatever a run is started by. A caller that reads
// options as text judges them once and gives enums; which of them go together is judged here and by the engine.
#pragma once

#include "comm/transports/nic_emulation.hpp"
#include "engine/simulation.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace parhelion {

struct RunNumerics
{
    Precision precision = Precision::Mixed;
    Summation summation = Summation::Fast;

    std::string text() const; // "mixed", "double reproducible"
};

struct RunPlacement
{
    Device device = Device::Auto;
    int gpus = 0;              // at most; 0: as many as make the run faster
    int ranks = 0;             // 0: one, or one for each GPU
    int threads = 0;           // of each rank; 0: the cores there are for this process, shared out
    int processes = 1;         // of this host, that the ranks are spread over
    std::array<int, 3> grid{}; // cells along x, y, z; zeros: the grid whose halo costs least. As many as ranks, if both are given
    std::optional<HaloMethod> halo; // nothing: direct, or staged-fused between nodes of GPUs
    MeshMethod pme = MeshMethod::Auto;
    int mesh_ranks = 0;                                               // of MeshMethod::Dedicated
    std::chrono::nanoseconds comm_timeout = std::chrono::seconds(60); // of one wait for another rank

    // Several processes take no GPU unless this is so.
    bool wants_gpus() const { return device == Device::Gpu || gpus > 0; }
};

// What carries messages between processes, or between virtual nodes.
enum class TransportKind : std::uint8_t
{
    Auto, // TCP between processes that a launcher has started; memory between those of one host
    Tcp,
    Mpi,
    MpiRma,
    MpiPut,
    OpenShmem,
    Peer, // between GPUs of processes of one host: pages that these pass to each other
    Nvshmem,
    NicEmulation
};
inline constexpr std::array<const char*, 9> transport_names = {"auto",      "tcp",  "mpi",     "mpi-rma",      "mpi-put",
                                                               "openshmem", "peer", "nvshmem", "nic-emulation"};
inline const char* transport_name(TransportKind transport) { return transport_names[static_cast<std::size_t>(transport)]; }

struct RunConnection
{
    TransportKind transport = TransportKind::Auto;
    std::optional<NicEmulation> nodes; // NicEmulation needs them; with Nvshmem they say where NVLink ends
    bool trust_network = false;        // nobody else can write to the wire: what goes by TCP need not be sealed
};

// What a simulation of one process takes; processes and connections are the business of a run (run/processes.hpp).
SimulationOptions simulation_options(const RunNumerics& numerics, const RunPlacement& placement);

} // namespace parhelion
