/* A program that makes itself a stranger to its own profile, and then makes most of its calls, on the 8191 paths of
 * many-paths.h.
 *
 *   cc -g -finstrument-functions -o outsider outsider.c
 *
 *   outsider chroot         changes its root to an empty folder
 *   outsider user           becomes another user, with no rights
 *   outsider servants       forks eighty children, one after the other, that become another user and make the calls, too
 *   outsider crew           forks a child that becomes another user and forks eighty, one after the other, that make the calls, too
 *   outsider descriptors    closes all descriptors but the first three, by close_range
 *   outsider environment    clears its environment, and forks
 *   outsider memory         limits its address space to what it has
 *   outsider memory-wide    the same, and makes 33825 calls more: wide_0 once, and each wide function from 32 places in
 *                           the one above
 *   outsider replaced       puts links to ./precious in the place of the profiles in ./out */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "many-paths.h"

#define UNSEEN __attribute__((no_instrument_function))

UNSEEN static size_t address_space(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages = 0;
    if (!file || fscanf(file, "%zu", &pages) != 1) exit(2);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

UNSEEN static void replace_profiles(void)
{
    DIR *folder = opendir("out");
    char path[300];
    if (!folder) return; /* nothing records */
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".diyt")) continue;
        snprintf(path, sizeof path, "out/%s", entry->d_name);
        if (unlink(path) || symlink("../precious", path)) exit(2);
    }
    closedir(folder);
}

static void begin(void) {}

#define EIGHT(call) call(), call(), call(), call(), call(), call(), call(), call()
#define MANY(call) EIGHT(call), EIGHT(call), EIGHT(call), EIGHT(call)
static void wide_3(void) { leaves++; }
static void wide_2(void) { MANY(wide_3); }
static void wide_1(void) { MANY(wide_2); }
static void wide_0(void) { MANY(wide_1); }

UNSEEN static void send_servants(void)
{
    for (int i = 0; i < 80; i++) {
        int status = 0;
        if (fork() == 0) {
            begin();
            if (geteuid() == 0 && (setgid(65534) || setuid(65534))) _exit(2);
            level_0();
            _exit(0);
        }
        wait(&status);
        if (status) exit(2);
    }
}

/* None of them may open what the first process has made. */
UNSEEN static void send_crew(void)
{
    int status = 0;
    if (fork() == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534))) _exit(2);
        for (int i = 0; i < 80; i++) {
            if (fork() == 0) {
                level_0();
                _exit(0);
            }
            wait(&status);
            if (status) _exit(2);
        }
        _exit(0);
    }
    wait(&status);
    if (status) exit(2);
}

static void leave(const char *how)
{
    if (!strcmp(how, "crew")) send_crew();
    if (!strcmp(how, "servants")) send_servants();
    if (!strcmp(how, "chroot") && (mkdir("empty", 0755) || chroot("empty") || chdir("/"))) exit(2);
    if (!strcmp(how, "user") && (setgid(65534) || setuid(65534))) exit(2);
    if (!strcmp(how, "descriptors") && close_range(3, ~0U, 0)) exit(2);
    if (!strcmp(how, "environment") && (clearenv() || fork() < 0)) exit(2);
    if (!strncmp(how, "memory", 6)) {
        size_t now = address_space();
        // Not by setrlimit: what the recorder has mapped would be added to it.
        syscall(SYS_prlimit64, 0, RLIMIT_AS, &(struct rlimit){now, now}, NULL);
    }
    if (!strcmp(how, "replaced")) replace_profiles();
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    leave(argv[1]);
    level_0();
    if (!strcmp(argv[1], "memory-wide")) wide_0();
    printf("%d\n", leaves);
    fflush(stdout);
    wait(NULL);
    return 0;
}
