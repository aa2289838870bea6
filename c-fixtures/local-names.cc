// C++ functions that have lambdas and local types of another in their names.
/*
 *   c++ -g -finstrument-functions -o local-names local-names.cc
 */
volatile int sum;

template <int size> struct Table {
    template <typename F> void each(F function) {
        for (int at = 0; at < size * 4; at++) function(at);
    }
    Table &operator,(Table const &) {
        sum++;
        return *this;
    }
};

void turn(int by) {
    Table<1> table;
    table.each([by](int at) { sum += by * at; });
    table.each([](int) { sum--; });
    struct Local {
        void mark() { sum++; }
    };
    Local().mark();
    table, table, table;
}

int main() {
    turn(3);
    auto once = [](auto value) { sum += value; };
    once(1);
    once(2L);
}
