// SPDX-License-Identifier: Apache-2.0
#include "src/profiling/symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "src/base/file.h"

namespace berth::profiling {
namespace {

constexpr size_t kMostProgramBytes = size_t{256} << 20;

// A value at `offset` of a file, which may be damaged.
template <typename T>
std::optional<T> At(std::string_view file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

std::string_view Slice(std::string_view file, uint64_t offset, uint64_t size) {
  if (offset > file.size() || file.size() - offset < size) return {};
  return file.substr(offset, size);
}

std::vector<ElfW(Shdr)> Sections(std::string_view file) {
  std::vector<ElfW(Shdr)> sections;
  const auto header = At<ElfW(Ehdr)>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return sections;
  for (size_t i = 0; i < header->e_shnum; ++i) {
    const auto section = At<ElfW(Shdr)>(file, header->e_shoff + i * header->e_shentsize);
    if (!section) break;
    sections.push_back(*section);
  }
  return sections;
}

// The build id of a loaded file, from its notes in memory.
std::string BuildId(const dl_phdr_info& info) {
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader knows where it is by number only.
    const std::string_view notes(reinterpret_cast<const char*>(begin), header.p_memsz);
    const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
    for (uint64_t at = 0; const auto note = At<ElfW(Nhdr)>(notes, at);) {
      const uint64_t name = at + sizeof(*note);
      const uint64_t content = name + padded(note->n_namesz);
      if (note->n_type == NT_GNU_BUILD_ID &&
          Slice(notes, name, 4) == std::string_view("GNU\0", 4)) {
        std::string hex;
        for (const char c : Slice(notes, content, note->n_descsz)) {
          constexpr std::string_view kDigits = "0123456789abcdef";
          const auto byte = static_cast<unsigned char>(c);
          hex += kDigits[byte >> 4];
          hex += kDigits[byte & 15];
        }
        return hex;
      }
      at = content + padded(note->n_descsz);
    }
  }
  return "";
}

int AddMapping(dl_phdr_info* info, size_t /*size*/, void* data) {
  auto& mappings = *static_cast<std::vector<Mapping>*>(data);
  // The program itself has no name here.
  const bool program = info->dlpi_name[0] == '\0';
  const std::string file = program ? "/proc/self/exe" : info->dlpi_name;
  std::error_code unknown;
  const std::string path = program ? std::filesystem::read_symlink(file, unknown).string() : file;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    Mapping mapping{.begin = info->dlpi_addr + header.p_vaddr,
                    .offset = header.p_offset,
                    .load_bias = info->dlpi_addr,
                    .path = path,
                    .file = file,
                    .build_id = BuildId(*info)};
    mapping.end = mapping.begin + header.p_memsz;
    mappings.push_back(std::move(mapping));
  }
  return 0;
}

std::string Demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return readable == nullptr ? name : readable.get();
}

}  // namespace

std::vector<Mapping> CodeMappings() {
  std::vector<Mapping> mappings;
  dl_iterate_phdr(&AddMapping, &mappings);
  std::ranges::sort(mappings, {}, &Mapping::begin);
  return mappings;
}

Symbols Symbols::Of(const std::string& path) {
  Symbols symbols;
  const auto file = base::ReadFile(path, kMostProgramBytes);
  if (!file) return symbols;
  const std::vector<ElfW(Shdr)> sections = Sections(*file);
  for (const ElfW(Shdr) & section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= sections.size()) continue;
    const ElfW(Shdr)& text = sections[section.sh_link];
    const std::string_view names = Slice(*file, text.sh_offset, text.sh_size);
    for (uint64_t at = 0; at + sizeof(ElfW(Sym)) <= section.sh_size; at += sizeof(ElfW(Sym))) {
      const auto symbol = At<ElfW(Sym)>(*file, section.sh_offset + at);
      if (!symbol) break;
      const bool is_function = (symbol->st_info & 15) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
      if (!is_function || symbol->st_name >= names.size()) continue;
      const std::string_view rest = names.substr(symbol->st_name);
      symbols.functions_.try_emplace(symbol->st_value,
                                     Function{symbol->st_value + symbol->st_size,
                                              std::string(rest.substr(0, rest.find('\0')))});
    }
  }
  return symbols;
}

std::string Symbols::Find(uintptr_t address) const {
  auto next = functions_.upper_bound(address);
  if (next == functions_.begin()) return "";
  const Function& function = std::prev(next)->second;
  return address < function.end ? Demangled(function.name) : "";
}

}  // namespace berth::profiling
