// The languages that Whisper knows, in the order of their tokens: <|en|> follows
// start-of-transcript. Models before large-v3 have the first 99. Names and aliases are those of the
// reference's tokenizer.py (LANGUAGES, TO_LANGUAGE_CODE), so that what users type there works here.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace transcribe {

struct Language {
    const char* code;  // "en"
    const char* name;  // "english"
};

std::span<const Language> languages();

// The code of what a user typed ("en", "EN", "English", "en-US", "castilian"); "" when unknown.
std::string language_code(std::string_view user);

// "english" for "en"; "" when unknown.
std::string language_name(std::string_view code);

}  // namespace transcribe
