// Pages mapped for blocks; see memory.h.
#include "cpu/memory.h"

#include <sys/mman.h>

namespace llmtool::cpu {

std::byte* map_pages(std::uint64_t bytes) noexcept {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
  flags |= MAP_NORESERVE;
#endif
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
  madvise(pages, bytes, MADV_HUGEPAGE);  // advice only: without it everything works, a little slower
#endif
  return static_cast<std::byte*>(pages);
}

void unmap_pages(std::byte* pages, std::uint64_t bytes) noexcept {
  if (pages != nullptr) munmap(pages, bytes);
}

}  // namespace llmtool::cpu
