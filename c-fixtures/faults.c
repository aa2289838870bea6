/*
 * A server (HTTP/1.1, a thread for each connection) with one fault, which load brings out.
 *
 *   cc -g -pthread -finstrument-functions faults.c -o faults
 *
 * faults [FAULT] writes its port, serves until its standard input ends, and writes what it has served. FAULT is none, or:
 *
 *   lock    update_totals holds its lock the longer, the more requests there were of late
 *   list    find_session walks a list that grows with each request
 *   cache   load_page has room for 16 pages; when more are asked for in turn, each is read again by read_page
 *   pause   collect stops all every tenth of a second, for the longer, the more requests there were
 *   storm   ask_backend fails when it is asked more than 8 times in a tenth of a second, and is asked again, up to ten times
 *   leak    above 80 requests a second, every fourth does not give its connection to a database back; take_connection waits until
 *           one of eight is free, or was taken 200 ms ago
 *   stall   every second nothing is answered for its first 200 ms, whatever the load
 *
 * GET /status/N is answered with that status, /chunks in chunks, /late/MS after so many milliseconds; /shut is not answered,
 * /noise is with what is no HTTP, and /last closes the connection after the answer.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define QUIET __attribute__((no_instrument_function))

enum fault { NONE, LOCK, LIST, CACHE, PAUSE, STORM, LEAK, STALL };
static const char *const names[] = {"none", "lock", "list", "cache", "pause", "storm", "leak", "stall"};
static enum fault fault;

static atomic_long requests, connections, bytes_read;

QUIET static long now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

QUIET static void rest(long us) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/* Requests in the last full tenth of a second. */
static atomic_long tenth, in_tenth, of_late;

QUIET static long count_request(void) {
    long now = now_us() / 100000, before = atomic_load(&tenth);
    if (now != before && atomic_compare_exchange_strong(&tenth, &before, now)) {
        long count = atomic_exchange(&in_tenth, 0);
        atomic_store(&of_late, now == before + 1 ? count : 0);
    }
    atomic_fetch_add(&in_tenth, 1);
    return atomic_load(&of_late);
}

static pthread_mutex_t totals = PTHREAD_MUTEX_INITIALIZER;

static void update_totals(long late) {
    pthread_mutex_lock(&totals);
    if (fault == LOCK)
        rest(100 * late);
    pthread_mutex_unlock(&totals);
}

struct session { struct session *next; long id; };
static struct session *sessions;
static pthread_mutex_t of_sessions = PTHREAD_MUTEX_INITIALIZER;

static long find_session(long id) {
    long found = 0;
    pthread_mutex_lock(&of_sessions);
    for (struct session *one = sessions; one; one = one->next)
        found += one->id == id;
    if (fault == LIST || !sessions) {
        struct session *more = calloc(500, sizeof *more);
        for (int i = 0; i < 500; i++)
            more[i] = (struct session){i + 1 < 500 ? &more[i + 1] : sessions, id};
        sessions = more;
    }
    pthread_mutex_unlock(&of_sessions);
    return found;
}

#define PAGES 16
static long pages[PAGES];
static pthread_mutex_t of_pages = PTHREAD_MUTEX_INITIALIZER;

static void read_page(void) {
    rest(2000);
}

static void load_page(long id, long late) {
    long page = fault == CACHE ? id % (late + 1) + 1 : 1;
    int is_there = 0;
    pthread_mutex_lock(&of_pages);
    for (int i = 0; i < PAGES; i++)
        is_there |= pages[i] == page;
    if (!is_there) {
        memmove(pages + 1, pages, sizeof pages - sizeof *pages); /* the oldest goes */
        pages[0] = page;
    }
    pthread_mutex_unlock(&of_pages);
    if (!is_there)
        read_page();
}

static pthread_mutex_t world = PTHREAD_MUTEX_INITIALIZER;
static long collected;

/* Whoever comes meanwhile waits in here, too. */
static void collect(long late) {
    long now = now_us() / 100000;
    pthread_mutex_lock(&world);
    if (fault == PAUSE && now != collected) {
        collected = now;
        rest(late * late * 20);
    }
    pthread_mutex_unlock(&world);
}

static atomic_long asked_tenth, asked;

/* Whether it had time for that. */
static int ask_backend(void) {
    if (fault != STORM)
        return 1;
    long now = now_us() / 100000, before = atomic_load(&asked_tenth);
    if (now != before && atomic_compare_exchange_strong(&asked_tenth, &before, now))
        atomic_store(&asked, 0);
    rest(1000);
    return atomic_fetch_add(&asked, 1) < 8;
}

static void fetch_price(void) {
    for (int again = 0; !ask_backend() && again < 10; again++) {
    }
}

#define POOL 8
static struct { int is_taken, is_leaked; long since; } pool[POOL];
static pthread_mutex_t of_pool = PTHREAD_MUTEX_INITIALIZER;

