// SPDX-License-Identifier: Apache-2.0
#include "run/backup.hpp"

#include "base/error.hpp"
#include "io/scratch_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace parhelion;

namespace {

class Backup : public ::testing::Test
{
protected:
    Backup() { std::filesystem::create_directory(folder.path()); }
    ~Backup() override { std::filesystem::remove_all(folder.path()); }
    std::string in_folder(const std::string& name) const { return folder.path() + "/" + name; }
    void write(const std::string& name, const std::string& text) const { std::ofstream(in_folder(name)) << text; }
    std::string text_of(const std::string& path) const
    {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    ScratchFile folder{"backups"};
};

} // namespace

TEST_F(Backup, takes_the_first_number_that_is_free)
{
    for (const std::string text : {"one", "two", "three"})
    {
        write("md.xtc", text);
        if (text == "two") { write("#md.xtc.2#", "somebody else's"); }
        const std::string name = move_to_backup(in_folder("md.xtc"));
        EXPECT_EQ(text_of(name), text);
        EXPECT_FALSE(std::filesystem::exists(in_folder("md.xtc")));
    }
    EXPECT_EQ(text_of(in_folder("#md.xtc.1#")), "one");
    EXPECT_EQ(text_of(in_folder("#md.xtc.2#")), "somebody else's");
    EXPECT_EQ(text_of(in_folder("#md.xtc.3#")), "two");
    EXPECT_EQ(text_of(in_folder("#md.xtc.4#")), "three");
}

TEST_F(Backup, by_copy_leaves_the_file_as_it_is)
{
    write("md.log", "text");
    EXPECT_EQ(copy_to_backup(in_folder("md.log")), in_folder("#md.log.1#"));
    EXPECT_EQ(text_of(in_folder("md.log")), "text");
    EXPECT_EQ(text_of(in_folder("#md.log.1#")), "text");
}

TEST_F(Backup, is_made_of_what_is_there)
{
    EXPECT_EQ(move_to_backup(in_folder("md.edr")), "");
    write("md.log", "");
    EXPECT_EQ(copy_to_backup(in_folder("md.log")), "");
    EXPECT_EQ(move_to_backup(in_folder("md.log")), "");
    EXPECT_TRUE(std::filesystem::exists(in_folder("md.log")));
}

TEST_F(Backup, that_cannot_be_made_is_an_error_that_names_the_file)
{
    std::filesystem::create_directory(in_folder("md.gro"));
    try
    {
        copy_to_backup(in_folder("md.gro"));
        ADD_FAILURE() << "made";
    }
    catch (const SystemError& error)
    {
        EXPECT_NE(std::string(error.what()).find("md.gro"), std::string::npos);
    }
}
