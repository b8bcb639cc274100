#include "io/hdf5_guard.hpp"
#include "io/hdf5_memory.hpp"
#include "io/hdf5_native.hpp"
#include "io/zarr.hpp"

#include <pnmf/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

namespace pnmf::hdf5 {

namespace fs = std::filesystem;

namespace {

std::recursive_mutex& library_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

/// How many sessions are nested just now; under the mutex.
int sessions = 0;

std::atomic<bool> failed_earlier{false};

struct Innermost {
    std::string text;
    bool out_of_memory = false;
};

herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* found) {
    // Walked from the outermost inwards, so the last one stays.
    auto& innermost = *static_cast<Innermost*>(found);
    if (error->desc != nullptr && *error->desc != '\0') {
        innermost.text = error->desc;
    }
    innermost.out_of_memory = error->maj_num == H5E_RESOURCE && error->min_num == H5E_NOSPACE;
    return 0;
}

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info1_t;
#else
using ObjectInfo = H5O_info_t;
#endif

/// Whether HDF5 may open the member `name` of `parent`; true when it cannot even find it.
bool may_open(hid_t file, const std::string& file_name, hid_t parent, const std::string& name) {
    ObjectInfo info{};
    return H5Oget_info_by_name2(parent, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0 ||
           types_are_sound(file_name, base_of(file), info.addr);
}

constexpr std::string_view unsound_type =
    "is damaged: the type of its values or of an attribute makes no sense";

herr_t add_name(hid_t, const char* name, const H5L_info_t*, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
}

} // namespace

Session::Session() {
    library_mutex().lock();
    // What HDF5 does at the program's end crashes after a file could not be flushed, as on a full disk. Each
    // Handle closes what it opened, so nothing is left for it to do.
    static const herr_t without_cleanup = H5dont_atexit();
    static_cast<void>(without_cleanup);
    if (++sessions == 1) {
        H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
}

Session::~Session() {
    if (errno == ENOMEM) {
        failed_earlier = true;
    }
    if (--sessions == 0) {
        H5Eset_auto2(H5E_DEFAULT, function_, data_);
    }
    library_mutex().unlock();
}

bool allocation_failed() {
    return errno == ENOMEM || failed_earlier;
}

pid_t fork_between_sessions() {
    std::recursive_mutex& mutex = library_mutex();
    mutex.lock();
    const pid_t child = ::fork();
    if (child == 0) {
        // The child's only thread has another number than the one that locked it, and could not unlock it.
        new (&mutex) std::recursive_mutex;
    } else {
        mutex.unlock();
    }
    return child;
}

Handle::Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}

Handle& Handle::operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
}

Handle::~Handle() {
    close();
}

bool Handle::close() {
    if (id_ < 0) {
        return true;
    }
    const Session session;
    return close_(std::exchange(id_, -1)) >= 0;
}

std::string last_error() {
    const Session session;
    Innermost innermost{.text = "no reason given"};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &innermost);
    if (innermost.out_of_memory) {
        throw SystemError(
            "HDF5 had no memory: the machine has too little left, or a damaged file asks for too much");
    }
    const std::string& text = innermost.text;
    // Where the system refused, its own words stand among many numbers.
    constexpr std::string_view quoted = "error message = '";
    if (const auto at = text.find(quoted); at != std::string::npos) {
        const auto from = at + quoted.size();
        return text.substr(from, text.find('\'', from) - from);
    }
    return text;
}

Object::Object(std::shared_ptr<File> file, Handle handle, std::string path)
    : file_(std::move(file)), handle_(std::move(handle)), path_(std::move(path)) {}

namespace {

/// Of the file an object is in.
std::string name_of_file(hid_t object) {
    const ssize_t length = H5Fget_name(object, nullptr, 0);
    std::string name(static_cast<std::size_t>(std::max<ssize_t>(length, 0)), '\0');
    H5Fget_name(object, name.data(), name.size() + 1);
    return name;
}

} // namespace

