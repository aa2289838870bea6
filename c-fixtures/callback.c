/* Callbacks through libc, which is not instrumented: `sort` has qsort call `compare`; `look_up` has lfind call `matches`.
 *
 *   cc -g -finstrument-functions -o callback callback.c
 *
 * It prints how often they were called. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static int compared, matched;

static int compare(const void *left, const void *right)
{
    compared++;
    return *(const int *)left - *(const int *)right;
}

static int matches(const void *left, const void *right)
{
    matched++;
    return *(const int *)left - *(const int *)right;
}

static void sort(int *numbers, size_t count) { qsort(numbers, count, sizeof *numbers, compare); }

static void look_up(int *numbers, size_t count)
{
    int last = numbers[count - 1];
    if (!lfind(&last, numbers, &count, sizeof *numbers, matches)) abort();
}

int main(void)
{
    int numbers[1000];
    for (int i = 0; i < 1000; i++) numbers[i] = i * 7919 % 1009;
    sort(numbers, 1000);
    look_up(numbers, 1000);
    printf("%d %d\n", compared, matched);
    return 0;
}
