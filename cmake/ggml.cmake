find_package(ggml 0.20 REQUIRED)
