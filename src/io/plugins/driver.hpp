// SPDX-License-Identifier: Apache-2.0
// HDF5's view of an OrderedFile: a driver of its virtual file layer.
#pragma once

#include "io/plugins/ordered_file.hpp"

#include <hdf5.h>

namespace parhelion::h5md {

// Makes files that are opened with this property list be `file`, which must outlive them. Throws SystemFailure.
void use_file(hid_t access_properties, OrderedFile& file);

} // namespace parhelion::h5md
