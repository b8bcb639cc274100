#pragma once

#include "io/hdf5_manifest.hpp"

#include <pnmf/types.hpp>

#include <hdf5.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A thin layer over HDF5's C interface: handles that close themselves, values as vectors, errors as
/// exceptions that name the file and the place in it ("cells.h5ad:/obs/label: …").
namespace pnmf::hdf5 {

/// While one lives, this thread alone uses HDF5, and HDF5 prints nothing. They nest.
///
/// The distribution's HDF5 is not thread-safe, so every use of it, matio's included, happens inside one.
/// All members of the classes below open their own; a caller opens one to keep a group of calls together.
class Session {
  public:
    Session();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

  private:
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

/// fork(2) while no thread uses HDF5, so that the child can. Not from inside a session.
pid_t fork_between_sessions();

/// An HDF5 identifier and the function that closes it.
class Handle {
  public:
    using Close = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
    Handle(Handle&& other) noexcept;
    Handle& operator=(Handle&& other) noexcept;
    ~Handle();

    hid_t get() const { return id_; }
    explicit operator bool() const { return id_ >= 0; }
    /// Closes it now; false when HDF5 could not.
    bool close();

  private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

/// What HDF5 says about its last error, innermost cause only; "no reason given" when it says nothing.
/// SystemError when it had no memory: that need not be the file's fault.
std::string last_error();

/// Whether HDF5 finds its mark in the file, at its beginning or behind a block of the user's.
bool is_hdf5_file(const std::filesystem::path& path);

enum class Kind { group, dataset, other };

/// What the elements of a dataset are; `boolean` is h5py's enumeration of FALSE and TRUE.
enum class Element { integer, real, boolean, text, other };

/// How a new dataset is stored.
struct Storage {
    bool compress = false; ///< gzip with shuffle, in chunks of about `chunk_bytes`
    Index chunk_bytes = Index{1} << 20;
    bool resizable = false; ///< the first axis may grow (chunked even without compression)
};

/// An open group or dataset, and the words that name it in a message.
///
/// Reading: every size is checked against what the file can hold before memory is taken, and every failure is
/// an InputError. Writing: a failure is a SystemError. Arrays are row-major, as in the file.
class Object {
  public:
    /// The root of an existing file, to read; InputError when it is not an HDF5 file or is cut short.
    static Object open_file(const std::filesystem::path& path);
    /// The root of a new file, to write; replaces an existing one. Messages call it `shown_as`.
    static Object create_file(const std::filesystem::path& path, const std::filesystem::path& shown_as);
    /// The root of an existing file, to change it in place. Messages call it `shown_as`.
    static Object edit_file(const std::filesystem::path& path, const std::filesystem::path& shown_as);
    /// Writes out what is buffered, closes the file, and reads it back: SystemError when the machine refused
    /// a part of it, now or earlier, or when something is not as it was written. No other object of the file
    /// may be open any more.
    void close_file();
    /// Of everything in a file.
    static Manifest manifest_of(const std::filesystem::path& path);

    Object(Object&&) noexcept = default;
    Object& operator=(Object&&) noexcept = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    /// Closes it. HDF5 may write its last values only here; that it could not is remembered for `close_file`.
    ~Object();

    Kind kind() const;
    hid_t id() const { return handle_.get(); }
    bool is_group() const { return kind() == Kind::group; }
    bool is_dataset() const { return kind() == Kind::dataset; }
    /// "cells.h5ad:/obs/label"
    std::string where() const;
    /// Its path in the file: "/obs/label".
    const std::string& path() const { return path_; }

    // Groups.
    std::vector<std::string> names() const; ///< of its members, in ascending order
    bool contains(const std::string& name) const;
    Object open(const std::string& name) const;
    Object make_group(const std::string& name);
    /// A copy of `source`, an object of another file that has the same path there, with all below it.
    void copy(const Object& source, const std::string& name);
    void remove(const std::string& name); ///< a member; what it held stays in the file as unused bytes

