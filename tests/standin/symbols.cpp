// SPDX-License-Identifier: Apache-2.0
// Names of kernels: most are not visible to the dynamic linker, so the program reads its own table of symbols.
#include "block.hpp"

#include <cstdint>
#include <cstdlib>
#include <cxxabi.h>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <map>

namespace standin {

namespace {

using Names = std::map<std::uint64_t, std::string>; // by address in the file

Names names_of_program()
{
    std::ifstream file("/proc/self/exe", std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image.data());
    const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(image.data() + header.e_shoff);
    Names names;
    for (int s = 0; s < header.e_shnum; ++s)
    {
        if (sections[s].sh_type != SHT_SYMTAB) { continue; }
        const char* const text = image.data() + sections[sections[s].sh_link].sh_offset;
        const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(image.data() + sections[s].sh_offset);
        for (std::size_t i = 0; i < sections[s].sh_size / sizeof(Elf64_Sym); ++i)
        {
            if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC) { names[symbols[i].st_value] = text + symbols[i].st_name; }
        }
    }
    return names;
}

int take_address(dl_phdr_info* info, std::size_t, void* address) // of the program, which comes first
{
    *static_cast<std::uint64_t*>(address) = info->dlpi_addr;
    return 1;
}

} // namespace

std::string symbol_of(const void* function)
{
    static const Names names = names_of_program();
    std::uint64_t loaded_at = 0;
    dl_iterate_phdr(take_address, &loaded_at);
    const auto found = names.find(reinterpret_cast<std::uint64_t>(function) - loaded_at);
    return found == names.end() ? "a kernel" : found->second;
}

std::string name_of(const void* function)
{
    const std::string symbol = symbol_of(function);
    const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr),
                                                          std::free);
    std::string name = readable ? readable.get() : symbol;
    const std::string unnamed = "(anonymous namespace)::";
    for (std::size_t at; (at = name.find(unnamed)) != std::string::npos;) { name.erase(at, unnamed.size()); }
    return name.substr(0, name.find('('));
}

} // namespace standin
