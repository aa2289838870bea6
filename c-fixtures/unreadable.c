/* A program that has no file descriptor left when it first calls into a library, so that nobody can find out just then which
 * library that is.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=red_step -o red.so plugin.c
 *   cc -D_GNU_SOURCE -g -finstrument-functions -o unreadable unreadable.c -ldl
 *
 *   unreadable PLUGIN     calls `plugin_run`, for 5 steps, while there is none, and half a second after they were closed 1,000
 *                         times for one */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*run)(int) = plugin ? (void (*)(int))dlsym(plugin, "plugin_run") : NULL;
    if (!run) exit(2);
    struct rlimit limit = {64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
    int first = dup(0), last = first;
    for (int fd; (fd = dup(0)) >= 0;) last = fd;
    run(5);
    for (int fd = first; fd <= last; fd++) close(fd);
    usleep(500000);
    for (int i = 0; i < 1000; i++) run(1);
    return 0;
}
