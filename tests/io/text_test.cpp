// SPDX-License-Identifier: Apache-2.0
// Files that are no files: pipes, as a shell's <(command) gives them, and what is refused.
#include "io/input/text.hpp"

#include "io/input_folder.hpp"
#include "small_input.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

using namespace parhelion;

namespace {

// A pipe under a name, into which a thread writes this text.
class NamedPipe
{
public:
    NamedPipe(std::filesystem::path path, std::string text) : path_(std::move(path))
    {
        EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
        writer_ = std::jthread([path = path_, text = std::move(text)] { std::ofstream(path, std::ios::binary) << text; });
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    std::jthread writer_;
};

} // namespace

TEST(MappedFile, reads_a_pipe_to_its_end)
{
    const InputFolder folder;
    std::string text(3'000'000, 'x'); // more than a pipe holds
    for (std::size_t i = 0; i < text.size(); i += 7) { text[i] = '\n'; }
    const NamedPipe pipe(folder.path() / "pipe", text);
    MappedFile file(pipe.path());
    EXPECT_TRUE(file.is_pipe());
    EXPECT_EQ(file.text(), text);
    file.release_before(2'900'000); // has no page to give back
    const MappedFile moved(std::move(file));
    EXPECT_EQ(moved.text(), text);
}

TEST(MappedFile, reads_what_comes_out_of_a_descriptor)
{
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(::write(ends[1], "nsteps = 7\n", 11), 11);
    ::close(ends[1]);
    EXPECT_EQ(MappedFile("/dev/fd/" + std::to_string(ends[0])).text(), "nsteps = 7\n");
    ::close(ends[0]);
}

TEST(MappedFile, refuses_what_is_neither_a_file_nor_a_pipe)
{
    for (const char* const name : {"/dev/null", "/dev/zero", "/tmp"})
    {
        expect_refused([&] { MappedFile{name}; }, "E110", name, 0, "not a regular file, nor a pipe");
    }
}

// All input files at once, each of which is read once only.
TEST(Load, takes_pipes_in_the_place_of_files)
{
    const SmallInput input;
    const InputFolder folder;
    Diagnostics diagnostics, of_pipes;
    const LoadedInput expected = input.load(diagnostics);
    InputFiles files = input.files();
    std::string topology = input.texts().at("topol.top");
    files.include_paths.push_back(files.topology.parent_path()); // a pipe is in no folder
    const NamedPipe mdp(folder.path() / "mdp", input.texts().at("run.mdp")),
        gro(folder.path() / "gro", input.texts().at("conf.gro")), top(folder.path() / "top", topology),
        ndx(folder.path() / "ndx", input.texts().at("index.ndx"));
    files.mdp = mdp.path(), files.structure = gro.path(), files.topology = top.path(), files.index = ndx.path();
    const LoadedInput loaded = load_gromacs(files, of_pipes);
    EXPECT_EQ(loaded.system.x, expected.system.x);
    EXPECT_EQ(loaded.system.v, expected.system.v);
    EXPECT_EQ(loaded.system.topology.atom_count(), expected.system.topology.atom_count());
    EXPECT_EQ(loaded.system.groups, expected.system.groups);
}