static int take_connection(void) {
    while (fault == LEAK) {
        long now = now_us();
        pthread_mutex_lock(&of_pool);
        for (int i = 0; i < POOL; i++) {
            if (!pool[i].is_taken || (pool[i].is_leaked && now - pool[i].since > 200000)) {
                pool[i].is_taken = 1, pool[i].is_leaked = 0, pool[i].since = now;
                pthread_mutex_unlock(&of_pool);
                return i;
            }
        }
        pthread_mutex_unlock(&of_pool);
        rest(1000);
    }
    return 0;
}

static void give_back(int connection, long id, long late) {
    if (fault != LEAK)
        return;
    pthread_mutex_lock(&of_pool);
    if (late > 8 && id % 4 == 0)
        pool[connection].is_leaked = 1;
    else
        pool[connection].is_taken = 0;
    pthread_mutex_unlock(&of_pool);
}

static long render(char *body) {
    long sum = 0;
    for (int i = 0; i < 5000; i++)
        sum += body[i % 64] ^ i;
    return sum;
}

QUIET static int send_all(int to, const char *text, size_t length) {
    for (size_t sent = 0; sent < length;) {
        ssize_t some = send(to, text + sent, length - sent, MSG_NOSIGNAL);
        if (some <= 0)
            return 0;
        sent += (size_t)some;
    }
    return 1;
}

static int answer(int to, int status, const char *more) {
    char text[256];
    int length = snprintf(text, sizeof text, "HTTP/1.1 %d Fine\r\nContent-Length: %d\r\n%s\r\n%s", status, status == 204 ? 0 : 3, more,
                          status == 204 ? "" : "ok\n");
    return send_all(to, text, (size_t)length);
}

/* Whether the connection goes on. */
static int handle_request(int from, const char *path) {
    long id = atomic_fetch_add(&requests, 1), late = count_request();
    char body[64] = {1, 2, 3};
    if (!strncmp(path, "/status/", 8))
        return answer(from, atoi(path + 8), "");
    if (!strncmp(path, "/late/", 6)) {
        rest(1000L * atoi(path + 6));
        return answer(from, 200, "");
    }
    if (!strncmp(path, "/chunks", 7)) {
        static const char text[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        return send_all(from, text, sizeof text - 1);
    }
    if (!strncmp(path, "/shut", 5))
        return 0;
    if (!strncmp(path, "/noise", 6)) {
        send_all(from, "220 ready\r\n", 11);
        return 0;
    }
    if (!strncmp(path, "/last", 5)) {
        answer(from, 200, "Connection: close\r\n");
        return 0;
    }
    if (fault == STALL && now_us() % 1000000 < 200000)
        rest(200000 - now_us() % 1000000);
    collect(late);
    find_session(id);
    load_page(id, late);
    update_totals(late);
    fetch_price();
    int connection = take_connection();
    if (fault == LEAK)
        rest(1000); /* its query */
    give_back(connection, id, late);
    render(body);
    return answer(from, 200, "");
}

/* One request after the other, as they come; a body is passed over. Most of its time it waits for them. */
static void *serve(void *argument) {
    int from = (int)(long)argument, one = 1;
    char text[16384];
    size_t held = 0;
    setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (;;) {
        text[held] = 0;
        char *end = strstr(text, "\r\n\r\n");
        if (!end) {
            ssize_t some = held + 1 < sizeof text ? read(from, text + held, sizeof text - 1 - held) : 0;
            if (some <= 0)
                break;
            held += (size_t)some;
            continue;
        }
        size_t whole = (size_t)(end + 4 - text);
        char *length = strcasestr(text, "content-length:");
        if (length && length < end)
            whole += strtoul(length + 15, NULL, 10);
        while (held < whole && held + 1 < sizeof text) {
            ssize_t some = read(from, text + held, sizeof text - 1 - held);
            if (some <= 0)
                goto closed;
            held += (size_t)some;
        }
        if (held < whole)
            break;
        atomic_fetch_add(&bytes_read, (long)whole);
        char path[64] = "";
        sscanf(text, "%*15s %63s", path);
        int is_last = !!strcasestr(text, "connection: close");
        if (!handle_request(from, path) || is_last)
            break;
        memmove(text, text + whole, held - whole);
        held -= whole;
    }
closed:
    close(from);
    return NULL;
}

QUIET static void *accept_all(void *argument) {
    int listening = (int)(long)argument;
    for (;;) {
        int from = accept(listening, NULL, NULL);
        if (from < 0)
            continue;
        pthread_t thread;
        atomic_fetch_add(&connections, 1);
        if (pthread_create(&thread, NULL, serve, (void *)(long)from))
            close(from);
        else
            pthread_detach(thread);
    }
    return NULL;
}

QUIET int main(int count, char **arguments) {
    for (int i = 0; count > 1 && i <= STALL; i++)
        if (!strcmp(arguments[1], names[i]))
            fault = (enum fault)i;
    int listening = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listening, (struct sockaddr *)&address, length) || listen(listening, 1024) ||
        getsockname(listening, (struct sockaddr *)&address, &length))
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, accept_all, (void *)(long)listening);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    char end;
    while (read(0, &end, 1) > 0) {
    }
    printf("%ld requests, %ld connections, %ld bytes\n", atomic_load(&requests), atomic_load(&connections), atomic_load(&bytes_read));
    fflush(stdout);
    _exit(0);
}
