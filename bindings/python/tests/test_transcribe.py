"""The package over the library, with the committed twin; run by ctest:
test_transcribe.py LIBRARY TWIN_MODEL AUDIO"""
from __future__ import annotations

import asyncio
import os
import pathlib
import pickle
import sys
import threading
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

LIBRARY, TWIN, AUDIO = sys.argv[1:4]
os.environ["TRANSCRIBE_LIBRARY"] = LIBRARY
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import transcribe  # noqa: E402


def sound(seconds: float, hz: float = 440) -> np.ndarray:
    t = np.arange(int(seconds * 16000)) / 16000
    return (0.3 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.model = transcribe.Model(TWIN, n_threads=1)

    def test_a_model_says_what_it_can(self) -> None:
        info = self.model.info
        self.assertEqual((info.family, info.languages), ("whisper", ("en", "zh", "de")))
        self.assertEqual((info.timestamps, info.sample_rate), ("word", 16000))

    def test_a_model_is_read_from_bytes_and_publishes_its_limits(self) -> None:
        own = transcribe.Model(pathlib.Path(TWIN).read_bytes(), precision="f32", n_threads=1)
        self.assertEqual(own.info.max_audio_ms, 0)
        self.assertEqual(own.limits.max_audio_ms, 0)
        self.assertGreater(own.limits.cache_bytes_max, 0)
        with self.assertRaisesRegex(transcribe.TranscribeError, "precision is none of auto, f32"):
            transcribe.Model(TWIN, precision="f12")

    def test_a_file_has_text_segments_words_and_subtitles(self) -> None:
        talk = self.model.transcribe(AUDIO, word_timestamps=True)
        self.assertAlmostEqual(talk.duration, 10.06, delta=0.1)
        self.assertTrue(talk.segments and talk.words)
        self.assertEqual(list(talk), list(talk.segments))
        self.assertTrue(talk.to_srt().startswith("1\n00:00:0"))
        self.assertIn('"segments"', talk.to_json())
        for word in talk.words:
            self.assertLessEqual(word.start, word.end)
        for segment in talk:
            self.assertEqual(len(segment.tokens), len(segment.token_probabilities))

    def test_segments_come_as_they_are_in_the_transcript(self) -> None:
        whole = self.model.transcribe(AUDIO)
        self.assertEqual(tuple(self.model.segments(AUDIO)), whole.segments)
        told: list[transcribe.Segment] = []
        done: list[float] = []
        self.model.transcribe(AUDIO, on_segment=told.append, on_progress=done.append)
        self.assertEqual(tuple(told), whole.segments)
        self.assertEqual((done, done[-1]), (sorted(done), 1))

    def test_leaving_the_loop_ends_the_run_and_not_the_model(self) -> None:
        for segment in self.model.segments(sound(300)):
            break
        self.assertTrue(self.model.transcribe(sound(2)).segments)

    def test_arrays_of_any_rate_type_and_channels(self) -> None:
        mono = sound(2)
        expected = self.model.transcribe(mono).text
        self.assertEqual(self.model.transcribe(mono.astype(np.float64)).text, expected)
        ints = np.round(mono * 32768).astype(np.int16)
        near = self.model.transcribe(ints.astype(np.float32) / 32768).text
        self.assertEqual(self.model.transcribe(ints).text, near)
        stereo = np.repeat(np.stack([mono, mono], axis=1), 3, axis=0)  # 48 kHz
        self.assertAlmostEqual(self.model.transcribe(stereo, rate=48000).duration, 2, delta=0.01)
        with self.assertRaises(transcribe.InvalidArgument):
            self.model.transcribe(np.zeros((2, 2, 2)))
        with self.assertRaises(transcribe.InvalidArgument):
            self.model.transcribe(np.array([0, np.nan], dtype=np.float32))
        self.assertEqual(self.model.transcribe(np.zeros(0, dtype=np.float32)).text, "")

    def test_a_batch_goes_on_past_a_fault(self) -> None:
        a, lost, b = self.model.transcribe_batch([sound(2), "no/such/file.wav", AUDIO])
        self.assertIsNone(a.error)
        self.assertIsInstance(lost.error, transcribe.ModelNotFound)
        self.assertEqual(b.text, self.model.transcribe(AUDIO).text)

    def test_each_fault_has_its_exception(self) -> None:
        with self.assertRaisesRegex(transcribe.ModelNotFound, "no-such-model"):
            transcribe.Model("no-such-model", offline=True)
        with self.assertRaises(transcribe.BadModel):
            transcribe.Model(AUDIO)
        with self.assertRaisesRegex(transcribe.UnsupportedLanguage, "klingon"):
            self.model.transcribe(AUDIO, language="klingon")
        with self.assertRaisesRegex(ValueError, "beam_size"):
            self.model.transcribe(AUDIO, beam_size=-1)
        with self.assertRaises(transcribe.InvalidArgument):
            self.model.transcribe(AUDIO, task="sing")
        with self.assertRaises(TypeError):
            self.model.transcribe(AUDIO, no_such_option=1)  # type: ignore[call-arg]

    def test_what_a_callback_raises_comes_out(self) -> None:
        def stop(segment: transcribe.Segment) -> None:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.model.transcribe(sound(60), on_segment=stop)

    def test_threads_share_the_model_and_agree(self) -> None:
        expected = self.model.transcribe(sound(3)).text
        texts: list[str] = []
        threads = [threading.Thread(
            target=lambda: texts.append(self.model.transcribe(sound(3)).text)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, [expected] * 4)

    def test_async_runs_and_is_cancelled(self) -> None:
        async def work() -> None:
            both = await asyncio.gather(self.model.transcribe_async(sound(2)),
                                        self.model.transcribe_async(sound(2)))
            self.assertEqual(both[0].text, both[1].text)
            task = asyncio.ensure_future(self.model.transcribe_async(sound(300)))
            await asyncio.sleep(0.2)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(work())

    def test_a_stream_commits_what_its_transcript_holds(self) -> None:
        stream = self.model.stream()
        said = "".join(stream.feed(part).committed for part in np.split(sound(4), 8))
        said += stream.finish().committed
        self.assertEqual(said, "".join(s.text for s in stream.transcript().segments))

    def test_a_transcript_survives_pickling(self) -> None:
        talk = self.model.transcribe(sound(2))
        copy = pickle.loads(pickle.dumps(talk))
        self.assertEqual(copy, talk)
        self.assertEqual(copy.to_srt(), talk.to_srt())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
