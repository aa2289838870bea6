// Templates whose names a demangler may have wrong: constructors with arguments of their own, packs, numbers, operators of literals.
/*
 *   c++ -g -finstrument-functions -o template-names template-names.cc
 */
#define APART __attribute__((noinline))

static volatile int sum;

struct Shape {
    template <typename T> APART Shape(T, int) { sum++; }
    template <typename T> APART Shape(int, T) { sum++; }
};

template <typename... Ts> APART void all(Ts &&...) { sum++; }

template <unsigned long N> struct Fixed {
    APART void put() { sum++; }
};

APART int operator""_km(unsigned long long) { return sum++; }

int main()
{
    Shape one('a', 1);
    for (int times = 0; times < 2; times++) Shape other(1, 'a');
    for (int times = 0; times < 3; times++) all(1, 2);
    for (int times = 0; times < 4; times++) all();
    for (int times = 0; times < 5; times++) Fixed<3>().put();
    for (int times = 0; times < 6; times++) 7_km;
    return 0;
}
