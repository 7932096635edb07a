// SPDX-License-Identifier: Apache-2.0
#include "report/citations.hpp"

#include "io/input_folder.hpp"
#include "run/methods.hpp"

#include <algorithm>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <set>

namespace parhelion {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Citations, every_method_has_a_publication_whose_fields_are_filled)
{
    std::set<std::string> keys;
    for (const CitedMethod& method : citations_of_all().methods)
    {
        EXPECT_FALSE(method.publications.empty()) << method.name;
        EXPECT_EQ(method.name.find(','), std::string::npos) << "the log has a list of names";
        for (const Publication& p : method.publications)
        {
            for (const std::string* field : {&p.key, &p.authors, &p.title, &p.journal, &p.volume, &p.pages, &p.year, &p.doi})
            {
                EXPECT_FALSE(field->empty()) << method.name;
            }
            EXPECT_TRUE(p.doi.starts_with("10.")) << p.doi;
            EXPECT_TRUE(p.key.ends_with(p.year)) << p.key;
            keys.insert(p.key);
        }
    }
    const std::string bibtex = citations_bibtex(citations_of_all());
    EXPECT_EQ(static_cast<std::size_t>(std::count(bibtex.begin(), bibtex.end(), '@')), keys.size() + 1);
    EXPECT_EQ(std::count(bibtex.begin(), bibtex.end(), '{'), std::count(bibtex.begin(), bibtex.end(), '}'));
}

TEST(Citations, of_a_run_are_those_of_the_methods_in_its_log)
{
    const InputFolder folder;
    const std::string prefix = (folder.path() / "md").string();
    folder.write("md.log",
                 "parhelion 0.1.0 (abc), g++ 12\na machine\nsystem    water\nmethods   leap-frog, SETTLE, v-rescale\n\n");
    const Citations citations = citations_of_run(prefix);
    EXPECT_EQ(citations.methods.size(), 3u);
    const std::string text = citations_text(citations);
    EXPECT_THAT(text, HasSubstr("parhelion 0.1.0 (abc)\n"));
    EXPECT_THAT(text,
                HasSubstr("\nSETTLE\n    Miyamoto, S.; Kollman, P. A. Settle: An analytical version of the SHAKE and RATTLE "
                          "algorithm for rigid water models. J. Comput. Chem. 13, 952-962 (1992). doi:10.1002/jcc.540130805\n"));
    EXPECT_THAT(text, Not(HasSubstr("Essmann")));
    EXPECT_THAT(text, Not(HasSubstr("@"))); // which would be an entry for BibTeX
    EXPECT_THAT(citations_bibtex(citations), HasSubstr("@article{Bussi2007,\n"));
    expect_refused([&] { citations_of_run(prefix + "x"); }, "E189", "mdx.log", 0, "does not say");
    folder.write("old.log", "parhelion 0.0.9\na machine\nsystem    water\n\n");
    expect_refused([&] { citations_of_run((folder.path() / "old").string()); }, "E189", "old.log", 0, "does not say");
}

} // namespace
} // namespace parhelion
