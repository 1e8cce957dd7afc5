// What the command needs of the operating system, and the only place of it.
#pragma once

#include <cstdint>
#include <string_view>

namespace transcribe::cli {

bool stderr_is_terminal();
bool stdout_is_terminal();
// Whether or not anybody reads it.
void write_stderr(std::string_view text);
int stderr_columns();  // 80 where nobody knows
int stdout_columns();

// The most memory the process ever had in use; 0 where the system does not tell.
std::int64_t peak_memory_bytes();

// A write to a pipe that nobody reads fails, instead of ending the process.
void ignore_broken_pipe();

// Standard input and output carry bytes as they are; and where one of the three streams is closed,
// its number is taken, so that no file we open becomes "standard output".
void prepare_streams();

}  // namespace transcribe::cli
