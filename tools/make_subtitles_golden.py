#!/usr/bin/env python3
"""What openai-whisper's subtitle writers make of results with word times, for the unit tests.

    pip install openai-whisper
    tools/make_subtitles_golden.py > tests/unit/data/subtitles.json

The results are invented (seeded): words of many lengths, pauses over 3 s, segments of one word, and
Chinese, where a word is one character.
"""
import io
import json
import random

from whisper.utils import WriteSRT, WriteVTT

OPTIONS = [
    {},
    {"max_line_width": 24},
    {"max_line_width": 8},
    {"max_line_count": 2},
    {"max_line_width": 24, "max_line_count": 1},
    {"max_line_width": 24, "max_line_count": 2},
    {"max_line_width": 42, "max_line_count": 2},
    {"max_words_per_line": 1},
    {"max_words_per_line": 4},
    {"max_words_per_line": 3, "max_line_width": 12},
    {"max_words_per_line": 3, "max_line_width": 12, "max_line_count": 2},
    {"highlight_words": True},
    {"highlight_words": True, "max_words_per_line": 3},
    {"highlight_words": True, "max_line_width": 16, "max_line_count": 2},
]
TEXTS = {
    "english": " Well, I'd say that the extraordinarily long Donaudampfschifffahrtsgesellschaft"
               " is a fine word. No? Yes! It goes on for a while, does it not, and then on and on."
               " End",
    "german": " Übermäßig große Öfen heizen schön. Ach so, naja; wir werden's ja sehen.",
    "chinese": "今天天气很好，我们去公园散步吧。你觉得怎么样？好的，走吧。",
}


def words(text):
    return [" " + w for w in text.split()] if " " in text else list(text)


def result(text, rng):
    """Segments of 1 to 12 words, most words without a gap to the next."""
    rest, at, segments = words(text), 0.5, []
    while rest:
        n = rng.randint(1, 12)
        timed = []
        for word in rest[:n]:
            at += rng.choice([0, 0, 0, 0.1, 0.5, 3.2, 4])
            end = at + rng.choice([0.08, 0.2, 0.36, 0.5])
            timed.append({"word": word, "start": round(at, 2), "end": round(end, 2)})
            at = end
        rest = rest[n:]
        segments.append({"start": timed[0]["start"], "end": timed[-1]["end"], "words": timed,
                         "text": "".join(w["word"] for w in timed)})
    return {"segments": segments}


def written(writer, value, options):
    file = io.StringIO()
    writer(".").write_result(value, file, options)
    return file.getvalue()


def main():
    rng = random.Random(7)
    results = {name: result(text, rng) for name, text in TEXTS.items()}
    cases = [{"result": name, "options": options, "srt": written(WriteSRT, value, options),
              "vtt": written(WriteVTT, value, options)}
             for name, value in results.items() for options in OPTIONS]
    print(json.dumps({"results": results, "cases": cases}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
