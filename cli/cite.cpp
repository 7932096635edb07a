// SPDX-License-Identifier: Apache-2.0
// `parhelion cite`: prints references as text and as BibTeX.
#include "commands.hpp"
#include "report/citations.hpp"
#include "say.hpp"

namespace parhelion {

void command_cite(const std::string& prefix)
{
    const Citations citations = prefix.empty() ? citations_of_all() : citations_of_run(prefix);
    say(stdout, "{}\n{}", citations_text(citations), citations_bibtex(citations));
}

} // namespace parhelion
