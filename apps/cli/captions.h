// Text that grows, on a terminal: what is certain stands, what follows for now is dim behind it and
// drawn over. Only the last line changes.
#pragma once

#include <span>
#include <string>

#include "asr/types.h"

namespace transcribe::cli {

class Captions {
  public:
    explicit Captions(int n_columns) : n_columns_(n_columns) {}

    // What to print for words that are certain now, and the text behind them.
    std::string show(std::span<const Word> words, const std::string& partial);
    // At the end: without the dim text, with a line break.
    std::string close();

  private:
    int n_columns_;
    std::string line_;  // certain, of the last line
};

}  // namespace transcribe::cli
