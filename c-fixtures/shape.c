/* The library of library.c, which has the compile lines. */
volatile int shape_sum;

static void square(int side) { shape_sum += side * side; }

void shape_area(int side) { square(side); }

void shape_each(void (*visit)(int), int count)
{
    for (int i = 0; i < count; i++) visit(i);
}
