"""Writes Zarr stores of .h5ad files, as zarr-python does: zarr_store.py FOLDER_OF_FILES FOLDER, or FILE.h5ad STORE FORMAT [CODEC]

Debian 12 has no package of Zarr, so this follows the two specifications. How each array is stored is drawn: its chunks, the order
of axes and bytes, the separator, what compresses it, and whether chunks that hold the fill value are left out. blosc and zstd are
the libraries themselves, by ctypes. Without the packages it needs, nothing is written.
"""

import ctypes
import gzip
import itertools
import json
import os
import random
import shutil
import struct
import sys
import zlib

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(0)


def library(name):
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


BLOSC = library("libblosc.so.1")
ZSTD = library("libzstd.so.1")
CODECS = ["none", "zlib", "gzip"] + (["blosc"] if BLOSC else []) + (["zstd"] if ZSTD else [])


def by_blosc(data, width, rng):
    out = ctypes.create_string_buffer(len(data) + 16)
    name = rng.choice([b"lz4", b"lz4hc", b"zlib", b"zstd", b"blosclz"])
    size = BLOSC.blosc_compress_ctx(5, rng.randrange(3), ctypes.c_size_t(min(width, 255)), ctypes.c_size_t(len(data)), data, out,
                                    ctypes.c_size_t(len(out)), name, ctypes.c_size_t(rng.choice([0, 256])), 1)
    assert size > 0
    return out.raw[:size]


def by_zstd(data, rng):
    ZSTD.ZSTD_createCCtx.restype = ctypes.c_void_p
    ZSTD.ZSTD_compressBound.restype = ctypes.c_size_t
    ZSTD.ZSTD_compress2.restype = ctypes.c_size_t
    context = ctypes.c_void_p(ZSTD.ZSTD_createCCtx())
    ZSTD.ZSTD_CCtx_setParameter(context, 200, rng.randrange(2))  # whether the size stands in front
    ZSTD.ZSTD_CCtx_setParameter(context, 201, rng.randrange(2))  # a checksum behind
    out = ctypes.create_string_buffer(ZSTD.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    size = ZSTD.ZSTD_compress2(context, out, ctypes.c_size_t(len(out)), data, ctypes.c_size_t(len(data)))
    ZSTD.ZSTD_freeCCtx(context)
    return out.raw[:size]


def compressed(data, codec, width, rng):
    return {"none": lambda: data, "zlib": lambda: zlib.compress(data), "gzip": lambda: gzip.compress(data),
            "blosc": lambda: by_blosc(data, width, rng), "zstd": lambda: by_zstd(data, rng)}[codec]()


def crc32c(data):
    total = 0xffffffff
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ (0x82f63b78 if total & 1 else 0)
    return struct.pack("<I", total ^ 0xffffffff)


def vlen_utf8(texts):
    parts = [text.encode() for text in texts]
    return struct.pack("<I", len(parts)) + b"".join(struct.pack("<I", len(part)) + part for part in parts)


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)


def write_json(path, content):
    write(path, json.dumps(content).encode())


def plain(value):
    """An attribute as JSON has it."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value.tolist()]
    return value.item() if isinstance(value, np.generic) else value


def layout(values, text, version, rng, codec):
    """The chunk's shape and metadata of an array, and what turns a chunk into bytes."""
    chunk = [rng.choice([1, 2, 3, max(1, size), size + 2]) if size < 10 else max(1, size // rng.choice([1, 2, 3])) + rng.randrange(2)
             for size in values.shape]
    codec = codec or rng.choice(CODECS)
    fixed = text and rng.randrange(2)
    big = rng.randrange(2) and not (text and not fixed)
    columns_first = rng.randrange(3) == 0
    separator = rng.choice("./")
    if text and fixed:
        values = values.astype("U") if rng.randrange(2) or any(not one.isascii() for one in values.ravel()) else values.astype("S")
    stored = values if text and not fixed else values.astype(values.dtype.newbyteorder(">" if big else "<"))
    width = 1 if text and not fixed else max(1, stored.dtype.itemsize)
    if version == 2:
        named = {"none": None, "blosc": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}}.get(codec, {"id": codec, "level": 1})
        about = {"zarr_format": 2, "shape": list(values.shape), "chunks": chunk, "compressor": named, "order": "F" if columns_first else "C",
                 "fill_value": "" if text else rng.choice([0, None]) if values.dtype != bool else False,
                 "filters": [{"id": "vlen-utf8"}] if text and not fixed else None,
                 "dtype": "|O" if text and not fixed else stored.dtype.str}
        if separator == "/":
            about["dimension_separator"] = separator
        checksum, prefix = False, []
    else:
        checksum = rng.randrange(2)
        kind = values.dtype.kind
        about = {"zarr_format": 3, "node_type": "array", "shape": list(values.shape),
                 "data_type": "string" if text and not fixed else
                 {"name": "fixed_length_utf32" if kind == "U" else "null_terminated_bytes", "configuration": {"length_bytes": width}} if text else values.dtype.name,
                 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
                 "chunk_key_encoding": {"name": "default", "configuration": {"separator": separator}},
                 "fill_value": "" if text else False if kind == "b" else 0,
                 "codecs": [{"name": "transpose", "configuration": {"order": list(range(values.ndim))[::-1]}}] * (columns_first and values.ndim > 1)
                 + [{"name": "vlen-utf8"} if text and not fixed else {"name": "bytes", "configuration": {"endian": "big" if big else "little"}}]
                 + ([{"name": codec, "configuration": {}}] if codec != "none" else []) + ([{"name": "crc32c"}] if checksum else [])}
        if codec == "zlib":
            about["codecs"] = [{**one, "name": "gzip"} if one["name"] == "zlib" else one for one in about["codecs"]]
        prefix = ["c"]

    def encode(block):
        order = "F" if columns_first else "C"
        data = vlen_utf8(block.ravel(order)) if text and not fixed else block.tobytes(order)
        data = compressed(data, codec, width, rng)
        return data + crc32c(data) if checksum else data

    return stored, chunk, about, prefix, separator, encode


