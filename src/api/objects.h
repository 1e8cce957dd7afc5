// What the handles of the C interface stand for.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "api/edge.h"
#include "api/result.h"
#include "asr/model.h"
#include "engine/session.h"
#include "engine/stream.h"

namespace transcribe::api {

struct ModelObject {
    std::shared_ptr<const Model> model;
    std::vector<const char*> languages;  // of its info, for C
};

struct SessionObject {
    std::shared_ptr<const ModelObject> model;
    std::unique_ptr<Session> session;
    bool has_voice = false;  // a detector
    std::atomic<bool> busy = false;
};

struct StreamObject {
    std::shared_ptr<SessionObject> session;
    std::unique_ptr<Stream> stream;
    std::atomic<bool> busy = false;
    // What the last call gave:
    std::vector<Word> said;
    std::vector<transcribe_word> words;
    std::string committed, partial;
};

// One call at a time; throws TRANSCRIBE_INVALID_ARG where another one is under way.
class Turn {
  public:
    explicit Turn(std::atomic<bool>& busy) : busy_(busy) {
        need(!busy_.exchange(true), "it is at work in another call; use a session for each thread");
    }
    ~Turn() { busy_ = false; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    std::atomic<bool>& busy_;
};

// The only things of this library that live as long as the process.
Handles<ModelObject>& models();
Handles<SessionObject>& sessions();
Handles<StreamObject>& streams();
Handles<ResultObject>& results();

}  // namespace transcribe::api
