/* The library that stepped.c loads; its compile lines are there. `module_call` calls `module_step` three times. */
static volatile int sum;

__attribute__((noinline)) void module_step(void (*count)(int), int number)
{
    count(number);
    sum++;
}

__attribute__((noinline)) void module_call(void (*count)(int), int own, int step)
{
    count(own);
    for (int i = 0; i < 3; i++) module_step(count, step);
    sum++;
}
