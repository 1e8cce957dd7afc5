#include "convert/gguf_source.h"

#include <algorithm>

#include "convert/model_file.h"

namespace transcribe {

namespace {

bool is_bulk(std::string_view key) {
    constexpr std::string_view bulk[] = {"tokenizer.ggml.tokens", "tokenizer.ggml.scores",
                                         "tokenizer.ggml.token_type", "tokenizer.ggml.merges",
                                         "tokenizer.chat_template"};
    return std::ranges::find(bulk, key) != std::end(bulk);
}

std::string own_name(const Gguf& file) {
    Problems ignored;
    return KvReader(file, ignored).str_or("general.name", "model");
}

}  // namespace

Expected<Checkpoint> open_gguf(const std::string& path) {
    Checkpoint out;
    out.format = Checkpoint::Format::gguf;
    out.directory = path;
    TRY_SET(out.gguf, open_model_file(path));
    for (const GgufTensor& tensor : out.gguf->tensors()) {
        SourceTensor& source = out.tensors[tensor.name];
        source.type = tensor.dtype;
        source.shape.assign(tensor.shape.rbegin(), tensor.shape.rend());
        source.data = tensor.data;
    }
    return out;
}

Expected<ModelPlan> plan_gguf(const Checkpoint& from, const std::string& name) {
    ModelPlan plan;
    plan.name = name.empty() ? own_name(*from.gguf) : name;
    for (const GgufKeyBytes& key : from.gguf->keys()) {
        if (key.name == "general.alignment") continue;  // the written file has its own
        auto& keys = is_bulk(key.name) ? plan.bulk_keys : plan.keys;
        bool renamed = key.name == "general.name" && !name.empty();
        keys.push_back({std::string(key.name), key.value});
        if (renamed) keys.back().value = name;
    }
    for (const GgufTensor& tensor : from.gguf->tensors()) {
        PlannedTensor& planned = plan.tensors.emplace_back();
        planned.name = tensor.name;
        planned.source = from.find(tensor.name);
        planned.shape = planned.source->shape;
    }
    return plan;
}

}  // namespace transcribe
