// SPDX-License-Identifier: Apache-2.0
#include "io/output/npy.hpp"

#include "io/output/output_file.hpp"

#include <bit>
#include <string_view>

namespace parhelion {

void write_npy(const std::string& path, const std::vector<Vec3<double>>& rows)
{
    static_assert(std::endian::native == std::endian::little, "the header says '<f8'");
    static_assert(sizeof(Vec3<double>) == 3 * sizeof(double));
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows.size()) + ", 3), }";
    // Magic, version, a 16-bit length and the header have a multiple of 64 bytes in all. The header ends with a line feed.
    constexpr std::size_t preamble = 10;
    header.append(63 - (preamble + header.size()) % 64, ' ');
    header += '\n';
    std::string start = "\x93NUMPY";
    start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};

    OutputFile file(path);
    file.append(start + header);
    file.append(std::string_view(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Vec3<double>)));
    file.finish_record();
    file.close();
}

} // namespace parhelion
