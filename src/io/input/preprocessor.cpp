// SPDX-License-Identifier: Apache-2.0
#include "io/input/preprocessor.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace parhelion {

namespace {

constexpr std::size_t deepest_include = 64;
constexpr std::size_t most_includes = 10000;
constexpr int deepest_macro = 64;
constexpr std::size_t longest_expansion = std::size_t{1} << 20;

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the identifier at the begin of `text`. Removes it and the blanks behind it.
std::string_view take_name(std::string_view& text)
{
    std::size_t end = 0;
    while (end < text.size() && is_word_character(text[end])) { ++end; }
    const std::string_view name = text.substr(0, end);
    text = trimmed(text.substr(end));
    return name;
}

std::filesystem::path real_path(const std::filesystem::path& path)
{
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    return error ? path : real;
}

} // namespace

std::vector<std::filesystem::path> gmxlib_paths()
{
    std::vector<std::filesystem::path> paths;
    if (const char* const variable = std::getenv("GMXLIB"))
    {
        std::string_view rest = variable;
        while (!rest.empty())
        {
            const std::size_t end = rest.find(':');
            if (end != 0) { paths.emplace_back(rest.substr(0, end)); }
            rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
        }
    }
    return paths;
}

std::vector<std::filesystem::path> library_paths()
{
    std::vector<std::filesystem::path> paths = gmxlib_paths();
    paths.emplace_back("/usr/share/gromacs/top");
    return paths;
}

Preprocessor::Preprocessor(MappedFile root, const std::vector<std::string>& defines,
                           const std::vector<std::filesystem::path>& include_paths, SourceLocation defined_at)
    : include_paths_(include_paths), defined_at_(std::move(defined_at))
{
    const auto library = library_paths();
    include_paths_.insert(include_paths_.end(), library.begin(), library.end());
    for (const std::string& text : defines)
    {
        const std::size_t equals = text.find('=');
        std::string name = text.substr(0, equals);
        if (name.empty() || !std::all_of(name.begin(), name.end(), is_word_character))
        {
            throw InputError("E112", defined_at_,
                             "define " + in_quotes(text) +
                                 " has no valid name (letters, digits, underscore). Write -DNAME or -DNAME=VALUE.");
        }
        std::string value = equals == text.npos ? "" : text.substr(equals + 1);
        any_value_ = any_value_ || !value.empty();
        macros_[name].value = std::move(value);
        user_defines_.push_back(std::move(name));
    }
    open(std::move(root));
}

void Preprocessor::fail(const char* id, Place place, const std::string& message) const
{
    throw InputError(id, where(place), message);
}

void Preprocessor::open(MappedFile file)
{
    const std::filesystem::path path = file.path(), folder = file.is_pipe() ? "" : path.parent_path();
    auto source = std::make_unique<Source>(Source{std::move(file), {}, real_path(path), folder, {}, 0, {}});
    source->rest = source->file.text_without_mark();
    source->place.file = static_cast<std::int32_t>(names_.size());
    names_.push_back(path.string());
    sources_.push_back(std::move(source));
}

bool Preprocessor::next(SourceLine& line)
{
    while (!sources_.empty())
    {
        Source& source = *sources_.back();
        if (!read_joined_line(source))
        {
            if (!source.conditions.empty())
            {
                const Place begin{source.place.file, source.conditions.back().line};
                sources_.pop_back();
                fail("E112", begin, "this #ifdef or #ifndef has no #endif, so what it guards is not known. Add the #endif.");
            }
            sources_.pop_back();
            continue;
        }
        std::string_view text = joined_;
        text = trimmed(text.substr(0, text.find(';')));
        if (text.empty()) { continue; }
        if (text.front() == '#')
        {
            obey(source, trimmed(text.substr(1)));
            continue;
        }
        if (!active(source)) { continue; }
        line.place = source.place;
        line.text = text;
        if (any_value_)
        {
            expanded_.clear();
            expand(text, 0, source.place);
            line.text = trimmed(expanded_);
            if (line.text.empty()) { continue; }
        }
        return true;
    }
    return false;
}

// Puts the next line of the file into joined_, with the lines that trailing backslashes join to it. As in GROMACS
// lines are joined before comments are stripped, so a comment that ends in a backslash includes the next line.
bool Preprocessor::read_joined_line(Source& source)
{
    if (source.rest.empty()) { return false; }
    joined_.clear();
    source.place.line = source.lines_read + 1;
    for (bool more = true; more && !source.rest.empty();)
    {
        const std::string_view part = trimmed(take_line(source.rest));
        ++source.lines_read;
        more = part.ends_with('\\');
        joined_ += more ? part.substr(0, part.size() - 1) : part;
        if (more) { joined_ += ' '; }
    }
    return true;
}

bool Preprocessor::active(const Source& source) const
{
    return source.conditions.empty() || (source.conditions.back().outer_active && source.conditions.back().taken);
}

