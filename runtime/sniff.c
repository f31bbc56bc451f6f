/* sniff.c: what a file is that is no model. */
#include <ctype.h>
#include <string.h>

#include "model.h"

static bool begins(const uint8_t *bytes, size_t n, const char *with, size_t len)
{
    return n >= len && memcmp(bytes, with, len) == 0;
}

/* Bytes of a UTF-8 character that begins with c; 0: none does. */
static size_t utf8_length(uint8_t c)
{
    return c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

static bool is_text(const uint8_t *bytes, size_t n)
{
    size_t end = n > 256 ? 256 : n;
    for (size_t i = 0, length; i < end; i += length) {
        length = utf8_length(bytes[i]);
        if (!length || (bytes[i] < 0x20 && !isspace(bytes[i]))) return false;
        for (size_t k = 1; k < length && i + k < n; k++)
            if ((bytes[i + k] & 0xc0) != 0x80) return false;
    }
    return n > 0;
}

static const char *sniff_text(const uint8_t *bytes, size_t n)
{
    while (n && isspace(*bytes)) bytes++, n--;
    if (begins(bytes, n, "{", 1) || begins(bytes, n, "[", 1)) return "JSON";
    if (begins(bytes, n, "<?xml", 5) || begins(bytes, n, "<net", 4)) return "XML (an OpenVINO model?)";
    if (begins(bytes, n, "<", 1)) return "a web page: was the download answered with an error?";
    return "text";
}

const char *mr_sniff(const uint8_t *bytes, size_t n)
{
    static const struct {
        const char *with;
        size_t len;
        const char *what;
    } magics[] = {
        {"version https://git-lfs", 23, "a Git LFS pointer"},
        {"PK\3\4", 4, "a zip archive (a PyTorch checkpoint, a Keras or Core ML model, an .npz?)"},
        {"PK\5\6", 4, "an empty zip archive"},
        {"\x89HDF\r\n\x1a\n", 8, "HDF5 (a Keras model?)"},
        {"\x93NUMPY", 6, "a NumPy array (.npy)"},
        {"\x80\2", 2, "a Python pickle (a PyTorch checkpoint?)"},
        {"\x80\3", 2, "a Python pickle"},
        {"\x80\4", 2, "a Python pickle"},
        {"\x80\5", 2, "a Python pickle"},
        {"\x1f\x8b", 2, "gzip: unpack it first"},
        {"\x28\xb5\x2f\xfd", 4, "zstd: unpack it first"},
        {"GGUF", 4, "GGUF"},
        {"\x89PNG", 4, "a PNG image"},
        {"\xff\xd8\xff", 3, "a JPEG image"},
        {"GIF8", 4, "a GIF image"},
        {"II*\0", 4, "a TIFF image"},
        {"MM\0*", 4, "a TIFF image"},
        {"\x7f"
         "ELF",
         4, "a program or library"},
        {"ptrt", 4, "a TensorRT engine"},
        {"ftrt", 4, "a TensorRT engine"},
    };
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (begins(bytes, n, magics[i].with, magics[i].len)) return magics[i].what;
    if (n > 12 && begins(bytes, n, "RIFF", 4) && begins(bytes + 8, n - 8, "WEBP", 4)) return "a WebP image";
    if (n > 10 && begins(bytes, n, "BM", 2) && begins(bytes + 6, n - 6, "\0\0\0\0", 4)) return "a BMP image";
    if (n > 8 && begins(bytes + 4, n - 4, "TFL3", 4)) return "a TensorFlow Lite model";
    if (n > 8 && begins(bytes + 4, n - 4, "ORTM", 4))
        return "an ONNX Runtime .ort file: use the .onnx that it was made from";
    if (n > 9 && bytes[7] == 0 && bytes[8] == '{') return "safetensors: weights without a graph";
    if (is_text(bytes, n)) return sniff_text(bytes, n);
    /* SavedModel: schema version 1, then a MetaGraphDef, which no producer_name looks like. */
    if (n > 8 && begins(bytes, n, "\x08\x01\x12", 3) && memmem(bytes, n > 512 ? 512 : n, "serve", 5))
        return "a TensorFlow SavedModel";
    if (n > 4 && bytes[0] == 0x0a && memmem(bytes, n > 512 ? 512 : n, "Placeholder", 11))
        return "a TensorFlow GraphDef";
    return NULL;
}
