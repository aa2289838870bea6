/* A daemon without hooks has closed standard error, and its data file has that descriptor, when it opens a library with hooks.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DLIBRARY -o data.so standard-error-is-data.c
 *   cc -g -finstrument-functions -o standard-error-is-data standard-error-is-data.c
 *
 *   standard-error-is-data LIBRARY    says what is in the data file */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LIBRARY
void work(void) {}
#else
__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
    char name[] = "/tmp/standard-error-is-data.XXXXXX", text[4096] = "";
    int file = mkstemp(name);
    unlink(name);
    if (argc < 2 || file < 0 || dup2(file, 2) != 2) return 2;
    void *library = dlopen(argv[1], RTLD_NOW);
    void (*work)(void) = library ? (void (*)(void))dlsym(library, "work") : NULL;
    if (!work) return 3;
    if (write(2, "one\n", 4) != 4) return 4;
    work();
    if (write(2, "two\n", 4) != 4) return 4;
    if (pread(2, text, sizeof text - 1, 0) < 0) return 4;
    printf("%s", text);
    return 0;
}
#endif
