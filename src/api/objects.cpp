// The tables are never destroyed: threads of the host may still be at work when it exits.
#include "api/objects.h"

namespace transcribe::api {

Handles<ModelObject>& models() {
    static auto& table = *std::make_unique<Handles<ModelObject>>().release();
    return table;
}

Handles<SessionObject>& sessions() {
    static auto& table = *std::make_unique<Handles<SessionObject>>().release();
    return table;
}

Handles<StreamObject>& streams() {
    static auto& table = *std::make_unique<Handles<StreamObject>>().release();
    return table;
}

Handles<ResultObject>& results() {
    static auto& table = *std::make_unique<Handles<ResultObject>>().release();
    return table;
}

}  // namespace transcribe::api
