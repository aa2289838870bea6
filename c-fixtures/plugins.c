/* Libraries that are loaded later, and unloaded: the second most likely comes to lie where the first was.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=red_step -o red.so plugin.c
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=green_step -o green.so plugin.c
 *   cc -g -finstrument-functions -o plugins plugins.c
 *
 *   plugins STEPS PLUGIN…             `use` loads a plugin, runs `plugin_run` with that many steps, and unloads it
 *   plugins STEPS -n ROUNDS PLUGIN…   all of them so many times; says whether that took ever more memory
 *   plugins STEPS -f ROUNDS PLUGIN…   the same in children, of which each has one round */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))

static void use(const char *path, int steps)
{
    void *plugin = dlopen(path, RTLD_NOW);
    void (*run)(int) = plugin ? (void (*)(int))dlsym(plugin, "plugin_run") : NULL;
    if (!run) exit(2);
    run(steps);
    dlclose(plugin);
}

/* Kilobytes that no file is behind. */
UNSEEN static long own_memory(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kb = 0;
    while (status && fgets(line, sizeof line, status)) sscanf(line, "RssAnon: %ld", &kb);
    if (status) fclose(status);
    return kb;
}

UNSEEN static void in_child(char **plugins, int steps)
{
    pid_t child = fork();
    if (child == 0) {
        while (*plugins) use(*plugins++, steps);
        exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) exit(3);
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    int repeats = argc > 4 && argv[2][0] == '-';
    if (!repeats) {
        for (int i = 2; i < argc; i++) use(argv[i], steps);
        return 0;
    }
    int rounds = (int)strtol(argv[3], NULL, 10);
    long before = 0;
    for (int round = 0; round < rounds; round++) {
        if (round == rounds / 10) before = own_memory();
        if (!strcmp(argv[2], "-f")) in_child(argv + 4, steps);
        else for (int i = 4; i < argc; i++) use(argv[i], steps);
    }
    printf("%s\n", own_memory() - before > 1024 ? "ever more" : "no more");
    return 0;
}
