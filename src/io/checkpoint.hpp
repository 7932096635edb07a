// SPDX-License-Identifier: Apache-2.0
// PREFIX.cpt: what a run needs to go on, and PREFIX.prev.cpt, the one before it.
//
// The file is a header and three sections: a description in JSON (which run, step, box, coupling, how long the output files are),
// then positions and velocities as the engine's own numbers, in input order, little-endian. The header knows the length of the
// file; it and every section carry an XXH64 hash, so that no flipped bit and no cut goes unnoticed. Independent of threads, ranks
// and devices. Writing goes to another name first, to the disk, and only then takes the name of the newest checkpoint: at any
// moment one that is whole exists. Cost: 24 bytes per atom in mixed precision, 48 in double; hashing 10 GB/s, the rest is the
// disk's.
#pragma once

#include "io/block_averages.hpp"
#include "io/edr.hpp"
#include "io/named_list.hpp"
#include "io/output.hpp"
#include "model/saved_state.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parhelion {

// Where the output files were at the step of the saved state: what comes after is written again by the run that goes on.
struct OutputPosition
{
    OutputMarks files;
    FileMark log;
    std::int64_t next_energy_step = 0; // the first that the coming energy frame covers
    TermAverages since_frame, whole_run;
    BlockAverages blocks; // of the whole run
};

struct Checkpoint
{
    NamedList<std::string> run; // identify_run()
    std::int64_t reached = 0;   // a run of no more steps is complete, with all its files; before state.step until it is
    OutputPosition outputs;
    SavedState state;
};

// Throws InputError E190 if the bytes are not a whole checkpoint, or hold what no run can have; E110 if the file cannot be read.
// `name` is for messages.
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name);
Checkpoint read_checkpoint(const std::string& path);

// The two newest checkpoints of a run.
class CheckpointFiles
{
public:
    explicit CheckpointFiles(const std::string& prefix);

    // The newest that is whole; nothing if there is none. `remark` says if it is not the one expected. Throws InputError E110 if
    // the newest cannot be read, as it may be whole; E190 if there are checkpoints but none is whole.
    std::optional<Checkpoint> read(std::string& remark);
    // The files it refers to must be on disk. Throws SystemError; older checkpoints are still there then.
    void write(const Checkpoint& checkpoint);
    const std::string& newest() const { return newest_; }

private:
    std::string newest_, previous_;
    bool newest_is_damaged_ = false;          // it must not take the place of the previous one
    std::optional<std::int64_t> newest_step_; // nor must one of the state that is written next
};

} // namespace parhelion
