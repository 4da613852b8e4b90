// SPDX-License-Identifier: BSD-3-Clause
#include "storage/libraries/hdf5_header.hpp"

#include <hdf5.h>
#include <mpi.h>

namespace effio {
namespace {

#if H5_VERSION_GE(1, 12, 0)
using ObjectSpace = H5O_native_info_t;

herr_t add_object(hid_t parent, const char* name, const H5O_info2_t*, void* sum);

herr_t visit(hid_t file, void* sum) {
    return H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_NATIVE, add_object, sum, H5O_INFO_BASIC);
}
#else
using ObjectSpace = H5O_info_t;

herr_t add_object(hid_t parent, const char* name, const H5O_info_t* info, void* sum);

herr_t visit(hid_t file, void* sum) {
    return H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, add_object, sum);
}
#endif

hsize_t bytes_of(const ObjectSpace& object) {
    return object.hdr.space.total + object.meta_size.obj.index_size +
           object.meta_size.obj.heap_size + object.meta_size.attr.index_size +
           object.meta_size.attr.heap_size;
}

#if H5_VERSION_GE(1, 12, 0)
herr_t add_object(hid_t parent, const char* name, const H5O_info2_t*, void* sum) {
    ObjectSpace object{};
    if (H5Oget_native_info_by_name(parent, name, &object, H5O_NATIVE_INFO_ALL, H5P_DEFAULT) < 0) {
        return -1;
    }
    *static_cast<hsize_t*>(sum) += bytes_of(object);
    return 0;
}
#else
herr_t add_object(hid_t, const char*, const H5O_info_t* info, void* sum) {
    *static_cast<hsize_t*>(sum) += bytes_of(*info);
    return 0;
}
#endif

/// Superblock and tables of the file as a whole.
hsize_t bytes_of(const H5F_info2_t& file) {
    return file.super.super_size + file.super.super_ext_size + file.free.meta_size +
           file.sohm.hdr_size + file.sohm.msgs_info.index_size + file.sohm.msgs_info.heap_size;
}

}  // namespace

Result<std::int64_t> hdf5_header_bytes(const std::string& path) {
    // By MPI-IO as well: the library's own driver takes locks, which not every file system has.
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_SELF, MPI_INFO_NULL);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (file < 0) return io_error("H5Fopen", path, hdf5_last_error());
    H5F_info2_t info{};
    hsize_t sum = 0;
    const bool known = H5Fget_info2(file, &info) >= 0 && visit(file, &sum) >= 0;
    const std::string why = known ? std::string() : hdf5_last_error();
    if (H5Fclose(file) < 0 && known) return io_error("H5Fclose", path, hdf5_last_error());
    if (!known) return io_error("H5Ovisit", path, why);
    return static_cast<std::int64_t>(sum + bytes_of(info));
}

std::string hdf5_last_error() {
    std::string text;
    const auto collect = [](unsigned, const H5E_error2_t* e, void* out) -> herr_t {
        auto& words = *static_cast<std::string*>(out);
        if (e->desc != nullptr && words.find(e->desc) == std::string::npos) {
            words += (words.empty() ? "" : "; ") + std::string(e->desc);
        }
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &text);
    H5Eclear2(H5E_DEFAULT);
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    return text.empty() ? "HDF5 gave no reason" : text;
}

}  // namespace effio
