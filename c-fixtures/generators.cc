// Coroutines of C++20 that resume others of their kind, from two places: with clang's optimisation what resumes them is inlined into them.
/*
 *   c++ -std=c++20 -g -finstrument-functions -o generators generators.cc
 *
 * clang's hooks of such bodies give the return address that the coroutine had when it began. By now it may be that of another one
 * further out, and lie on the stack there. 50 times a tree of depth 3 is walked: `next` resumes a part of it, and then calls `after`. */

#include <coroutine>

#define HIDDEN __attribute__((no_instrument_function))

static volatile int sum;

__attribute__((noinline)) void after() { sum = sum + 1; }

struct Walk {
    struct promise_type {
        HIDDEN Walk get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        HIDDEN std::suspend_always initial_suspend() { return {}; }
        HIDDEN std::suspend_always final_suspend() noexcept { return {}; }
        HIDDEN std::suspend_always yield_value(int) { return {}; }
        HIDDEN void return_void() {}
        HIDDEN void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
    HIDDEN Walk(std::coroutine_handle<promise_type> handle) : handle(handle) {}
    HIDDEN ~Walk() { handle.destroy(); }
    bool next()
    {
        handle.resume();
        after();
        return !handle.done();
    }
};

static Walk walk(int depth)
{
    if (depth > 0) {
        auto left = walk(depth - 1);
        while (left.next()) co_yield 0;
        auto right = walk(depth - 1);
        while (right.next()) co_yield 0;
    }
    co_yield depth;
}

int main()
{
    for (int turn = 0; turn < 50; turn++) {
        auto all = walk(3);
        while (all.next()) {}
    }
    return 0;
}
