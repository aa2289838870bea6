/* Code that calls C with a stack that is aligned to 8 bytes only, as a JIT's or a thunk may: C that moves no vectors does not mind.
 *
 *   cc -g -finstrument-functions -o misaligned misaligned.c
 *
 * 100 calls of `callback` by such code, each of which calls `leaf` twice. */
#define APART __attribute__((noinline))

long thunk(long n);

APART static long leaf(long n) { return n + 1; }

APART __attribute__((used)) long callback(long n) { return leaf(n) + leaf(n + 1); }

__asm__(".text\n"
        "thunk:\n"
        ".cfi_startproc\n"
        "sub $16, %rsp\n"
        ".cfi_adjust_cfa_offset 16\n"
        "call callback\n"
        "add $16, %rsp\n"
        ".cfi_adjust_cfa_offset -16\n"
        "ret\n"
        ".cfi_endproc\n");

int main(void)
{
    long sum = 0;
    for (long n = 0; n < 100; n++) sum += thunk(n);
    return sum == 0;
}
