#!/usr/bin/env python3
"""The values inside openai-whisper for one window of a recording, as .npz for tools/tapdiff.

    reference_taps.py MODEL_DIR AUDIO OUT.npz [--seek SECONDS] [--language en] [--task transcribe]
                      [--timestamps] [--steps N] [--silence]

MODEL_DIR is a Hugging Face or a CTranslate2 directory of a published Whisper (its vocabulary has to
be the original one). Names and axes: tools/README.md. `--steps` adds `raw_greedy_ids`, the arg-max
without rules, and one `dec.*.K` for each step K >= 1.
"""
import argparse

import numpy as np
import torch
import whisper
from whisper.tokenizer import get_tokenizer

import whisper_reference as reference


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("audio")
    parser.add_argument("out")
    parser.add_argument("--seek", type=float, default=0, help="start of the window in seconds")
    parser.add_argument("--language", default="en")
    parser.add_argument("--task", default="transcribe")
    parser.add_argument("--timestamps", action="store_true", help="a prompt that asks for them")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--silence", action="store_true",
                        help="after the end of the recording the mel of silence (as its `decode` "
                             "gets it from padded audio), not zeros (as its `transcribe` does)")
    return parser.parse_args()


def window_of(audio, seek_s, dims, silence):
    """One window as the reference cuts it: the floor comes from the whole recording."""
    n_frames = 2 * dims.n_audio_ctx
    mel = whisper.log_mel_spectrogram(audio, dims.n_mels, padding=whisper.audio.N_SAMPLES)
    t0, end = round(seek_s * 100), mel.shape[-1] - (0 if silence else whisper.audio.N_FRAMES)
    return whisper.pad_or_trim(mel[:, t0:min(end, t0 + n_frames)], n_frames)


def prompt_of(model, args):
    tokenizer = get_tokenizer(model.is_multilingual, num_languages=model.num_languages,
                              language=args.language, task=args.task)
    return list(tokenizer.sot_sequence if args.timestamps
                else tokenizer.sot_sequence_including_notimestamps)


@torch.no_grad()
def main():
    args = arguments()
    model = reference.load_model(args.model)
    mel = window_of(whisper.load_audio(args.audio), args.seek, model.dims, args.silence)
    tokens = prompt_of(model, args)
    n_prompt = len(tokens)
    with reference.taps(model) as taps:
        audio = model.encoder(mel[None])
        logits = model.decoder(torch.tensor([tokens]), audio)
        for _ in range(args.steps):
            tokens.append(int(logits[0, -1].argmax()))
            logits = model.decoder(torch.tensor([tokens]), audio)
    np.savez_compressed(args.out, mel=mel.numpy(), **taps, prompt=np.array(tokens[:n_prompt]),
                        raw_greedy_ids=np.array(tokens[n_prompt:]))
    print(f"{args.out}: {len(taps) + 1} taps of {model.dims}")


if __name__ == "__main__":
    main()
