// The interface a family implements: a Model is immutable and shared, a Worker is the family's half
// of one session.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "asr/types.h"

namespace transcribe {

class Compute;  // tensor/compute.h
class Loader;   // tensor/weights.h

class Worker {
  public:
    virtual ~Worker() = default;
    // Transcribes each recording; a fault of one recording is in its own Transcript (outcome,
    // error) and the others go on. An Error ends all: backend, out_of_memory, aborted (what was
    // decoded so far stays in `out`).
    virtual Status run(std::span<const Recording> recordings, const Options&,
                       std::span<Transcript> out) = 0;
    virtual Limits limits() const = 0;
    // What the model's language model says to a text, without any sound; `max_tokens` of the
    // options counts. Errors: unsupported (it has none), invalid_argument (the text is too long),
    // backend, out_of_memory, aborted.
    virtual Expected<Answer> answer(std::string_view, const Options&) {
        return Error{Code::unsupported, "this model answers no questions: it only hears"};
    }
};

struct WorkerOptions {
    int batch_size = 1;  // windows or pieces decoded at once
    int n_ctx = 0;       // tokens that a row of a language model may hold; 0: what the model has
};

class Model {
  public:
    virtual ~Model() = default;
    virtual const ModelInfo& info() const = 0;
    // Whether the family has what these options ask for. Errors: unsupported, which names it.
    virtual Status check(const Options&) const { return {}; }
    virtual Expected<std::unique_ptr<Worker>> worker(Compute&, const WorkerOptions&) const = 0;
};

struct Family {
    const char* arch;  // general.architecture
    Expected<std::shared_ptr<const Model>> (*load)(Loader&);
    bool is_good_in_int8;  // its texts do not suffer
};

}  // namespace transcribe
