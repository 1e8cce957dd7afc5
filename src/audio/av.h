// FFmpeg's objects with owners, and its error codes in words.
#pragma once

#include <memory>
#include <mutex>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/log.h>
}

namespace transcribe::av {

template <auto free>
struct FreeBy {
    template <class T>
    void operator()(T* p) const {
        free(&p);
    }
};
inline void free_io(AVIOContext** io) {
    if (*io) av_freep(&(*io)->buffer);
    avio_context_free(io);
}
using Container = std::unique_ptr<AVFormatContext, FreeBy<avformat_close_input>>;
using Io = std::unique_ptr<AVIOContext, FreeBy<free_io>>;
using Codec = std::unique_ptr<AVCodecContext, FreeBy<avcodec_free_context>>;
using Packet = std::unique_ptr<AVPacket, FreeBy<av_packet_free>>;
using Frame = std::unique_ptr<AVFrame, FreeBy<av_frame_free>>;
using Settings = std::unique_ptr<AVDictionary, FreeBy<av_dict_free>>;

// FFmpeg writes to standard error by default.
inline void silence() {
    static std::once_flag silenced;
    std::call_once(silenced, [] { av_log_set_level(AV_LOG_QUIET); });
}

inline std::string reason(int error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = {};
    av_strerror(error, text, sizeof text);
    return text;
}

// For AVFormatContext::io_open: a container opens no further file.
inline int refuse_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
    return AVERROR(EACCES);
}

}  // namespace transcribe::av
