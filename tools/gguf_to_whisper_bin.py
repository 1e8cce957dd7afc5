"""A Whisper GGUF as whisper.cpp's own .bin, for engines that read nothing else (bench_peers).

    python gguf_to_whisper_bin.py IN.gguf OUT.bin      needs the package gguf; matrices of one type:
                                                       F32, F16, Q8_0, Q5_0, Q5_1, Q4_0, Q4_1

The format, all little endian: magic, eleven sizes, mel filters, the vocabulary as bytes, then the
tensors to the end of the file. Special tokens are not written: a reader makes them from n_vocab.
"""
import re
import struct
import sys

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader

RENAMES = [(re.compile(a), b) for a, b in [
    (r"^enc\.", "encoder."), (r"^dec\.", "decoder."),
    (r"\.conv\.0\.", ".conv1."), (r"\.conv\.1\.", ".conv2."),
    (r"\.pos_emb\.weight$", ".positional_embedding"), (r"\.token_embd\.", ".token_embedding."),
    (r"^encoder\.final_norm\.", "encoder.ln_post."), (r"^decoder\.final_norm\.", "decoder.ln."),
    (r"\.norm_(attn|self)\.", ".attn_ln."), (r"\.norm_cross\.", ".cross_attn_ln."),
    (r"\.norm_ffn\.", ".mlp_ln."), (r"\.self_attn\.", ".attn."),
    (r"attn\.q\.", "attn.query."), (r"attn\.k\.", "attn.key."), (r"attn\.v\.", "attn.value."),
    (r"\.ffn\.fc1\.", ".mlp.0."), (r"\.ffn\.fc2\.", ".mlp.2."),
]]


def byte_of_letter():
    """GPT-2 spells each byte of a token as a printable letter."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(rest)}


def vocabulary(file):
    names = file.get_field("tokenizer.ggml.tokens").contents()
    kinds = file.get_field("tokenizer.ggml.token_type").contents()
    letters = byte_of_letter()
    return [bytes(letters[c] for c in name) for name, kind in zip(names, kinds) if kind == 1]


# The number of a file type, with the version of the blocks' layout in front where there are blocks.
FILE_TYPES = {Type.F32: 1, Type.F16: 1, Type.Q4_0: 2002, Type.Q4_1: 2003, Type.Q8_0: 2007,
              Type.Q5_0: 2008, Type.Q5_1: 2009}


def sizes(file, file_type):
    def number(key):
        return int(file.get_field("stt.whisper." + key).contents())

    out = [number("decoder.vocab_size")]
    for side, context in (("encoder", "max_source_positions"), ("decoder", "max_target_positions")):
        out += [number(f"{side}.{key}") for key in (context, "d_model", "n_heads", "n_layers")]
    return [*out, number("encoder.num_mel_bins"), file_type]


def write_tensor(out, tensor):
    name = tensor.name
    for pattern, replacement in RENAMES:
        name = pattern.sub(replacement, name)
    data, kind = np.asarray(tensor.data), int(tensor.tensor_type)
    if data.dtype == np.float32 and data.ndim > 1 and not name.endswith("positional_embedding"):
        data, kind = data.astype(np.float16), int(Type.F16)
    shape = [int(n) for n in tensor.shape]  # fastest first
    if re.search(r"\.conv\d\.bias$", name):
        shape = [1, *shape]
    encoded = name.encode()
    out.write(struct.pack("<3i", len(shape), len(encoded), kind))
    out.write(struct.pack(f"<{len(shape)}i", *shape) + encoded + data.tobytes())


def main(source, target):
    file = GGUFReader(source)
    tensors = {t.name: t for t in file.tensors}
    filters = np.asarray(tensors.pop("frontend.mel_filterbank").data, np.float32)
    tensors.pop("frontend.window")
    words = vocabulary(file)
    file_type = FILE_TYPES[tensors["dec.token_embd.weight"].tensor_type]
    with open(target, "wb") as out:
        out.write(struct.pack("<I11i", 0x67676D6C, *sizes(file, file_type)))
        out.write(struct.pack("<2i", *filters.shape) + filters.tobytes())
        out.write(struct.pack("<i", len(words)))
        for word in words:
            out.write(struct.pack("<I", len(word)) + word)
        for tensor in tensors.values():
            write_tensor(out, tensor)


if __name__ == "__main__":
    main(*sys.argv[1:3])
