// SPDX-License-Identifier: Apache-2.0
// Options of a run: how and where it is computed, and how its ranks are connected. The command line, or another caller, passes
// these three values unchanged to the engine. Text is parsed where it is read. option_rules.hpp has rules on combinations.
#pragma once

#include "base/numerics.hpp"
#include "comm/transports/virtual_nodes.hpp"
#include "domain/balancing.hpp"
#include "halo/method.hpp"
#include "mesh_exchange/method.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parhelion {

inline constexpr std::array<std::string_view, 2> precision_names = {"mixed", "double"};

struct RunNumerics
{
    Precision precision = Precision::Mixed;
    Summation summation = Summation::Fast;

    std::string text() const; // Returns, for example, "mixed" or "double reproducible".
};

enum class Device : std::uint8_t
{
    Auto, // a GPU if one can do what is asked; but the CPU if only a number of ranks is given
    Cpu,
    Gpu
};
inline constexpr std::array<std::string_view, 3> device_names = {"auto", "cpu", "gpu"};

struct RunPlacement
{
    Device device = Device::Auto;
    int gpus = 0;              // largest number of GPUs, each with at least one rank; 0: as many as make the run faster
    std::optional<int> gpu;    // the number of the only GPU that a run of one rank may use; empty: it is chosen
    int ranks = 0;             // number of ranks; 0: one, or one for each GPU that is used
    int threads = 0;           // threads of each rank; 0: the cores of this process are divided among its ranks
    int processes = 1;         // processes with ranks; in a RunRequest: those of this host that the run starts
    std::array<int, 3> grid{}; // cells along x, y, z, as many as ranks, if both are given; zeros: the grid with the cheapest halo
    std::optional<HaloMethod> halo;                                   // empty: direct, or staged-fused between nodes of GPUs
    MeshMethod pme = MeshMethod::Auto;                                // how ranks share the mesh of PME
    int mesh_ranks = 0;                                               // for MeshMethod::Dedicated: number of ranks without a cell
    Balancing balancing = Balancing::Off;                             // whether borders of cells move by measured times
    std::chrono::nanoseconds comm_timeout = std::chrono::seconds(60); // time limit of one wait for another rank

    // Returns true if GPUs are asked for. Several processes use GPUs only then.
    bool wants_gpus() const { return device == Device::Gpu || gpus > 0; }
    // Returns the number of ranks that --ranks or --grid asks for; 0 if neither is given.
    int ranks_asked_for() const { return grid[0] != 0 ? grid[0] * grid[1] * grid[2] + mesh_ranks : ranks; }
    HaloMethod halo_method() const { return halo.value_or(HaloMethod::Direct); }
};

// Selects the transport between processes, or between virtual nodes.
enum class TransportKind : std::uint8_t
{
    Auto, // TCP between processes that a launcher started; shared memory between processes of one host
    Tcp,
    Mpi,
    MpiRma,
    MpiPut,
    OpenShmem,
    Peer,    // between GPUs of processes of one host, which map each other's memory
    Nvshmem, // between GPUs of one or more hosts, in NVSHMEM's heap; one rank per process
    NicEmulation
};
inline constexpr std::array<const char*, 9> transport_names = {"auto",      "tcp",  "mpi",     "mpi-rma",      "mpi-put",
                                                               "openshmem", "peer", "nvshmem", "nic-emulation"};
inline const char* transport_name(TransportKind transport) { return transport_names[static_cast<std::size_t>(transport)]; }

struct RunConnection
{
    TransportKind transport = TransportKind::Auto;
    std::optional<NicEmulation> nodes; // virtual nodes for NicEmulation; with Nvshmem the sets of ranks that NVLink joins
    bool trust_network = false;        // true if nobody else can write to the network, so TCP messages need no seal

    // Returns the virtual nodes that an emulated network joins, or null with another transport.
    const NicEmulation* emulated_nodes() const { return transport == TransportKind::NicEmulation && nodes ? &*nodes : nullptr; }
};

} // namespace parhelion
