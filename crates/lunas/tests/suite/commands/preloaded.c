/* A library that is loaded before a program, as those of monitoring agents are. It takes the place of the clock, and allocates there
   and before the program begins. What it allocated is freed by itself, by the C library, and when the program ends. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEPT = 8 };

static int (*real_clock)(clockid_t, struct timespec *);
static void *kept[KEPT];

static void find_clock(void) {
    for (int i = 0; i < KEPT; i++) {
        kept[i] = malloc(100 << i);
        memset(kept[i], 1, 100 << i);
    }
    /* The C library allocates the words for what is not found, and frees them at the next call. */
    dlsym(RTLD_NEXT, "no_such_function");
    dlsym(RTLD_NEXT, "nor_this_one");
    real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t which, struct timespec *at) {
    if (!real_clock) find_clock();
    return real_clock(which, at);
}

static void give_back(void) {
    for (int i = 0; i < KEPT; i++) free(kept[i]);
}

__attribute__((constructor)) static void begin(void) {
    struct timespec now;
    void *moved = realloc(malloc(100), 5000);
    free(moved);
    free(calloc(3, 77));
    putenv(strdup("PRELOADED=1"));
    setenv("PRELOADED_TOO", "2", 1);
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < KEPT; i++) kept[i] = realloc(kept[i], 300);
    atexit(give_back);
}
