/* Libraries that are loaded later, and unloaded: the second most likely comes to lie where the first was.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=red_step -o red.so plugin.c
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=green_step -o green.so plugin.c
 *   cc -g -finstrument-functions -o plugins plugins.c
 *
 *   plugins STEPS PLUGIN…      `use` loads a plugin, runs `plugin_run` with that many steps, and unloads it */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void use(const char *path, int steps)
{
    void *plugin = dlopen(path, RTLD_NOW);
    void (*run)(int) = plugin ? (void (*)(int))dlsym(plugin, "plugin_run") : NULL;
    if (!run) exit(2);
    run(steps);
    dlclose(plugin);
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) use(argv[i], (int)strtol(argv[1], NULL, 10));
    return 0;
}
