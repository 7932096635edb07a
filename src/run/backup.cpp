// SPDX-License-Identifier: Apache-2.0
#include "run/backup.hpp"

#include "base/error.hpp"

#include <filesystem>
#include <fmt/format.h>

namespace parhelion {

namespace {

std::filesystem::path free_name_for(const std::filesystem::path& path)
{
    for (int n = 1;; ++n)
    {
        std::filesystem::path name = path.parent_path() / fmt::format("#{}.{}#", path.filename().string(), n);
        if (!std::filesystem::exists(std::filesystem::symlink_status(name))) { return name; }
    }
}

template <class Keep>
std::string back_up(const std::string& path, Keep&& keep)
{
    try
    {
        const bool is_link = std::filesystem::is_symlink(std::filesystem::symlink_status(path));
        if (!is_link && (!std::filesystem::exists(path) || std::filesystem::file_size(path) == 0)) { return ""; }
        const std::filesystem::path name = free_name_for(path);
        keep(path, name);
        return name.string();
    }
    catch (const std::filesystem::filesystem_error& error)
    {
        throw SystemError(fmt::format("{}  cannot be kept as a backup: {}", path, error.code().message()));
    }
}

} // namespace

std::string move_to_backup(const std::string& path)
{
    return back_up(path, [](const auto& from, const auto& to) { std::filesystem::rename(from, to); });
}

std::string copy_to_backup(const std::string& path)
{
    return back_up(path, [](const auto& from, const auto& to) { std::filesystem::copy_file(from, to); });
}

} // namespace parhelion
