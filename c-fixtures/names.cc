// C++ names: namespaces, methods, overloads, templates, operators, constructors, lambdas, anonymous namespaces.
/*
 *   c++ -g -finstrument-functions -o names names.cc
 */
namespace {
volatile int sum;

void hidden() { sum++; }
} // namespace

namespace geometry {

int scale(int by) { hidden(); return by; }
int scale(int by, long) { hidden(); return by; }

template <typename T> T twice(T value) { hidden(); return value + value; }

class Square {
  public:
    explicit Square(int side) : side(side) { hidden(); }
    ~Square() { hidden(); }
    int area() const { hidden(); return side * side; }
    int operator()(int n) { hidden(); return n; }
    virtual int sides() { hidden(); return 4; }

  private:
    int side;
};

} // namespace geometry

int main()
{
    geometry::scale(1);
    geometry::scale(1);
    geometry::scale(1, 2L);
    geometry::twice(1);
    geometry::twice(1.5);
    geometry::twice(1.5);
    {
        geometry::Square square(3);
        square.area();
        square(1);
        geometry::Square *volatile any = &square;
        any->sides();
    }
    auto lambda = [](int n) { hidden(); return n; };
    lambda(1);
    return 0;
}
