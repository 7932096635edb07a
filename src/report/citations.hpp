// SPDX-License-Identifier: Apache-2.0
// References for a run: the program, and publications on the methods that it used (run/methods.hpp).
#pragma once

#include "run/log.hpp"

#include <string>
#include <vector>

namespace parhelion {

struct Publication
{
    std::string key;                                      // key of the entry in BibTeX
    std::string authors;                                  // in BibTeX's form: "Last, F. and Last, F."
    std::string title, journal, volume, pages, year, doi; // pages as "148--158"
};

// Returns the publications of a method, which is given by its name in the log; nothing if none is known.
std::vector<Publication> publications_of(const std::string& method);

struct CitedMethod
{
    std::string name;
    std::vector<Publication> publications;
};
struct Citations
{
    std::string program; // the program's name in the log; empty: this program
    std::vector<CitedMethod> methods;
};

// Returns the methods of a run that its log names.
Citations citations_in(const LoggedRun& log);
// Returns the methods of a run by its prefix. Throws InputError E189 if there is no log or if the log names no methods.
Citations citations_of_run(const std::string& prefix);
// Returns the publications of all methods that runs can use.
Citations citations_of_all();

// Returns, for example, "Hockney, R. W.; Goel, S. P. Title. Journal 14, 148-158 (1974). doi:...".
std::string text_of(const Publication& publication);
// Returns all references as plain text.
std::string citations_text(const Citations& citations);
// Returns BibTeX: an entry for the program and one for each publication, without duplicates.
std::string citations_bibtex(const Citations& citations);

} // namespace parhelion
