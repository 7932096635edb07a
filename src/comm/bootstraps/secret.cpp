// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/secret.hpp"

#include "base/error.hpp"
#include "comm/bootstraps/process_messages.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace parhelion {

namespace {

static_assert(crypto_auth_BYTES == std::tuple_size_v<Signature>);
static_assert(crypto_auth_KEYBYTES == 32);

void start_sodium()
{
    if (::sodium_init() < 0) { throw SystemError("libsodium found no source of random numbers."); }
}

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

[[noreturn]] void fail(const char* call, const std::filesystem::path& path)
{
    throw SystemError(fmt::format("{} of the secret {} failed: {}.", call, path.string(), std::strerror(errno)));
}

} // namespace

Secret::Secret(std::string_view text) : key_{}
{
    if (text.size() < 16) { throw SystemError("The secret of a run needs 16 characters at least (others could guess it)."); }
    start_sodium();
    ::crypto_generichash(key_.data(), key_.size(), bytes_of(text), text.size(), nullptr, 0);
}

Signature Secret::sign(std::string_view text) const
{
    Signature signature;
    ::crypto_auth(signature.data(), bytes_of(text), text.size(), key_.data());
    return signature;
}

bool Secret::has_signed(const Signature& signature, std::string_view text) const
{
    return ::crypto_auth_verify(signature.data(), bytes_of(text), text.size(), key_.data()) == 0;
}

Nonce make_nonce()
{
    start_sodium();
    Nonce nonce;
    ::randombytes_buf(nonce.data(), nonce.size());
    return nonce;
}

std::optional<Secret> read_secret(const std::filesystem::path& path)
{
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0 && errno == ENOENT) { return std::nullopt; }
    if (file.get() < 0) { fail("open", path); }
    struct stat status;
    if (::fstat(file.get(), &status) != 0) { fail("fstat", path); }
    if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    {
        throw SystemError(fmt::format("The secret {} is not its owner's alone (whoever reads it can join the run). Give it to "
                                      "the user who runs, and chmod 600.",
                                      path.string()));
    }
    std::array<char, 4096> text;
    const ssize_t bytes = ::read(file.get(), text.data(), text.size());
    if (bytes < 0) { fail("read", path); }
    std::string_view secret(text.data(), static_cast<std::size_t>(bytes));
    while (!secret.empty() && secret.back() == '\n') { secret.remove_suffix(1); }
    return Secret(secret);
}

SecretFile::SecretFile(std::filesystem::path path) : path_(std::move(path))
{
    const Nonce random = make_nonce();
    std::array<char, 2 * sizeof random + 1> text;
    ::sodium_bin2hex(text.data(), text.size(), random.data(), random.size());
    text.back() = '\n';
    // Whole from the beginning for whoever opens it by its name.
    const std::string made = path_.string() + "." + std::to_string(::getpid());
    const FileDescriptor file(::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file.get() < 0) { fail("open", made); }
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) { fail("write", made); }
    if (::rename(made.c_str(), path_.c_str()) != 0) { fail("rename", made); }
}

SecretFile::~SecretFile() { ::unlink(path_.c_str()); }

} // namespace parhelion
