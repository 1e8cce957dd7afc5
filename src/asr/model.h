// The interface a family implements: a Model is immutable and shared, a Worker is the family's half
// of one session.
#pragma once

#include <memory>
#include <span>
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
};

class Model {
  public:
    virtual ~Model() = default;
    virtual const ModelInfo& info() const = 0;
    // A worker that decodes up to `batch_size` windows at once.
    virtual Expected<std::unique_ptr<Worker>> worker(Compute&, int batch_size) const = 0;
};

struct Family {
    const char* arch;  // general.architecture
    Expected<std::shared_ptr<const Model>> (*load)(Loader&);
};

}  // namespace transcribe
