// C++ names that are long: overloads that differ in one parameter, templates of templates, lambdas as arguments.
/*
 *   c++ -g -finstrument-functions -o long-names long-names.cc
 */
#include <string>
#include <utility>

namespace {
volatile int sum;
} // namespace

struct Token {};
struct SettingsOfTheWholeProgram {};

template <typename Visitor> __attribute__((noinline)) void visit(Token const *token, Visitor const &visitor) { visitor(token); }

template <typename Value> struct Holder {
    __attribute__((noinline)) void put(Value const &, SettingsOfTheWholeProgram const *) { sum++; }
};

struct TokenList {
    static int multiCompare(Token const *, SettingsOfTheWholeProgram const *, int) { return sum++; }
    static int multiCompare(char const *, SettingsOfTheWholeProgram const *, int) { return sum++; }

    static void first() { visit(nullptr, [](Token const *) { sum++; }); }
    static void second() { visit(nullptr, [](Token const *) { sum++; }); }
};

int main()
{
    for (int times = 0; times < 1000; times++) TokenList::multiCompare(static_cast<Token const *>(nullptr), nullptr, 1);
    TokenList::multiCompare("", nullptr, 1);
    TokenList::first();
    TokenList::second();
    Holder<std::string>().put("", nullptr);
    Holder<std::pair<int, std::string>>().put({}, nullptr);
    return 0;
}
