/* A program that brings hooks of its own: its functions never call another module's. Whether the library's do depends on
 * whether the program exports them.
 *
 *   cc -g -finstrument-functions -shared -fPIC -o libshape.so shape.c
 *   cc -g -finstrument-functions -o own-hooks own-hooks.c -L. -lshape -Wl,-rpath,'$ORIGIN'
 *   cc -g -finstrument-functions -fvisibility=hidden -o hidden own-hooks.c -L. -lshape -Wl,-rpath,'$ORIGIN'
 *
 * `shape_area` is called three times and calls `square`. */
#define HOOK __attribute__((no_instrument_function))

static volatile int entered;

HOOK void __cyg_profile_func_enter(void *function, void *site) { entered += function != site; }
HOOK void __cyg_profile_func_exit(void *function, void *site) { entered -= function != site; }

__attribute__((visibility("default"))) void shape_area(int side);

int main(void)
{
    for (int i = 0; i < 3; i++) shape_area(i);
    return entered != 1;
}
