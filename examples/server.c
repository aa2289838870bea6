/* A small key-value server, as an example of a program to profile: it forks a worker for each connection, and each
 * worker leaves by _exit, which loses the data of profilers that write when a program ends.
 *
 *   gcc -O2 -g -finstrument-functions -o server server.c
 *   diytrace record --root handle_request -- ./server
 *
 * It listens on a free port of 127.0.0.1, prints its number, and runs until SIGTERM. Requests are lines:
 *
 *   SET key value   ->  STORED
 *   GET key         ->  VALUE value, or NONE
 *   SUM text        ->  SUM checksum
 *   COUNT words...  ->  WORDS different, of all
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUCKETS = 256, KEYS_AT_START = 2000, LINE = 4096 };

/* ---- the table: chains of entries in buckets --------------------------------------------------------------------- */

struct entry {
    struct entry *next;
    char *key, *value;
};

static struct entry *buckets[BUCKETS];

static inline unsigned hash_key(const char *key)
{
    unsigned hash = 2166136261u;
    while (*key) hash = (hash ^ (unsigned char)*key++) * 16777619u;
    return hash % BUCKETS;
}

/* Not inlined, so that the report has a function that is called for each entry in a chain. */
__attribute__((noinline)) static int same_key(const struct entry *entry, const char *key)
{
    return strcmp(entry->key, key) == 0;
}

static struct entry *lookup(const char *key)
{
    struct entry *entry = buckets[hash_key(key)];
    while (entry && !same_key(entry, key)) entry = entry->next;
    return entry;
}

static struct entry *insert(const char *key)
{
    struct entry *entry = calloc(1, sizeof *entry), **bucket = &buckets[hash_key(key)];
    if (!entry || !(entry->key = strdup(key))) exit(1);
    entry->next = *bucket;
    return *bucket = entry;
}

static void set_value(struct entry *entry, const char *value)
{
    free(entry->value);
    entry->value = strdup(value);
}

static void fill_table(void)
{
    for (int i = 0; i < KEYS_AT_START; i++) {
        char key[32], value[32];
        snprintf(key, sizeof key, "key-%d", i);
        snprintf(value, sizeof value, "value-%d", i);
        set_value(insert(key), value);
    }
}

/* ---- what takes time --------------------------------------------------------------------------------------------- */

static unsigned checksum(const char *text)
{
    unsigned sum = 1;
    for (int round = 0; round < 50; round++)
        for (const char *at = text; *at; at++) sum = sum * 31 + (unsigned char)*at;
    return sum;
}

static int compare_words(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Sorts the words, so that equal ones stand together. */
static int count_words(char *text, int *all)
{
    char *words[LINE / 2], *rest = NULL;
    int count = 0, different = 0;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) words[count++] = word;
    qsort(words, count, sizeof *words, compare_words);
    for (int i = 0; i < count; i++) different += i == 0 || strcmp(words[i - 1], words[i]) != 0;
    *all = count;
    return different;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

struct request {
    enum { GET, SET, SUM, COUNT, UNKNOWN } verb;
    char *argument, *rest;
};

struct answer {
    const char *word, *text;
    unsigned sum;
    int different, all;
};

static struct request parse_request(char *line)
{
    static const char *const verbs[] = {"GET", "SET", "SUM", "COUNT"};
    struct request request = {UNKNOWN, "", ""};
    char *rest = line, *verb = strsep(&rest, " ");
    for (int i = 0; i < UNKNOWN; i++)
        if (strcmp(verb, verbs[i]) == 0) request.verb = i;
    if (rest) request.argument = rest;
    if (request.verb == SET) {
        strsep(&rest, " ");
        if (rest) request.rest = rest;
    }
    return request;
}

static void format_reply(const struct answer *answer, char *reply)
{
    if (answer->all) snprintf(reply, LINE, "%s %d, of %d\n", answer->word, answer->different, answer->all);
    else if (answer->sum) snprintf(reply, LINE, "%s %08x\n", answer->word, answer->sum);
    else if (answer->text) snprintf(reply, LINE, "%s %s\n", answer->word, answer->text);
    else snprintf(reply, LINE, "%s\n", answer->word);
}

static void handle_request(char *line, char *reply)
{
    struct request request = parse_request(line);
    struct answer answer = {.word = "ERROR"};
    struct entry *entry;
    switch (request.verb) {
    case GET:
        entry = lookup(request.argument);
        answer.word = entry ? "VALUE" : "NONE";
        if (entry) answer.text = entry->value;
        break;
    case SET:
        entry = lookup(request.argument);
        if (!entry) entry = insert(request.argument);
        set_value(entry, request.rest);
        answer.word = "STORED";
        break;
    case SUM:
        answer.word = "SUM";
        answer.sum = checksum(request.argument);
        break;
    case COUNT:
        answer.word = "WORDS";
        answer.different = count_words(request.argument, &answer.all);
        break;
    case UNKNOWN:
        break;
    }
    format_reply(&answer, reply);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static void serve_connection(int connection)
{
    FILE *in = fdopen(connection, "r");
    char line[LINE], reply[LINE];
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\r\n")] = 0;
        handle_request(line, reply);
        if (write(connection, reply, strlen(reply)) < 0) break;
    }
}

static volatile sig_atomic_t stopped;
static void stop(int signal) { (void)signal, stopped = 1; }

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&address, &length)) {
        perror("server");
        return 1;
    }
    fill_table();
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);   /* no SA_RESTART: accept is to return */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_IGN}, NULL); /* nobody waits for the workers */
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);

    while (!stopped) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) continue;
        if (fork() == 0) {
            serve_connection(connection);
            _exit(0);
        }
        close(connection);
    }
    return 0;
}
