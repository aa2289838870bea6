/* A shared library, instrumented as the program is: calls into it, inside it, and back.
 *
 *   cc -g -finstrument-functions -shared -fPIC -o libshape.so shape.c
 *   cc -g -finstrument-functions -o library library.c -L. -lshape -Wl,-rpath,'$ORIGIN'
 *
 * `shape_area` is called three times and calls `square`; `shape_each` once, and calls the program's `visit` four times. */
void shape_area(int side);
void shape_each(void (*visit)(int), int count);

static volatile int sum;

static void visit(int n) { sum += n; }

int main(void)
{
    for (int i = 0; i < 3; i++) shape_area(i);
    shape_each(visit, 4);
    return 0;
}
