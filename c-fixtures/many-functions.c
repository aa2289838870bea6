/* 10,000 functions that main calls once each, f_0000 to f_9999: more than a table can show at once.
 *
 *   cc -g -finstrument-functions -o many-functions many-functions.c */
#include "many-functions.h"

static volatile int sum;

ALL(DEFINE)

int main(void)
{
#define CALL(n) f_##n();
    ALL(CALL)
    return sum != 10000;
}
