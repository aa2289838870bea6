/* A library that leaves its call by a jump; see jump-of-library.c. */
#include <setjmp.h>

__attribute__((noinline)) void thrower(jmp_buf to, int number)
{
    if (number % 3 == 0 && number >= 9) longjmp(to, 1);
}
