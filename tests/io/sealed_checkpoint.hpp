// SPDX-License-Identifier: Apache-2.0
// Checkpoints whose hashes are right whatever is in them: what a reader must cope with behind the hashes.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <xxhash.h>

namespace parhelion::test {

constexpr std::size_t checkpoint_header = 4 * sizeof(std::uint64_t), checkpoint_section = 3 * sizeof(std::uint64_t);

// The content of the three sections of a checkpoint.
struct CheckpointParts
{
    std::string about, x, v;
};

inline CheckpointParts parts_of(std::string_view checkpoint)
{
    CheckpointParts parts;
    std::size_t at = checkpoint_header;
    for (std::string* part : {&parts.about, &parts.x, &parts.v})
    {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, checkpoint.data() + at + sizeof bytes, sizeof bytes);
        at += checkpoint_section;
        *part = checkpoint.substr(at, bytes);
        at += bytes;
    }
    return parts;
}

inline std::string sealed(const CheckpointParts& parts)
{
    constexpr std::uint64_t version = 1;
    std::string result;
    const auto put = [&](const void* data, std::size_t bytes) { result.append(static_cast<const char*>(data), bytes); };
    const auto put_hash = [&](const void* data, std::size_t bytes, std::uint64_t seed) {
        const std::uint64_t hash = XXH64(data, bytes, seed);
        put(&hash, sizeof hash);
    };
    const std::uint64_t length =
        checkpoint_header + 3 * checkpoint_section + parts.about.size() + parts.x.size() + parts.v.size();
    put("PARH-CPT", 8), put(&version, 8), put(&length, 8);
    put_hash(result.data(), result.size(), version);
    const auto put_section = [&](const char* name, const std::string& part) {
        const std::size_t begin = result.size();
        const std::uint64_t bytes = part.size();
        put(name, 8), put(&bytes, 8);
        put_hash(part.data(), part.size(), XXH64(result.data() + begin, 16, version));
        result += part;
    };
    put_section("about   ", parts.about), put_section("x       ", parts.x), put_section("v       ", parts.v);
    return result;
}

} // namespace parhelion::test
