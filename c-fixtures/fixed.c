/* A program that is linked for one address, not position-independent.
 *
 *   cc -g -no-pie -fno-pie -finstrument-functions -o fixed fixed.c
 *
 * main calls `leaf` three times. */
static volatile int sum;

void leaf(void) { sum++; }

int main(void)
{
    for (int i = 0; i < 3; i++) leaf();
    return 0;
}
