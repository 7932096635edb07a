// SPDX-License-Identifier: Apache-2.0
// Who has what of the mesh: everything is somebody's, and counted once.
#include "mesh_exchange/mesh_cut.hpp"
#include "mesh_exchange/patch.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace parhelion;

namespace {

// How many of the ranges a place is in.
int holders(const std::vector<mesh::PlaneRange>& ranges, int place, int places)
{
    int found = 0;
    for (const mesh::PlaneRange& range : ranges) { found += range.contains(place, places) ? 1 : 0; }
    return found;
}

} // namespace

TEST(MeshCut, gives_every_plane_and_every_row_to_one_rank_also_to_more_ranks_than_planes)
{
    for (const std::array<int, 3>& points : {std::array{28, 25, 27}, {6, 64, 6}, {128, 6, 8}})
    {
        for (int ranks = 1; ranks <= 9; ++ranks)
        {
            const MeshCut dealt = dealt_cut(points, 4, ranks), gathered = gathered_cut(points, 4, ranks);
            ASSERT_EQ(dealt.ranks(), ranks);
            for (int x = 0; x < points[0]; ++x)
            {
                EXPECT_EQ(holders(dealt.planes, x, points[0]), 1);
                EXPECT_EQ(holders(gathered.planes, x, points[0]), ranks);
            }
            for (int y = 0; y < points[1]; ++y)
            {
                EXPECT_EQ(holders(dealt.rows, y, points[1]), 1);
                EXPECT_EQ(holders(gathered.rows, y, points[1]), ranks);
                EXPECT_EQ(holders(dealt.sums, y, points[1]), 1);
                EXPECT_EQ(holders(gathered.sums, y, points[1]), 1);
            }
        }
    }
}

TEST(RangeOfMarked, is_the_shortest_around_the_box_that_holds_all_marks)
{
    EXPECT_EQ(range_of_marked({0, 0, 0}, 3), mesh::PlaneRange{});
    EXPECT_EQ(range_of_marked({1, 1, 1}, 0).count, 3);
    EXPECT_EQ(range_of_marked({0, 0, 1, 0, 0, 0, 0, 0}, 3), (mesh::PlaneRange{2, 4}));
    EXPECT_EQ(range_of_marked({1, 0, 0, 0, 0, 0, 1, 0}, 1), (mesh::PlaneRange{6, 4}));
    EXPECT_EQ(range_of_marked({1, 0, 0, 0, 1, 0, 0, 0}, 7).count, 8);
    std::mt19937 random(3);
    for (int n = 0; n < 1000; ++n)
    {
        const int places = 1 + static_cast<int>(random() % 12);
        std::vector<char> marked(static_cast<std::size_t>(places));
        for (char& mark : marked) { mark = random() % 3 == 0; }
        // By trying all.
        const auto holds_all = [&](const mesh::PlaneRange& range) {
            for (int place = 0; place < places; ++place)
            {
                if (marked[static_cast<std::size_t>(place)] != 0 && !range.contains(place, places)) { return false; }
            }
            return true;
        };
        int shortest = places;
        for (int first = 0; first < places; ++first)
        {
            for (int count = 0; count < shortest; ++count)
            {
                if (holds_all({first, count})) { shortest = count; }
            }
        }
        const mesh::PlaneRange found = range_of_marked(marked, 0);
        ASSERT_TRUE(holds_all(found)) << testing::PrintToString(marked);
        ASSERT_EQ(found.count, shortest) << testing::PrintToString(marked);
    }
}