    // Attributes. Text of any length and character set, one value or an array.
    bool has_attribute(const std::string& name) const;
    std::vector<std::string> attribute_names() const; ///< as they come
    std::optional<std::string> text_attribute(const std::string& name) const;
    std::vector<std::string> texts_attribute(const std::string& name) const; ///< empty for an empty array
    std::optional<std::vector<std::int64_t>> integers_attribute(const std::string& name) const;
    /// The object that the attribute, an object reference, points to.
    Object reference_attribute(const std::string& name) const;
    void remove_attribute(const std::string& name);
    void set_attribute(const std::string& name, const std::string& text);
    void set_attribute(const std::string& name, const std::vector<std::string>& texts);
    void set_attribute(const std::string& name, const std::vector<std::int64_t>& integers);
    void set_truth_attribute(const std::string& name, bool truth);

    // Datasets to read.
    Element element() const;
    Index element_bytes() const;      ///< size of one element in the file
    std::vector<Index> shape() const; ///< empty for a scalar
    Index size() const;               ///< number of elements
    /// InputError when it announces more elements than the file can hold; every read checks it.
    void check_fits_file() const;
    /// All elements: double, float, int64, int32 or int8. Values beyond an integer's range are
    /// clamped to its ends.
    template <class Value>
    std::vector<Value> read() const;
    /// All elements into `out`, which has memory for size().
    template <class Value>
    void read_into(Value* out) const;
    /// Elements [first, first + count) of the first axis.
    template <class Value>
    void read_rows(Index first, Index count, Value* out) const;
    std::vector<std::string> read_texts() const;
    /// The text of a scalar or of an array of one.
    std::string read_text() const;

    // Datasets to write. Each returns the new dataset, so that attributes can follow.
    template <class Value>
    Object create_array(const std::string& name, const std::vector<Index>& shape,
                        const Storage& storage = {});
    template <class Value>
    void write_rows(Index first, Index count, const Value* values);
    /// Gives a resizable array this many elements along its first axis.
    void resize(Index rows);
    template <class Value>
    Object write_array(const std::string& name, const std::vector<Index>& shape, const Value* values,
                       const Storage& storage = {});
    template <class Value>
    Object write_scalar(const std::string& name, Value value);
    Object write_truths(const std::string& name, const std::vector<std::int8_t>& truths);
    Object write_truth(const std::string& name, bool truth);
    Object write_texts(const std::string& name, const std::vector<std::string>& texts,
                       const Storage& storage = {});
    Object write_text(const std::string& name, const std::string& text);

    /// InputError: where, then `what`.
    [[noreturn]] void reject(std::string_view what) const;

  private:
    struct File;

    Object(std::shared_ptr<File> file, Handle handle, std::string path);
    std::string path_of(const std::string& name) const;
    bool is_there(int found) const; ///< HDF5's answer; SystemError when it had no memory to find one
    std::string attribute_path(const std::string& name) const { return path_ + "@" + name; }
    void add_values_to(Manifest& manifest) const;
    void add_all_to(Manifest& manifest) const; ///< of it and all below it
    void add_attributes_to(Manifest& manifest) const;
    [[noreturn]] void
    refuse(std::string_view what) const; ///< SystemError: where, then `what`, then HDF5's reason
    bool stored_as(hid_t native_type) const;
    template <class Stored, class Value>
    void read_converted(Value* out) const; ///< blocks of Stored, converted by all threads
    template <class Stored, class Value>
    bool read_large_as(Value* out) const; ///< false when HDF5 does it as well
    template <class Value>
    bool read_large(Value* out) const;
    Object create(const std::string& name, hid_t type, hid_t space, const Storage& storage,
                  const std::vector<Index>& shape);
    void write_attribute(const std::string& name, hid_t type, hid_t space, const void* values);

    std::shared_ptr<File> file_;
    Handle handle_;
    std::string path_;
};

} // namespace pnmf::hdf5
