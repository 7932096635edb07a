// SPDX-License-Identifier: Apache-2.0
#include "io/input/file_kind.hpp"

#include "base/error.hpp"
#include "io/input/load.hpp"
#include "small_input.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <string>

using namespace parhelion;
using testing::HasSubstr;

namespace {

struct OtherFile
{
    std::string bytes;
    const char* says;
};

TEST(FileKind, names_what_somebody_gave_instead)
{
    const OtherFile files[] = {
        {"\x1f\x8b\x08", "gzip"},
        {std::string("\0\0\0\x11\0\0\0\x10VERSION 2022.5", 22), ".tpr"},
        {std::string("\0\0\x07\xcb", 4), ".xtc"},
        {"CRYST1   30.000   30.000   30.000\nATOM      1  N   ALA A   1      1.0   2.0   3.0\n", "PDB"},
        {"HETATM    1  C   LIG     1      1.0   2.0   3.0\n", "PDB"},
    };
    for (const OtherFile& file : files) { EXPECT_THAT(std::string(kind_of_file(file.bytes).name), HasSubstr(file.says)); }
    for (const char* own :
         {"TITLE of my box\n 3\n", "[ defaults ]\n", "; comment\nintegrator = md\n", "", "\n", "REMARKABLE\n  1\n"})
    {
        EXPECT_EQ(kind_of_file(own).name, "") << own;
    }
}

TEST(FileKind, is_told_of_every_input_file)
{
    for (const char* name : {"run.mdp", "conf.gro", "topol.top", "index.ndx"})
    {
        SmallInput other;
        other.put(name, "\x1f\x8b\x08");
        Diagnostics none;
        try
        {
            other.load(none);
            ADD_FAILURE() << name;
        }
        catch (const InputError& error)
        {
            EXPECT_EQ(error.id(), "E115") << name;
            EXPECT_THAT(error.where().file, HasSubstr(name));
        }
    }
}

} // namespace