bool is_hdf5_file(const fs::path& path) {
    const Session session;
    errno = 0;
    const htri_t found = H5Fis_hdf5(path.c_str());
    if (found < 0 && allocation_failed()) {
        throw SystemError(fmt::format("{}: there is too little memory to look at it", path.string()));
    }
    return found > 0;
}

Object Object::open_file(const fs::path& path) {
    const Session session;
    std::error_code error;
    require(fs::exists(path, error), "{}: no such file", path.string());
    const fs::path bytes = zarr::hdf5_of(path);
    require(!fs::is_directory(bytes, error), "{}: must be a file, but is a folder", path.string());
    auto file = std::make_shared<File>();
    file->name = path.string();
    file->mirror = bytes == path ? std::string() : bytes.string();
    file->handle = Handle(H5Fopen(bytes.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    require(bool(file->handle), "{}: must be a whole HDF5 file: {}", path.string(), last_error());
    require(may_open(file->handle.get(), file->bytes_in(), file->handle.get(), "/"), "{}: {}", path.string(),
            unsound_type);
    Handle root(H5Oopen(file->handle.get(), "/", H5P_DEFAULT), H5Oclose);
    require(bool(root), "{}: must be a whole HDF5 file: {}", path.string(), last_error());
    return {std::move(file), std::move(root), "/"};
}

Object Object::create_file(const fs::path& path, const fs::path& shown_as) {
    const Session session;
    auto file = std::make_shared<File>();
    file->name = shown_as.string();
    file->place = path;
    file->written.emplace();
    file->handle = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    if (!file->handle) {
        throw SystemError(fmt::format("{}: cannot be created: {}", file->name, last_error()));
    }
    Handle root(H5Oopen(file->handle.get(), "/", H5P_DEFAULT), H5Oclose);
    Object result(std::move(file), std::move(root), "/");
    if (!result.handle_) {
        result.refuse("cannot be written");
    }
    return result;
}

Object Object::edit_file(const fs::path& path, const fs::path& shown_as) {
    const Session session;
    auto file = std::make_shared<File>();
    file->name = shown_as.string();
    file->place = path;
    file->written = manifest_of(shown_as);
    file->handle = Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    require(bool(file->handle), "{}: must be a whole HDF5 file: {}", file->name, last_error());
    Handle root(H5Oopen(file->handle.get(), "/", H5P_DEFAULT), H5Oclose);
    require(bool(root), "{}: must be a whole HDF5 file: {}", file->name, last_error());
    return {std::move(file), std::move(root), "/"};
}

void Object::close_file() {
    const Session session;
    std::string failure = std::move(file_->failure);
    const auto note = [&failure](bool done) {
        if (!done && failure.empty()) {
            failure = last_error();
        }
    };
    note(H5Fflush(file_->handle.get(), H5F_SCOPE_LOCAL) >= 0);
    note(handle_.close());
    note(file_->handle.close());
    if (failure.empty()) {
        try {
            if (const auto path = manifest_of(file_->place).first_difference(*file_->written)) {
                failure = fmt::format("what was read back at {} is not what was written", *path);
            }
        } catch (const InputError& e) {
            failure = fmt::format("it cannot be read back: {}", e.what());
        }
    }
    if (!failure.empty()) {
        throw SystemError(fmt::format("{}: cannot be written: {}", file_->name, failure));
    }
}

Object::~Object() {
    if (!handle_ || !file_) {
        return;
    }
    const Session session;
    if (!handle_.close() && file_->written && file_->failure.empty()) {
        try {
            file_->failure = last_error();
        } catch (const std::exception&) {
            file_->failure = "out of memory";
        }
    }
}

std::string Object::where() const {
    return file_->name + ":" + path_;
}

void Object::reject(std::string_view what) const {
    fail("{}: {}", where(), what);
}

void Object::refuse(std::string_view what) const {
    throw SystemError(fmt::format("{}: {}: {}", where(), what, last_error()));
}

std::string Object::path_of(const std::string& name) const {
    return path_.back() == '/' ? path_ + name : path_ + "/" + name;
}

Kind Object::kind() const {
    const Session session;
    switch (H5Iget_type(handle_.get())) {
    case H5I_GROUP:
        return Kind::group;
    case H5I_DATASET:
        return Kind::dataset;
    default:
        return Kind::other;
    }
}

std::vector<std::string> Object::names() const {
    const Session session;
    std::vector<std::string> names;
    hsize_t position = 0;
    // As they come: to sort them itself HDF5 1.10 makes a table, and crashes when a link is damaged, freeing
    // the part of the table that it has not filled. Groups of more than eight members are of that kind.
    if (H5Literate(handle_.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &position, add_name, &names) < 0) {
        reject("its members cannot be listed: " + last_error());
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool Object::contains(const std::string& name) const {
    const Session session;
    if (name.empty() || !is_group()) {
        return false;
    }
    // Every part of the path must be there before HDF5 may be asked about the next.
    for (std::size_t end = 0; end != std::string::npos;) {
        end = name.find('/', end + 1);
        errno = 0;
        if (!is_there(H5Lexists(handle_.get(), name.substr(0, end).c_str(), H5P_DEFAULT))) {
            return false;
        }
    }
    errno = 0;
    return is_there(H5Oexists_by_name(handle_.get(), name.c_str(), H5P_DEFAULT));
}

bool Object::is_there(int found) const {
    if (found < 0 && allocation_failed()) {
        throw SystemError(fmt::format("{}: there is too little memory to look into it", file_->name));
    }
    return found > 0;
}

Object Object::open(const std::string& name) const {
    const Session session;
    if (!contains(name)) {
        reject(fmt::format("must contain '{}'", name));
    }
    if (!may_open(file_->handle.get(), file_->bytes_in(), handle_.get(), name)) {
        fail("{}:{}: {}", file_->name, path_of(name), unsound_type);
    }
    Handle handle(H5Oopen(handle_.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!handle) {
        fail("{}:{}: cannot be opened: {}", file_->name, path_of(name), last_error());
    }
    std::string found = name_of_file(handle.get());
    if (found != name_of_file(file_->handle.get())) { // a link led into another file
        auto other = std::make_shared<File>();
        other->name = std::move(found);
        other->handle = Handle(H5Iget_file_id(handle.get()), H5Fclose);
        return {std::move(other), std::move(handle), path_of(name)};
    }
    return {file_, std::move(handle), path_of(name)};
}

Object Object::make_group(const std::string& name) {
    const Session session;
    const Handle links = link_properties();
    Handle handle(H5Gcreate2(handle_.get(), name.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    if (!handle) {
        refuse(fmt::format("the group '{}' cannot be made", name));
    }
    return {file_, std::move(handle), path_of(name)};
}

Object Object::reference_attribute(const std::string& name) const {
    const Session session;
    const Handle attribute(H5Aopen(handle_.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute.get()), H5Tclose);
    const Handle space(H5Aget_space(attribute.get()), H5Sclose);
    hobj_ref_t reference = 0;
    if (!attribute || H5Tequal(type.get(), H5T_STD_REF_OBJ) <= 0 ||
        H5Sget_simple_extent_npoints(space.get()) != 1 ||
        H5Aread(attribute.get(), H5T_STD_REF_OBJ, &reference) < 0) {
        reject(fmt::format("its attribute '{}' must be a reference to another object", name));
    }
    if (!types_are_sound(file_->bytes_in(), base_of(file_->handle.get()), reference)) {
        fail("{}@{}: {}", where(), name, unsound_type);
    }
    Handle target(H5Rdereference2(handle_.get(), H5P_DEFAULT, H5R_OBJECT, &reference), H5Oclose);
    if (!target) {
        reject(fmt::format("its attribute '{}' refers to nothing: {}", name, last_error()));
    }
    return {file_, std::move(target), path_ + "@" + name};
}

} // namespace pnmf::hdf5
