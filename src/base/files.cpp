// Files by POSIX calls: interrupted and short transfers are gone on with, and every failure names the path.
#include "base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <system_error>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file_reader.h"
#include "base/memory.h"
#include "base/utf8.h"

namespace llmtool {
namespace {

void write_all(int fd, std::string_view bytes, const Path& path) {
  constexpr std::size_t largest = std::size_t{1} << 30;  // one write takes at most 2^31 bytes
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), largest));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw file_failure("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void flush_to_disk(int fd, const Path& path) {
  while (::fsync(fd) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS)
      return;  // a pipe or a device: nothing to flush
    throw file_failure("write", path, errno);
  }
}

void close_checked(int fd, const Path& path) {
  // After EINTR the descriptor is gone on Linux, so that a second close() would hit a stranger.
  if (::close(fd) != 0 && errno != EINTR) throw file_failure("write", path, errno);
}

/// Room for `more` bytes behind `out`, where the machine has it: a file without an end, or one larger than
/// what is free, must be an error here, since a process that takes too much is killed without a word.
void make_room(std::string& out, std::uint64_t more, const Path& path) {
  constexpr std::uint64_t unnoticed = std::uint64_t{64} << 20;  // below it asking the system is not worth it
  const std::uint64_t wanted = out.size() + more;
  const auto refuse = [&](const std::string& why) {
    return world_error(cat("cannot read ", shown(path), ": ", wanted, " bytes ", why), "use a smaller file");
  };
  if (wanted > unnoticed) {
    // Growing copies: for a moment both are there.
    if (const std::uint64_t free = available_memory(); wanted > free)
      throw refuse(cat("or more do not fit into the ", free, " bytes of memory that are free"));
  }
  try {
    out.reserve(static_cast<std::size_t>(wanted));
  } catch (const std::exception&) {  // bad_alloc or length_error
    throw refuse("or more do not fit into memory");
  }
}

/// A name beside `path` that no other writer has.
Path temporary_beside(const Path& path) {
  static std::atomic<unsigned> counter{0};
  Path out = path;
  out += cat(".tmp-", ::getpid(), "-", counter++);
  return out;
}

}  // namespace

std::string read_file(const Path& path, std::uint64_t max_bytes) {
  constexpr std::size_t piece = 1 << 16;
  FileReader file(path);
  const auto require_below_limit = [&](std::uint64_t bytes) {
    if (bytes > max_bytes)
      throw world_error(cat("cannot read ", shown(path), ": it is larger than ", max_bytes, " bytes"));
  };
  if (file.size()) require_below_limit(*file.size());
  std::string out;
  // One more than the size, so that the end is seen without another round.
  auto room = static_cast<std::size_t>(file.size() ? *file.size() + 1 : piece);
  for (;;) {
    make_room(out, room, path);
    const bool end = file.read(out, room) < room;
    require_below_limit(out.size());
    if (end) return out;
    room = std::max(piece, out.size());
  }
}

void write_file_atomic(const Path& path, std::string_view bytes) {
  if (path == "-") {
    write_all(STDOUT_FILENO, bytes, "standard output");
    return;
  }
  Path target = path;
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) {
    // The link stays and what it points at is replaced.
    if (const Path real = std::filesystem::canonical(path, ignored); !ignored) target = real;
  }
  struct stat info {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) throw file_failure("write", path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {  // a device or a pipe is written to, never replaced
    Descriptor file(open_retrying(target, O_WRONLY));
    if (file.get() < 0) throw file_failure("open", path, errno);
    write_all(file.get(), bytes, path);
    close_checked(file.release(), path);
    return;
  }
  const Path temporary = temporary_beside(target);
  Descriptor file(open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666));
  if (file.get() < 0) throw file_failure("write", path, errno);
  try {
    if (exists) (void)::fchmod(file.get(), info.st_mode & 07777);
    write_all(file.get(), bytes, path);
    flush_to_disk(file.get(), path);
    close_checked(file.release(), path);
    if (::rename(temporary.c_str(), target.c_str()) != 0) throw file_failure("write", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory(target.parent_path());
}

void overwrite_file(const Path& path, std::uint64_t offset, std::span<const std::byte> bytes) {
  Descriptor file(open_retrying(path, O_WRONLY));
  if (file.get() < 0) throw file_failure("open", path, errno);
  if (::lseek(file.get(), static_cast<off_t>(offset), SEEK_SET) < 0) throw file_failure("write", path, errno);
  write_all(file.get(), std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), path);
  flush_to_disk(file.get(), path);
  close_checked(file.release(), path);
}

