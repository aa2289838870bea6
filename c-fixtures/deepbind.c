/* Libraries whose hooks are not ours: what they call is not seen, and the report has to say so.
 *
 *   cc -g -finstrument-functions -shared -fPIC -DPLUGIN_STEP=red_step -o red.so plugin.c
 *   cc -g -finstrument-functions -o deepbind deepbind.c
 *
 *   deepbind deep FOLDER    loaded with RTLD_DEEPBIND: their own libraries come first, and libc has hooks that do nothing
 *   deepbind apart FOLDER   loaded by dlmopen, with a libc of their own
 *   deepbind usual FOLDER   loaded as usual, for comparison
 *   deepbind unused FOLDER  loaded as usual, and nothing in it is called
 *
 * `use` loads red.so from the folder and has it call `red_step` ten times. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void use(const char *how)
{
    void *plugin = !strcmp(how, "deep")    ? dlopen("./red.so", RTLD_NOW | RTLD_DEEPBIND)
                   : !strcmp(how, "apart") ? dlmopen(LM_ID_NEWLM, "./red.so", RTLD_NOW)
                                           : dlopen("./red.so", RTLD_NOW);
    void (*run)(int) = plugin ? (void (*)(int))dlsym(plugin, "plugin_run") : NULL;
    if (!run) exit(2);
    if (strcmp(how, "unused")) run(10);
}

static void leaf(void) {}

int main(int argc, char **argv)
{
    if (argc != 3 || chdir(argv[2])) return 2;
    use(argv[1]);
    leaf();
    return 0;
}
