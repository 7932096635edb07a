// SPDX-License-Identifier: Apache-2.0
// What the processes of a run know and strangers do not. It signs what they greet each other with (HMAC-SHA-512-256 of
// libsodium), gives the keys of what follows (comm/bootstraps/seal.hpp), and is never sent. Nothing is encrypted.
#pragma once

#include "comm/bootstraps/seal.hpp"
#include "comm/file_descriptor.hpp"

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
    // For whoever knows the secret and the text; no text that is signed begins like one of these.
    SealKey key_of(std::string_view text) const { return sign("key " + std::string(text)); }

private:
    std::array<unsigned char, 32> key_;
};

Nonce make_nonce();

// The secret in a file; nothing if there is no such file, or nothing in it yet. Throws SystemError if it is not a file that this
// user alone may read, or comes by a symbolic link of somebody else's.
std::optional<Secret> read_secret(const std::filesystem::path& path);

// A new secret in a file that its owner alone may read, in place of one that a run has left which is no more; the file ends with
// this. Throws SystemError, also if there is the secret of a run that still waits for others: that one is left alone.
class SecretFile
{
public:
    explicit SecretFile(std::filesystem::path path);
    ~SecretFile();
    SecretFile(const SecretFile&) = delete;
    SecretFile& operator=(const SecretFile&) = delete;

private:
    std::filesystem::path path_;
    FileDescriptor file_; // with a lock, which says that somebody waits
};

} // namespace parhelion
