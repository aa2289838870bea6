// Coroutines of C++20, resumed from elsewhere than where they began: what is inlined into them has the call site of then.
/*
 *   c++ -std=c++20 -pthread -g -finstrument-functions -o resumed resumed.cc
 *
 * clang keeps a coroutine's return address, as it was when it began, in the coroutine's memory, and hooks of bodies that are
 * inlined into it give that as their call site each time it goes on. It lies nowhere on the stack then.
 *
 * `begin` begins 100 coroutines. Each goes on twice, here and in a thread: `turn` calls `next`, which resumes it; there `step`
 * calls `inner`, and that `apart`. Then `next` calls `after`. (There is no event log of it: that looks for a return address until
 * it finds one.) */

#include <coroutine>
#include <thread>

#define HIDDEN __attribute__((no_instrument_function))
#define APART __attribute__((noinline))
#define INLINED __attribute__((always_inline)) inline

static volatile int sum;

struct Pause {
    HIDDEN bool await_ready() noexcept { return false; }
    HIDDEN void await_suspend(std::coroutine_handle<>) noexcept {}
    HIDDEN void await_resume() noexcept {}
};

struct Work {
    struct promise_type {
        HIDDEN Work get_return_object() noexcept { return {this}; }
        HIDDEN Pause initial_suspend() noexcept { return {}; }
        HIDDEN Pause final_suspend() noexcept { return {}; }
        HIDDEN void return_void() noexcept {}
        HIDDEN void unhandled_exception() noexcept {}
    };
    promise_type *promise;
};

APART static void apart(int round) { sum = sum + round; }
static INLINED void inner(int round) { apart(round); }
static INLINED void step(int round) { inner(round); }
APART static void after() { sum = sum + 1; }

static Work work(int round)
{
    step(round);
    co_await Pause{};
    step(round + 1);
}

HIDDEN static void *address(Work work)
{
    constexpr int alignment = alignof(Work::promise_type);
    return __builtin_coro_promise(work.promise, alignment, true);
}

APART static void next(Work work)
{
    __builtin_coro_resume(address(work));
    after();
}

APART static Work begin(int round) { return work(round); }

APART static void turn(Work work) { next(work); }

int main()
{
    for (int round = 0; round < 100; round++) {
        Work work = begin(round);
        turn(work);
        std::thread(turn, work).join();
        __builtin_coro_destroy(address(work));
    }
}
