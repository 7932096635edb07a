// SPDX-License-Identifier: Apache-2.0
// What the processes of a run know and strangers do not. It signs what they greet each other with (HMAC-SHA-512-256 of libsodium)
// and is never sent. Messages that follow are neither signed nor encrypted: who can change what is on the wire can change a run.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace parhelion {

using Signature = std::array<unsigned char, 32>;
using Nonce = std::array<unsigned char, 32>; // used once

class Secret
{
public:
    // Of 16 characters at least, which nobody guesses. Throws SystemError.
    explicit Secret(std::string_view text);

    Signature sign(std::string_view text) const;
    bool has_signed(const Signature& signature, std::string_view text) const;

private:
    std::array<unsigned char, 32> key_;
};

Nonce make_nonce();

// The secret in a file, which its owner alone may read; nothing if there is no such file. Throws SystemError.
std::optional<Secret> read_secret(const std::filesystem::path& path);

// A new secret in a file that its owner alone may read, in place of what was there; the file ends with this. Throws SystemError.
class SecretFile
{
public:
    explicit SecretFile(std::filesystem::path path);
    ~SecretFile();
    SecretFile(const SecretFile&) = delete;
    SecretFile& operator=(const SecretFile&) = delete;

private:
    std::filesystem::path path_;
};

} // namespace parhelion
