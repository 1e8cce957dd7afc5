# %% Waveform and words of a recording:  python plot_words.py MODEL AUDIO
# Cells as notebooks have them; needs matplotlib and the command `ffmpeg`.
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import transcribe

model_name, path = sys.argv[1:3]

# %% Samples, 16 kHz mono
raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-ac", "1", "-ar",
                      "16000", "-"], check=True, capture_output=True).stdout
samples = np.frombuffer(raw, dtype=np.int16)

# %% Words with their times
talk = transcribe.Model(model_name).transcribe(samples, word_timestamps=True)
print(talk.text)

# %% The plot
seconds = np.arange(len(samples)) / 16000
figure, axes = plt.subplots(figsize=(14, 3), constrained_layout=True)
axes.plot(seconds, samples / 32768, linewidth=0.4)
for i, word in enumerate(talk.words):
    axes.axvspan(word.start, word.end, alpha=0.25 * word.probability, color="C1")
    axes.text((word.start + word.end) / 2, 0.8 - 0.25 * (i % 2), word.text.strip(), ha="center")
axes.set(xlabel="seconds", ylim=(-1, 1), title=path)
figure.savefig("words.png", dpi=150)
