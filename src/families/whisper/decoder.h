// Decoding of windows: encode, prompt, then one step after another until every text has ended.
//
// A session owns one. Windows take seats: a seat has a row of the memory (keys and values of the
// encoder's output) and a group of rows of the self-attention cache, one for each text that its
// search follows. Seats are independent: one may begin while others are under way. The graph of a
// step is built once for each 256 cached tokens and run again and again.
#pragma once

#include <optional>

#include "asr/types.h"
#include "decode/search.h"
#include "families/whisper/align_text.h"
#include "families/whisper/config.h"

namespace transcribe::whisper {

struct Prompt {
    std::vector<int> tokens;
    int sot_at = 0;  // where start-of-transcript stands: no-speech is read there
};

class WindowDecoder {
  public:
    // With one seat.
    static Expected<std::unique_ptr<WindowDecoder>> make(Compute&, const Net&, const Config&);
    // Makes room for `n_seats` or more, and on each for searches of `n_rows` rows. No search may be
    // under way.
    Status reserve(int n_seats, int n_rows);
    // Tokens that a text may have after this prompt.
    size_t n_tokens_max(const Prompt& prompt) const;
    int n_seats() const { return memory_.sizes().n_rows; }
    size_t cache_bytes_of_seat() const {
        return (memory_.n_bytes() + seats_.self.n_bytes()) / static_cast<size_t>(n_seats());
    }
    // mel [n_mels, n_frames] -> the seat's memory.
    Status encode(const std::vector<float>& mel, int seat);
    // Probability of each language (order of Config::languages) for the seat's window.
    Expected<std::vector<float>> languages(int seat);
    // Reads the prompt and takes the first token. Gives the probability that there is no speech.
    // The search must live until it is done or the seat starts another one.
    Expected<float> start(int seat, const Prompt& prompt, Search& search);
    // One more token for every search that is not done.
    Status step();
    // Frees the seat; its memory stays until the next encode().
    void stop(int seat);
    // A whole search on the seat's window, beside those under way, which stay where they are.
    Status run_alone(int seat, const Prompt& prompt, Search& search);
    // When the tokens of a text were spoken in the seat's window; no search may be under way on it.
    Expected<TextAlignment> align(int seat, const TextToAlign& what);
    Timings timings;

    WindowDecoder(Compute&, const Net&, const Config&, KvCache self, KvCache memory);

  private:
    // Searches that are computed together: each has `n_group` rows of `self`, one group after
    // another, and the memory of a seat, from `seat_first` on.
    struct Band {
        KvCache self;
        int n_group;
        int seat_first;
        std::vector<Search*> searches;  // null where a seat is free
        StepFeed feed;
        Band(KvCache cache, int group, int n_searches)
            : self(std::move(cache)),
              n_group(group),
              seat_first(0),
              searches(static_cast<size_t>(n_searches), nullptr),
              feed(group * n_searches) {}
    };
    Expected<KvCache> self_cache(int n_rows) const;
    Expected<std::span<float>> read_prompt(Band& band, int at, const Prompt& prompt);
    Expected<float> start(Band& band, int at, const Prompt& prompt, Search& search);
    Status step(Band& band);
    void build(const Band& band, const StepShape& shape, int first_row);
    void follow(Band& band, size_t at);

    Compute& compute_;
    const Net& net_;
    const Config& config_;
    KvCache memory_;
    Band seats_;
    std::optional<Band> alone_;  // made when first needed
    StepInputs in_;              // of the graph under way
    const Band* in_band_ = nullptr;
    Tensor logits_;  // [V, P]
};

}  // namespace transcribe::whisper
