// Canary-Qwen without its network: prompts, limits, pieces of recordings, and what becomes of
// texts.
#include <gtest/gtest.h>

#include <cmath>

#include "families/canary_qwen/config.h"
#include "families/canary_qwen/prompt.h"
#include "families/canary_qwen/transcribing.h"
#include "text/byte_alphabet.h"

namespace transcribe::canary_qwen {
namespace {

// All 256 bytes, and what frames a conversation.
struct Words {
    std::unique_ptr<const Tokenizer> tokenizer;
    Config config;

    Words() {
        Vocabulary v{"gpt2", "qwen2", {}, std::vector<int>(256, 1), {}};
        for (int byte = 0; byte < 256; byte++) {
            v.tokens.push_back(piece_of_bytes(std::string(1, static_cast<char>(byte))));
        }
        for (const char* marker : {"<|im_start|>", "<|im_end|>", "<|audioplaceholder|>"}) {
            v.tokens.push_back(marker);
            v.types.push_back(3);
        }
        v.tokens.push_back("<|unused_259|>");
        v.types.push_back(3);
        tokenizer = *Tokenizer::make(std::move(v));
        config.im_start = 256;
        config.im_end = 257;
    }

    // Tokens as text; markers as they are written.
    std::string text(const std::vector<int>& ids) const {
        std::string out;
        for (int id : ids) {
            if (id == 256) out += "<|im_start|>";
            if (id == 257) out += "<|im_end|>";
            out += tokenizer->bytes(id);
        }
        return out;
    }
};

TEST(CanaryQwenPrompt, IsTheOneOfTheTraining) {
    Words words;
    Prompt prompt = make_prompt(words.config, *words.tokenizer, "");
    EXPECT_EQ(words.text(prompt.before), "<|im_start|>user\nTranscribe the following: ");
    EXPECT_EQ(words.text(prompt.after), "<|im_end|>\n<|im_start|>assistant\n");
}

TEST(CanaryQwenPrompt, OfACallerHasTheAudioWhereHeSaysAndNoMarkers) {
    Words words;
    Prompt prompt =
        make_prompt(words.config, *words.tokenizer, "Hear:<|audioplaceholder|>, slowly");
    EXPECT_EQ(words.text(prompt.before), "<|im_start|>user\nHear:");
    EXPECT_EQ(words.text(prompt.after), ", slowly<|im_end|>\n<|im_start|>assistant\n");
    prompt = make_prompt(words.config, *words.tokenizer, "Hear<|im_end|>");
    EXPECT_EQ(words.text(prompt.before), "<|im_start|>user\nHear<|im_end|> ");
    EXPECT_EQ(std::count(prompt.before.begin(), prompt.before.end(), 257), 0);
}

TEST(CanaryQwenPrompt, HoldsTheFramesOfTheAudio) {
    Words words;
    Prompt prompt = make_prompt(words.config, *words.tokenizer, "");
    std::vector<float> audio(6);
    LmPrompt whole = prompt.with(audio, 3);
    EXPECT_EQ(whole.ids.size(), static_cast<size_t>(prompt.n_tokens()) + 3);
    EXPECT_EQ(whole.others_at, prompt.before.size());
    EXPECT_EQ(whole.others.size(), 6u);
}

TEST(CanaryQwenPrompt, WithoutAudioIsWhatTheUserSays) {
    Words words;
    EXPECT_EQ(words.text(make_chat(words.config, *words.tokenizer, "Who?")),
              "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n");
}

TEST(CanaryQwenLimits, WhatFitsHasRoomForItsFramesAndItsText) {
    for (int n_ctx : {150, 256, 1024, 40960}) {
        for (int n_prompt : {15, 60}) {
            i64 ms = max_audio_ms(n_ctx, n_prompt);
            i64 n_frames = (ms * 16 / 160 + 7) / 8;
            EXPECT_LE(n_prompt + n_frames + n_text_tokens_max(ms), n_ctx) << n_ctx;
            EXPECT_GE(n_prompt + n_frames + n_text_tokens_max(ms + 1500), n_ctx) << n_ctx;
        }
    }
    EXPECT_EQ(max_audio_ms(64, 15), 0);
    EXPECT_GE(max_audio_ms(1024, 15), piece_ms_max);  // as the model was trained
}

std::vector<float> loud(size_t n) {
    std::vector<float> samples(n);
    for (size_t i = 0; i < n; i++) samples[i] = 0.5f + static_cast<float>(i % 100) / 1000;
    return samples;
}

TEST(CanaryQwenPieces, AreTheSamplesOfTheirSpans) {
    std::vector<float> samples = loud(16000);
    MemorySource source(samples);
    Recording recording{&source, {{0, 250}, {300, 400}, {400, 1200}}};
    PieceReader reader(recording, 1000);
    EXPECT_EQ(reader.longest_ms(), 800);
    std::vector<std::pair<size_t, size_t>> bounds{{0, 4000}, {4800, 6400}, {6400, 16000}};
    for (auto [from, to] : bounds) {
        auto piece = reader.next();
        ASSERT_TRUE(piece && *piece);
        EXPECT_EQ((*piece)->samples,
                  std::vector<float>(samples.begin() + i64(from), samples.begin() + i64(to)));
    }
    auto none = reader.next();
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    EXPECT_EQ(reader.n_samples(), 16000);
}

TEST(CanaryQwenPieces, AWholeRecordingIsOne) {
    std::vector<float> samples = loud(8000);
    MemorySource source(samples);
    Recording recording{&source, {}};
    PieceReader reader(recording, 1000);
    EXPECT_EQ(reader.total_s(), 0);
    EXPECT_EQ((*reader.next())->samples, samples);
    EXPECT_EQ(reader.total_s(), 0.5);
    PieceReader too_long(recording, 400);
    ASSERT_TRUE(source.rewind());
    EXPECT_FALSE(too_long.next());
}

TEST(CanaryQwenPieces, SamplesThatAreNoNumbersAreAFault) {
    std::vector<float> samples = loud(8000);
    samples[5000] = std::nanf("");
    MemorySource source(samples);
    Recording recording{&source, {{0, 100}, {250, 500}}};
    PieceReader reader(recording, 1000);
    ASSERT_TRUE(reader.next());
    auto fault = reader.next();
    ASSERT_FALSE(fault);
    EXPECT_EQ(fault.error().what, "sample 5000 of the recording is not finite");
}

Said said(std::vector<int> tokens, Said::End end) {
    std::vector<float> logprobs(tokens.size(), -0.5f);
    return {std::move(tokens), std::move(logprobs), -1.0f, end};
}

TEST(CanaryQwenTexts, BecomeSegmentsWithTheTimesOfTheirPieces) {
    Words words;
    std::vector<float> samples = loud(32000);
    MemorySource source(samples);
    Recording recording{&source, {{0, 1000}, {1000, 2000}}};
    std::vector<Segment> heard;
    Options options;
    options.on_segment = [&](int, const Segment& segment) { heard.push_back(segment); };
    Transcribing form(recording, options, 0);
    form.limit(5000, 15, 1024);
    for (const char* text : {" one ", "two"}) {
        TimeSpan span = form.next()->span;
        std::vector<int> tokens = words.tokenizer->encode(text);
        tokens.push_back(259);  // stands for nothing
        form.accept(span, said(std::move(tokens), Said::End::by_itself), *words.tokenizer);
    }
    EXPECT_EQ(form.next(), nullptr);
    form.interrupt({Code::aborted, "cancelled"});  // too late
    Transcript transcript = form.take({});
    EXPECT_EQ(transcript.text, "one two");
    EXPECT_EQ(transcript.outcome, Outcome::complete);
    EXPECT_EQ(transcript.duration_s, 2);
    ASSERT_EQ(heard.size(), 2u);
    EXPECT_EQ(heard[1].text, " two");
    EXPECT_EQ(heard[1].t0_ms, 1000);
    EXPECT_EQ(heard[1].t1_ms, 2000);
    EXPECT_NEAR(heard[1].token_probabilities[0], std::exp(-0.5f), 1e-6);
}

TEST(CanaryQwenTexts, ThatDidNotEndAreTruncatedAndSaySo) {
    Words words;
    for (auto [end, why] : {std::pair{Said::End::at_the_limit, "limit of 3 tokens"},
                            {Said::End::in_a_loop, "repeated itself"}}) {
        std::vector<float> samples = loud(16000);
        MemorySource source(samples);
        Recording recording{&source, {}};
        Options options;
        Transcribing form(recording, options, 0);
        form.limit(5000, 15, 1024);
        form.accept(form.next()->span, said(words.tokenizer->encode("one"), end), *words.tokenizer);
        Transcript transcript = form.take({});
        EXPECT_EQ(transcript.outcome, Outcome::truncated);
        EXPECT_EQ(transcript.text, "one");
        EXPECT_NE(transcript.note.find(why), std::string::npos) << transcript.note;
    }
}

TEST(CanaryQwenTexts, ACancelledRecordingKeepsWhatItHas) {
    Words words;
    std::vector<float> samples = loud(16000);
    MemorySource source(samples);
    Recording recording{&source, {}};
    Options options;
    Transcribing form(recording, options, 0);
    form.limit(5000, 15, 1024);
    form.accept(form.next()->span, said(words.tokenizer->encode("on"), Said::End::cut_short),
                *words.tokenizer);
    form.interrupt({Code::aborted, "cancelled"});
    Transcript transcript = form.take({});
    EXPECT_EQ(transcript.text, "on");
    EXPECT_EQ(transcript.error.code, Code::aborted);
    EXPECT_EQ(transcript.outcome, Outcome::truncated);
}

}  // namespace
}  // namespace transcribe::canary_qwen
