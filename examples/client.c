/* Drives server.c and says how often each of its functions must have been called for that.
 *
 *   gcc -O2 -o client client.c
 *   ./client PORT [CONNECTIONS [REQUESTS]]     (4 connections at a time, of 250 requests each)
 *
 * Prints lines "function calls", or fails if a reply is not the expected one.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GET, GET_MISSING, SET, SUM, COUNT, KINDS };
static const char *const replies[KINDS] = {"VALUE value-", "NONE", "STORED", "SUM ", "WORDS 3, of "};

static void fail(const char *what)
{
    fprintf(stderr, "client: %s\n", what);
    exit(1);
}

/* Writes request number i of a connection. Six of ten read, two write, and the costly ones differ in length. */
static int make_request(int connection, int i, char *line)
{
    switch (i % 10) {
    case 3:
    case 8:
        sprintf(line, "SET client-%d-%d some value\n", connection, i);
        return SET;
    case 5:
        sprintf(line, "GET no such key %d\n", i);
        return GET_MISSING;
    case 4:
        strcpy(line, "COUNT the");
        for (int words = 0; words < 20 + i; words++) strcat(line, words % 3 ? " quick" : words % 2 ? " fox" : " the");
        strcat(line, "\n");
        return COUNT;
    case 9:
        sprintf(line, "SUM %0*d\n", 10 + 2 * i, i);
        return SUM;
    default:
        sprintf(line, "GET key-%d\n", (connection * 7919 + i * 104729) % 2000);
        return GET;
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) fail("usage: client PORT [CONNECTIONS [REQUESTS]]");
    int connections = argc > 2 ? atoi(argv[2]) : 4, requests = argc > 3 ? atoi(argv[3]) : 250, count[KINDS] = {0};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(atoi(argv[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    FILE **server = calloc(connections, sizeof *server);
    for (int c = 0; c < connections; c++) {
        int file = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(file, (struct sockaddr *)&address, sizeof address)) fail("no server answers at that port");
        server[c] = fdopen(file, "r+");
        setvbuf(server[c], NULL, _IOLBF, 0);
    }
    for (int i = 0; i < requests; i++)
        for (int c = 0; c < connections; c++) {
            char request[4096], reply[4096];
            int kind = make_request(c, i, request);
            count[kind]++;
            fputs(request, server[c]);
            fflush(server[c]);
            if (!fgets(reply, sizeof reply, server[c])) fail("the server closed a connection");
            if (strncmp(reply, replies[kind], strlen(replies[kind])) != 0) fail(reply);
        }
    for (int c = 0; c < connections; c++) fclose(server[c]);

    int all = connections * requests;
    printf("handle_request %d\nparse_request %d\nformat_reply %d\n", all, all, all);
    printf("lookup %d\ninsert %d\nset_value %d\n", count[GET] + count[GET_MISSING] + count[SET], count[SET], count[SET]);
    printf("checksum %d\ncount_words %d\n", count[SUM], count[COUNT]);
    return 0;
}
