/* A plugin whose file goes, or becomes another's, while it is loaded and before most of its functions have been called.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=red_step -o red.so plugin.c
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=green_step -o green.so plugin.c
 *   cc -g -finstrument-functions -o replaced replaced.c
 *
 *   replaced removed FOLDER     red.so of the folder, copied to ./plugin.so, is loaded, and the copy removed
 *   replaced other FOLDER       green.so takes its name
 *   replaced program FOLDER     the program removes its own file, given as ./program
 *
 * `plugin_run` then calls `red_step` ten times, and main calls `leaf`. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))

static void leaf(void) {}

UNSEEN static void copy(const char *folder, const char *name, const char *to)
{
    char command[8192];
    snprintf(command, sizeof command, "cp '%s/%s' %s.new && mv %s.new %s", folder, name, to, to, to);
    if (system(command)) exit(2);
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    copy(argv[2], "red.so", "./plugin.so");
    void *plugin = dlopen("./plugin.so", RTLD_NOW);
    void (*run)(int) = plugin ? (void (*)(int))dlsym(plugin, "plugin_run") : NULL;
    if (!run) return 2;
    if (!strcmp(argv[1], "removed")) unlink("./plugin.so");
    if (!strcmp(argv[1], "other")) copy(argv[2], "green.so", "./plugin.so");
    if (!strcmp(argv[1], "program") && unlink("./program")) return 2;
    run(10);
    leaf();
    return 0;
}
