// A library that an exception of the program's passes through; see throws.cc.
struct Count {
    explicit Count(int *n) : n(n) { *n += 1; }
    ~Count() { *n -= 1; }
    int *n;
};

static int running;

void library_each(int n, void (*visit)(int))
{
    Count count(&running);
    for (int i = 0; i < n; i++) visit(i);
}
