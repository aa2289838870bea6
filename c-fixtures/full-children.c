/* A forking server whose profile is full: children are forked inside of `spawn`, for which there is no room in theirs.
 *
 *   cc -g -finstrument-functions -o full-children full-children.c
 *
 *   full-children CHILDREN FILL FILL_OF_CHILD AT_ONCE
 *
 * `all` calls on 900 paths for each of FILL; each child calls `session`, which calls `leaf` a hundred times. Prints how many calls there were. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLED __attribute__((noinline)) void

static volatile int sum;

CALLED leaf(void) { sum++; }
CALLED other(void) { sum++; }

CALLED session(void) {
    for (int i = 0; i < 100; i++) leaf();
}

/* Three hundred functions of two calls each, and twenty that call all of them. */
#define PART(n) CALLED part##n(void) { other(); leaf(); sum++; }
#define PARTS_10(n) PART(n##0) PART(n##1) PART(n##2) PART(n##3) PART(n##4) PART(n##5) PART(n##6) PART(n##7) PART(n##8) PART(n##9)
#define PARTS_100(n) PARTS_10(n##0) PARTS_10(n##1) PARTS_10(n##2) PARTS_10(n##3) PARTS_10(n##4) PARTS_10(n##5) PARTS_10(n##6) PARTS_10(n##7) PARTS_10(n##8) PARTS_10(n##9)
PARTS_100(1) PARTS_100(2) PARTS_100(3)

#define CALL(n) part##n();
#define CALLS_10(n) CALL(n##0) CALL(n##1) CALL(n##2) CALL(n##3) CALL(n##4) CALL(n##5) CALL(n##6) CALL(n##7) CALL(n##8) CALL(n##9)
#define CALLS_100(n) CALLS_10(n##0) CALLS_10(n##1) CALLS_10(n##2) CALLS_10(n##3) CALLS_10(n##4) CALLS_10(n##5) CALLS_10(n##6) CALLS_10(n##7) CALLS_10(n##8) CALLS_10(n##9)
#define WHOLE(n) CALLED whole##n(void) { CALLS_100(1) CALLS_100(2) CALLS_100(3) }
#define WHOLES_10(n) WHOLE(n##0) WHOLE(n##1) WHOLE(n##2) WHOLE(n##3) WHOLE(n##4) WHOLE(n##5) WHOLE(n##6) WHOLE(n##7) WHOLE(n##8) WHOLE(n##9)
WHOLES_10(1) WHOLES_10(2)

#define DO(n) whole##n(); if (--fill <= 0) return;
#define DO_10(n) DO(n##0) DO(n##1) DO(n##2) DO(n##3) DO(n##4) DO(n##5) DO(n##6) DO(n##7) DO(n##8) DO(n##9)
CALLED all(int fill) { DO_10(1) DO_10(2) }

CALLED spawn(int fill) {
    if (fork() == 0) {
        session();
        usleep(10000);
        all(fill);
        _exit(0);
    }
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    int numbers[4], running = 0; /* not by atoi, whose body clang has hooks in */
    for (int i = 0; i < 4; i++) numbers[i] = (int)strtol(argv[i + 1], NULL, 10);
    int children = numbers[0], fill = numbers[1], fill_of_child = numbers[2], at_once = numbers[3];
    all(fill);
    for (int i = 0; i < children; i++) {
        if (running == at_once) {
            wait(NULL);
            running--;
        }
        spawn(fill_of_child);
        running++;
    }
    while (wait(NULL) > 0) {}
    printf("%d calls\n", 2 + fill * 901 + children * (103 + fill_of_child * 901));
    return 0;
}