def write_array(folder, dataset, version, rng, codec):
    text = h5py.check_string_dtype(dataset.dtype) is not None
    values = np.array(dataset.asstr()[()], dtype=object) if text else np.asarray(dataset[()])
    stored, chunk, about, prefix, separator, encode = layout(values, text, version, rng, codec)
    attributes = {name: plain(value) for name, value in dataset.attrs.items()}
    if version == 2:
        write_json(os.path.join(folder, ".zarray"), about)
        write_json(os.path.join(folder, ".zattrs"), attributes)
    else:
        write_json(os.path.join(folder, "zarr.json"), {**about, "attributes": attributes})
    counts = [0 if size == 0 else -(-size // one) for size, one in zip(values.shape, chunk)]
    empty = stored.dtype.type("") if stored.dtype.kind in "US" else "" if stored.dtype == object else 0
    leave_out = rng.randrange(2)
    for place in itertools.product(*map(range, counts)):
        here = stored[tuple(slice(i * one, (i + 1) * one) for i, one in zip(place, chunk))]
        if leave_out and all(one == empty for one in np.ravel(here).tolist()):
            continue
        block = np.full(chunk, empty, dtype=stored.dtype)
        block[tuple(slice(0, size) for size in np.shape(here))] = here
        name = separator.join(prefix + [str(i) for i in place]) or "0"
        write(os.path.join(folder, name), encode(block))


def write_store(group, folder, version, rng, codec):
    attributes = {name: plain(value) for name, value in group.attrs.items()}
    if version == 2:
        write_json(os.path.join(folder, ".zgroup"), {"zarr_format": 2})
        write_json(os.path.join(folder, ".zattrs"), attributes)
    else:
        write_json(os.path.join(folder, "zarr.json"), {"zarr_format": 3, "node_type": "group", "attributes": attributes})
    for name, element in group.items():
        below = os.path.join(folder, name)
        if isinstance(element, h5py.Group):
            write_store(element, below, version, rng, codec)
        else:
            write_array(below, element, version, rng, codec)


def make_types(path):
    """Every type of number, text and truth, in arrays of no axis to three."""
    rng = np.random.default_rng(1)
    with h5py.File(path, "w") as file:
        for word in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "bool", "text"]:
            group = file.create_group(word)
            group.attrs.update({"about": "\u00e4", "count": 3, "half": 0.5, "yes": True, "names": ["a", "bc"], "shape": [1, 2]})
            for name, shape in {"scalar": (), "none": (0,), "list": (11,), "zeros": (40,), "matrix": (7, 5), "cube": (3, 4, 2)}.items():
                values = rng.integers(-100, 100, shape) * (name != "zeros")
                if word == "text":
                    texts = np.array(["" if x == 0 else f"t{x} \u20ac \U0001f600"[:1 + x % 9] for x in np.ravel(values)], dtype=object)
                    group.create_dataset(name, data=texts.reshape(shape) if shape else texts[0], dtype=h5py.string_dtype())
                else:
                    group.create_dataset(name, data=(values % 2).astype(bool) if word == "bool" else values.astype(word))


def convert(source, store, version, rng, codec=None):
    with h5py.File(source, "r") as file:
        write_store(file, store, version, rng, codec)


def main():
    source, target, *version = sys.argv[1:]
    if version:
        convert(source, target, int(version[0]), random.Random(1), *version[1:])
        return
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    make_types(os.path.join(target, "types.h5ad"))
    for version in (2, 3):
        for seed in range(3):
            convert(os.path.join(target, "types.h5ad"), os.path.join(target, f"types.{version}.{seed}.zarr"), version, random.Random(seed))
        for codec in CODECS:
            convert(os.path.join(source, "csr.h5ad"), os.path.join(target, f"csr.{version}.{codec}.zarr"), version, random.Random(9), codec)
        for name in ("layers", "dense_bool", "large_float"):
            convert(os.path.join(source, f"{name}.h5ad"), os.path.join(target, f"{name}.{version}.zarr"), version, random.Random(5))


if __name__ == "__main__":
    main()
