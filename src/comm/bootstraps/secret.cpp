// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/secret.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/file.h>
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

struct stat status_of(const FileDescriptor& file, const std::filesystem::path& path)
{
    struct stat status;
    if (::fstat(file.get(), &status) != 0) { fail("fstat", path); }
    return status;
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
    struct stat link;
    if (::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid != ::geteuid() && link.st_uid != 0)
    {
        throw SystemError(fmt::format("The secret {} is a symbolic link of another user (who chooses with it what is read). Name "
                                      "the file itself.",
                                      path.string()));
    }
    const FileDescriptor file(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)); // opens a FIFO without waiting for a writer
    if (file.get() < 0 && errno == ENOENT) { return std::nullopt; }
    if (file.get() < 0) { fail("open", path); }
    const struct stat status = status_of(file, path);
    if (!S_ISREG(status.st_mode))
    {
        throw SystemError(fmt::format(
            "The secret {} is no file, but a folder, a device or a pipe. Name a file that has the secret.", path.string()));
    }
    if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    {
        throw SystemError(fmt::format("The secret {} is not its owner's alone (whoever reads it can join the run). Give it to "
                                      "the user who runs, and chmod 600.",
                                      path.string()));
    }
    std::array<char, longest_secret + 1> text;
    const ssize_t bytes = ::read(file.get(), text.data(), text.size());
    if (bytes < 0) { fail("read", path); }
    if (bytes > static_cast<ssize_t>(longest_secret))
    {
        throw SystemError(fmt::format("The secret {} has more than {} characters (the rest would not count, so that another file "
                                      "could have the same secret). Name a shorter file.",
                                      path.string(), longest_secret));
    }
    if (bytes == 0) { return std::nullopt; }
    std::string_view secret(text.data(), static_cast<std::size_t>(bytes));
    while (!secret.empty() && secret.back() == '\n') { secret.remove_suffix(1); }
    return Secret(secret);
}

Secret read_given_secret(const std::filesystem::path& path)
{
    if (std::optional<Secret> secret = read_secret(path)) { return *std::move(secret); }
    const bool is_there = std::filesystem::exists(path);
    throw SystemError(fmt::format("{} {}, which PARHELION_SECRET_FILE names{}.", is_there ? "The secret" : "There is no secret",
                                  path.string(), is_there ? ", is empty. Write 16 characters or more into it" : ""));
}

namespace {

bool is_at(const std::filesystem::path& path, const FileDescriptor& file)
{
    struct stat there;
    const struct stat here = status_of(file, path);
    return ::lstat(path.c_str(), &there) == 0 && there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

// Locks the file. Returns false if another process holds the lock, and true if the file system has no locks.
bool lock(const FileDescriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

[[noreturn]] void leave_alone(const std::filesystem::path& path)
{
    throw SystemError(
        fmt::format("The secret {} is of another run with the same output, which waits for its processes (this one "
                    "would take it away from them). Wait until it has begun or ended, or choose another prefix with "
                    "-o.",
                    path.string()));
}

// Removes the secret file of a run that was killed.
void remove_stale(const std::filesystem::path& path)
{
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
    if (file.get() < 0 && errno == ENOENT) { return; }
    if (file.get() < 0) { fail("open", path); }
    const struct stat status = status_of(file, path);
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
    {
        throw SystemError(
            fmt::format("{} is where the secret of this run has to be, and no file that a run of this user has left. "
                        "Remove it, or choose another prefix with -o.",
                        path.string()));
    }
    if (!lock(file)) { leave_alone(path); }
    if (is_at(path, file)) { ::unlink(path.c_str()); }
}

} // namespace

SecretFile::SecretFile(std::filesystem::path path) : path_(std::move(path))
{
    const Nonce random = make_nonce();
    std::array<char, 2 * sizeof random + 1> text;
    ::sodium_bin2hex(text.data(), text.size(), random.data(), random.size());
    text.back() = '\n';
    remove_stale(path_);
    file_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file_.get() < 0 && errno == EEXIST) { leave_alone(path_); }
    if (file_.get() < 0) { fail("open", path_); }
    if (!lock(file_) || !is_at(path_, file_)) { leave_alone(path_); }
    if (::write(file_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    {
        const int error = errno;
        ::unlink(path_.c_str());
        errno = error;
        fail("write", path_);
    }
}

SecretFile::~SecretFile()
{
    if (is_at(path_, file_)) { ::unlink(path_.c_str()); }
}

} // namespace parhelion
