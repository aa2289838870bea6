/* A program to measure, and a server that forks for everyone who asks and goes on working after it has answered.
 *
 *   cc -g -finstrument-functions -o asked asked.c
 *
 *   asked work N         calls `answer` N times, and that calls `part` twice each time
 *   asked serve SOCKET   a child for each connection: reads N, calls `answer` N times, answers, and 30 ms later, when the
 *                        asker has long gone, calls `tidy` three times
 *   asked ask SOCKET N   asks it; nothing of this is instrumented
 *   asked leave SOCKET   leaves a socket that nobody serves */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))

static volatile int sum;

APART static void part(void) { sum++; }
APART static void tidy(void) { sum++; }

APART static void answer(void)
{
    part();
    part();
}

UNSEEN static int open_socket(const char *path, int serves)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int it = socket(AF_UNIX, SOCK_STREAM, 0);
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (serves ? bind(it, (void *)&address, sizeof address) || listen(it, 10) : connect(it, (void *)&address, sizeof address)) {
        perror(path);
        exit(1);
    }
    return it;
}

UNSEEN static int serve(const char *path)
{
    int listening = open_socket(path, 1);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int asker = accept(listening, 0, 0), count = 0;
        if (asker < 0) return 1;
        if (fork()) {
            close(asker);
            continue;
        }
        if (read(asker, &count, sizeof count) != sizeof count) _exit(1);
        while (count-- > 0) answer();
        if (write(asker, "", 1) != 1) _exit(1);
        close(asker);
        usleep(30000);
        for (int i = 0; i < 3; i++) tidy();
        _exit(0);
    }
}

UNSEEN int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[argc - 1]) : 0;
    char done;
    if (argc == 3 && !strcmp(argv[1], "work")) {
        while (count-- > 0) answer();
        return 0;
    }
    if (argc == 3 && !strcmp(argv[1], "serve")) return serve(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "leave")) return open_socket(argv[2], 1) < 0;
    if (argc != 4 || strcmp(argv[1], "ask")) return 2;
    int server = open_socket(argv[2], 0);
    return !(write(server, &count, sizeof count) == sizeof count && read(server, &done, 1) == 1);
}
