/* Command line options as NVIDIA's samples read them: -name and -name=value. */
#ifndef WARPSMITH_HELPER_STRING_H
#define WARPSMITH_HELPER_STRING_H

#include <stdlib.h>
#include <string.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

/* The text after `-name` in the options, or nullptr. */
inline const char *ws_option(int count, const char **words, const char *name) {
    const size_t length = strlen(name);
    for (int i = 1; i < count; ++i) {
        const char *word = words[i];
        while (*word == '-') ++word;
        if (strncmp(word, name, length) == 0 && (word[length] == 0 || word[length] == '=')) return word + length;
    }
    return nullptr;
}
inline bool checkCmdLineFlag(int count, const char **words, const char *name) { return ws_option(count, words, name); }
inline int getCmdLineArgumentInt(int count, const char **words, const char *name) {
    const char *value = ws_option(count, words, name);
    return value && *value ? atoi(value + 1) : 0;
}
inline float getCmdLineArgumentFloat(int count, const char **words, const char *name) {
    const char *value = ws_option(count, words, name);
    return value && *value ? (float)atof(value + 1) : 0.0f;
}
inline bool getCmdLineArgumentString(int count, const char **words, const char *name, char **value) {
    const char *found = ws_option(count, words, name);
    *value = found && *found ? const_cast<char *>(found + 1) : nullptr;
    return *value != nullptr;
}

#endif