MappedFile::MappedFile(const Path& path) {
  // Without waiting: opening a FIFO that nobody writes to would take for ever.
  const Descriptor file(open_retrying(path, O_RDONLY | O_NONBLOCK));
  if (file.get() < 0) throw file_failure("open", path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw file_failure("read", path, errno);
  if (S_ISDIR(info.st_mode)) throw file_failure("read", path, EISDIR);
  if (!S_ISREG(info.st_mode))
    throw world_error(cat("cannot read ", shown(path), ": it is not a regular file"));
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ == 0) return;
  data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    throw file_failure("map", path, errno);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

std::span<const std::byte> MappedFile::bytes() const noexcept {
  return {static_cast<const std::byte*>(data_), data_ == nullptr ? 0 : size_};
}

std::string_view MappedFile::text() const noexcept {
  return {static_cast<const char*>(data_), data_ == nullptr ? 0 : size_};
}

FileWriter::FileWriter(const Path& path) : path_(path) {
  fd_ = open_retrying(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd_ < 0) throw file_failure("write", path_, errno);
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void FileWriter::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void FileWriter::write(std::string_view text) {
  LLMTOOL_CHECK(fd_ >= 0, "write after close of ", path_.native());
  write_all(fd_, text, path_);
}

void FileWriter::close() {
  if (fd_ < 0) return;
  flush_to_disk(fd_, path_);
  close_checked(std::exchange(fd_, -1), path_);
}

void sync_directory(const Path& dir) {
  const Path real = dir.empty() ? Path(".") : dir;
  const Descriptor folder(open_retrying(real, O_RDONLY | O_DIRECTORY));
  if (folder.get() < 0) {
    if (errno == EACCES) return;  // writable but not readable: the rename stands, only the flush is not ours
    throw file_failure("open", real, errno);
  }
  flush_to_disk(folder.get(), real);
}

void make_writable_directory(const Path& dir) {
  const Path real = dir.empty() ? Path(".") : dir;
  std::error_code code;
  std::filesystem::create_directories(real, code);
  std::error_code status_code;
  if (!std::filesystem::is_directory(real, status_code)) {
    if (std::filesystem::exists(real, status_code)) {
      throw world_error(cat("cannot write into ", shown(dir), ": it is not a directory"));
    }
    throw file_failure("create the directory", dir, code ? code.value() : ENOENT);
  }
  const Path probe = temporary_beside(real / "probe");
  const Descriptor file(open_retrying(probe, O_WRONLY | O_CREAT | O_EXCL, 0666));
  if (file.get() < 0) throw file_failure("write into", dir, errno);
  ::unlink(probe.c_str());
}

std::string shown(const Path& path) {
  return path == "-" ? "standard input" : cat("'", printable(path.native()), "'");
}

std::string printable(std::string_view bytes) {
  constexpr char hex[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_utf8(bytes, at);
    const bool control = c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0);
    const auto length = static_cast<std::size_t>(std::max(c.length, 1));
    if (c.length > 0 && !control) {
      out.append(bytes, at, length);
    } else {
      for (std::size_t i = at; i < at + length; ++i) {
        const auto b = static_cast<unsigned char>(bytes[i]);
        out += "\\x";
        out += hex[b >> 4];
        out += hex[b & 15];
      }
    }
    at += length;
  }
  return out;
}

}  // namespace llmtool
