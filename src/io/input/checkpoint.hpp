// SPDX-License-Identifier: Apache-2.0
// PREFIX.cpt: the data that a run needs to continue. PREFIX.prev.cpt is the previous checkpoint.
//
// The file has a header and three sections: a description in JSON (run, step, box, coupling, lengths of the
// output files), then positions and velocities as the engine's own numbers, in input order, little-endian.
// The header has the file's length. The header and every section have an XXH64 hash, which detects any
// flipped bit and any truncation. The file does not depend on threads, ranks or devices. It is written under
// another name and synced to disk before it is renamed to the newest checkpoint, so a complete one exists at
// any time. Cost: 24 bytes per atom in mixed precision, 48 in double; hashing 10 GB/s, the rest is disk time.
#pragma once

#include "io/input/named_list.hpp"
#include "io/output/block_averages.hpp"
#include "io/output/edr.hpp"
#include "io/output/output.hpp"
#include "model/saved_state.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parhelion {

// The ends of the output files at the step of the saved state. A run that continues rewrites what comes after them.
struct OutputPosition
{
    OutputMarks files;
    FileMark log;
    std::int64_t next_energy_step = 0; // first step that the next energy frame will cover
    TermAverages since_frame, whole_run;
    BlockAverages blocks; // block averages over the whole run
};

struct Checkpoint
{
    NamedList<std::string> run; // result of identify_run()
    std::int64_t reached = 0;   // step up to which the run and its files are complete; less than state.step until the run ends
    OutputPosition outputs;
    SavedState state;
};

// Reads a checkpoint. Throws InputError E190 if the bytes are no complete checkpoint or
// have impossible contents, E110 if the file cannot be read. `name` is used in messages.
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name);
Checkpoint read_checkpoint(const std::string& path);

// The two newest checkpoints of a run.
class CheckpointFiles
{
public:
    explicit CheckpointFiles(const std::string& prefix);

    // Returns the newest complete checkpoint, or nothing if there is none. `remark` says if it is not in the newest file. Throws
    // InputError E110 if the newest file cannot be read, since it may be complete; E190 if there are files but none is complete.
    std::optional<Checkpoint> read(std::string& remark);
    // Writes a checkpoint. The output files it refers to must be on disk. If this throws SystemError, older checkpoints exist.
    void write(const Checkpoint& checkpoint);
    const std::string& newest() const { return newest_; }

private:
    std::string newest_, previous_;
    bool newest_is_damaged_ = false;          // true: the newest must not replace the previous checkpoint
    std::optional<std::int64_t> newest_step_; // a checkpoint of this step must not replace the previous one
};

} // namespace parhelion
