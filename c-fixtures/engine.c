/* A ClickHouse: the whole of clickhouse-local, which listens, out of the library of an npm package. `engine LIBRARY ARGUMENT…`
 * lives until its standard input ends. The last query among the arguments reads the pipe `/proc/self/fd/9`, so the engine
 * goes on until that is closed.
 *
 *   cc -pthread -o engine engine.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { QUERY = 9 };

static int story, terminal, pipe_end;

/* Closes what the engine waits for when the story that started it is over. */
static void *wait_for_the_end(void *unused) {
    char byte;
    while (read(story, &byte, 1) > 0) {
    }
    close(terminal);
    close(pipe_end);
    return unused;
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "engine LIBRARY ARGUMENT...\n"), 2;
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
    void *(*query)(int, char **) = (void *(*)(int, char **))dlsym(library, "chdb_query_cmdline");
    const char *(*error)(void *) = (const char *(*)(void *))dlsym(library, "chdb_result_error");
    if (!query || !error) return fprintf(stderr, "no engine in %s\n", argv[1]), 2;
    int ends[2];
    if (pipe(ends) || dup2(ends[0], QUERY) < 0 || (story = dup(0)) < 0) return perror("pipe"), 2;
    pipe_end = ends[1];
    /* Without a terminal, a client that resets its connection would end the engine. */
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) return perror("terminal"), 2;
    int side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (side < 0 || dup2(side, 0) < 0) return perror("terminal"), 2;
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_the_end, NULL)) return perror("thread"), 2;
    argv[1] = "clickhouse";
    void *result = query(argc - 1, argv + 1);
    const char *why = result ? error(result) : "no result";
    if (why) fprintf(stderr, "%s\n", why);
    return why != NULL;
}
