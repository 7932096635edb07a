// SPDX-License-Identifier: Apache-2.0
// The secret that only the processes of a run know. It signs their greetings (HMAC-SHA-512-256 of libsodium), and the keys of
// later packets follow from it (comm/bootstraps/seal.hpp). The secret is never sent. Nothing is encrypted.
#pragma once

#include "comm/bootstraps/seal.hpp"
#include "comm/core/file_descriptor.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace parhelion {

using Signature = std::array<unsigned char, 32>;
using Nonce = std::array<unsigned char, 32>; // a random number that is used only once

class Secret
{
public:
    // Makes a secret of a text that cannot be guessed, of at least 16 characters. Throws SystemError.
    explicit Secret(std::string_view text);

    Signature sign(std::string_view text) const;
    bool has_signed(const Signature& signature, std::string_view text) const;
    // Returns a key that follows from the secret and the text. No text that is signed may begin with "key ".
    SealKey key_of(std::string_view text) const { return sign("key " + std::string(text)); }

private:
    std::array<unsigned char, 32> key_;
};

Nonce make_nonce();

constexpr std::size_t longest_secret = 4096; // characters of a file that has a secret

// Returns the secret in a file, or nothing if the file does not exist or is empty (another process may be about to write it).
// Throws SystemError unless only this user may read the file, if the path is a symbolic link of another user, or if the file
// is too long.
std::optional<Secret> read_secret(const std::filesystem::path& path);
// Does the same for the file that PARHELION_SECRET_FILE names. Throws SystemError also if there is no such file or it is empty.
Secret read_given_secret(const std::filesystem::path& path);

// Writes a new secret to a file that only its owner may read; the destructor removes the file. Replaces the secret of a run
// that has ended. Throws SystemError, also if the file is used by a run that still waits for its ranks; such a file is kept.
class SecretFile
{
public:
    explicit SecretFile(std::filesystem::path path);
    ~SecretFile();
    SecretFile(const SecretFile&) = delete;
    SecretFile& operator=(const SecretFile&) = delete;

private:
    std::filesystem::path path_;
    FileDescriptor file_; // open file, locked while the run waits for its ranks
};

} // namespace parhelion