void Preprocessor::obey(Source& source, std::string_view directive)
{
    std::string_view rest = directive;
    const std::string_view word = take_name(rest);
    if (word == "ifdef" || word == "ifndef") { test(source, take_name(rest), word == "ifdef", word); }
    else if (word == "else" || word == "endif")
    {
        if (source.conditions.empty())
        {
            fail("E112", source.place,
                 "#" + std::string(word) +
                     " without an #ifdef or #ifndef before it in this file. Remove it or add the missing line.");
        }
        Condition& condition = source.conditions.back();
        if (word == "endif") { source.conditions.pop_back(); }
        else if (condition.was_else) { fail("E112", source.place, "second #else of one #ifdef. Remove one of them."); }
        else
        {
            condition.taken = !condition.taken;
            condition.was_else = true;
        }
    }
    else if (!active(source)) { return; }
    else if (word == "define") { define(source.place, rest); }
    else if (word == "undef") { macros_.erase(std::string(take_name(rest))); }
    else if (word == "include") { include(source, rest); }
    else
    {
        const std::string near = nearest_word(word, {"include", "define", "undef", "ifdef", "ifndef", "else", "endif"});
        fail("E112", source.place,
             fmt::format("unknown preprocessor directive {}.", in_quotes(directive)) +
                 (near.empty() ? "" : fmt::format(" Did you mean '#{}'?", near)));
    }
}

void Preprocessor::test(Source& source, std::string_view name, bool wanted, std::string_view directive)
{
    if (name.empty()) { fail("E112", source.place, "#" + std::string(directive) + " without a name. Say which macro it tests."); }
    bool taken = true; // used only if the text around the branch is read
    const bool outer_active = active(source);
    if (outer_active)
    {
        const auto macro = macros_.find(std::string(name));
        tested_.emplace(name);
        if (macro != macros_.end()) { macro->second.used = true; }
        taken = (macro != macros_.end()) == wanted;
    }
    source.conditions.push_back({source.place.line, outer_active, taken, false});
}

void Preprocessor::define(Place place, std::string_view rest)
{
    const std::string_view name = take_name(rest);
    if (name.empty()) { fail("E112", place, "#define without a valid name (letters, digits, underscore)."); }
    Macro& macro = macros_[std::string(name)];
    macro.value = rest;
    any_value_ = any_value_ || !rest.empty();
}

void Preprocessor::include(const Source& from, std::string_view rest)
{
    const char close = rest.starts_with('<') ? '>' : '"';
    const std::size_t end = rest.size() < 2 ? rest.npos : rest.find(close, 1);
    if (rest.empty() || (rest.front() != '"' && rest.front() != '<') || end == rest.npos || end == 1)
    {
        fail("E112", from.place, "#include needs a file name in quotes or angle brackets.");
    }
    const std::filesystem::path name = rest.substr(1, end - 1);
    std::vector<std::filesystem::path> folders{from.folder};
    if (name.is_relative()) { folders.insert(folders.end(), include_paths_.begin(), include_paths_.end()); }
    for (const std::filesystem::path& folder : folders)
    {
        const std::filesystem::path path = folder / name;
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error)) { continue; }
        const std::filesystem::path real = real_path(path);
        for (const auto& source : sources_)
        {
            if (source->path == real)
            {
                fail("E111", from.place,
                     "#include of " + in_quotes(name.string()) +
                         ", which is being read already (it would include itself for ever). Remove one of the includes.");
            }
        }
        if (sources_.size() >= deepest_include || names_.size() >= most_includes)
        {
            fail("E111", from.place,
                 "more than " + std::to_string(sources_.size() >= deepest_include ? deepest_include : most_includes) +
                     " files include one another. Check the includes.");
        }
        open(MappedFile(path));
        return;
    }
    std::string searched;
    for (const auto& folder : folders)
    {
        searched += (searched.empty() ? "" : ", ") + (folder.empty() ? std::string(".") : folder.string());
    }
    fail("E111", from.place,
         "cannot find the included file " + in_quotes(name.string()) + " in " + searched + ". Give its folder with -I.");
}

void Preprocessor::expand(std::string_view text, int depth, Place place)
{
    for (std::size_t i = 0; i < text.size();)
    {
        const std::size_t begin = i;
        const bool word = is_word_character(text[i]);
        while (i < text.size() && is_word_character(text[i]) == word) { ++i; }
        const std::string_view piece = text.substr(begin, i - begin);
        const auto macro = word ? macros_.find(std::string(piece)) : macros_.end();
        if (macro != macros_.end() && !macro->second.value.empty() && !macro->second.expanding)
        {
            if (depth >= deepest_macro)
            {
                sources_.clear();
                fail("E114", place,
                     "macros nested more than " + std::to_string(deepest_macro) + " deep. Check the #define lines.");
            }
            macro->second.used = macro->second.expanding = true;
            expand(macro->second.value, depth + 1, place);
            macro->second.expanding = false;
        }
        else { expanded_ += piece; }
        if (depth > 0 && expanded_.size() > longest_expansion)
        {
            sources_.clear();
            fail("E114", place, "macros make this line longer than a million characters. Check the #define lines.");
        }
    }
}

void Preprocessor::warn_of_unused_defines(Diagnostics& diagnostics) const
{
    for (const std::string& name : user_defines_)
    {
        const auto macro = macros_.find(name);
        if (macro == macros_.end() || macro->second.used) { continue; }
        std::vector<std::string_view> known(tested_.begin(), tested_.end());
        const std::string near = nearest_word(name, known);
        diagnostics.warn("W024", defined_at_,
                         "-D" + name + " is not used anywhere in the topology (a misspelt name would silently change nothing). " +
                             (near.empty() ? "Remove it." : "Did you mean '" + near + "'?"));
    }
}

} // namespace parhelion
