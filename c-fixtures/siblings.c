/* Forked siblings that load different libraries, which most likely come to lie at one address.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=red_step -o red.so plugin.c
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=green_step -o green.so plugin.c
 *   cc -g -finstrument-functions -o siblings siblings.c
 *
 *   siblings PLUGIN…      a child for each plugin, one after the other, calls `plugin_run` with 1,000 steps */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void use(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW);
    void (*run)(int) = plugin ? (void (*)(int))dlsym(plugin, "plugin_run") : NULL;
    if (!run) _exit(2);
    run(1000);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            use(argv[i]);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0) return 1;
    }
    return 0;
}
