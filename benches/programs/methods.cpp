// C++ that lives in small methods: accessors, operators, iterators, virtual calls and the standard library's own.
//   ./methods N   runs N rounds; prints a result
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

class Vector {
public:
    Vector(double x, double y) : x_(x), y_(y) {}
    double x() const { return x_; }
    double y() const { return y_; }
    Vector operator+(const Vector &other) const { return {x() + other.x(), y() + other.y()}; }
    double dot(const Vector &other) const { return x() * other.x() + y() * other.y(); }

private:
    double x_, y_;
};

class Shape {
public:
    virtual ~Shape() = default;
    virtual double area() const = 0;
    virtual void move(const Vector &by) { at_ = at_ + by; }
    const Vector &at() const { return at_; }

private:
    Vector at_{0, 0};
};

class Square : public Shape {
public:
    explicit Square(double side) : side_(side) {}
    double area() const override { return side_ * side_; }

private:
    double side_;
};

class Circle : public Shape {
public:
    explicit Circle(double radius) : radius_(radius) {}
    double area() const override { return 3.14159265 * radius_ * radius_; }

private:
    double radius_;
};

class Scene {
public:
    void add(std::unique_ptr<Shape> shape) { shapes_.push_back(std::move(shape)); }
    double area() const {
        double sum = 0;
        for (const auto &shape : shapes_) sum += shape->area();
        return sum;
    }
    void move(const Vector &by) {
        for (auto &shape : shapes_) shape->move(by);
    }
    void sort() {
        std::sort(shapes_.begin(), shapes_.end(),
                  [](const auto &a, const auto &b) { return a->at().dot(a->at()) + a->area() < b->at().dot(b->at()) + b->area(); });
    }

private:
    std::vector<std::unique_ptr<Shape>> shapes_;
};

double round_of(int number, std::map<std::string, int> &seen) {
    Scene scene;
    for (int i = 0; i < 16; i++) {
        if ((number + i) % 2) scene.add(std::make_unique<Square>(i * 7 % 5 + 1));
        else scene.add(std::make_unique<Circle>(i * 5 % 7 + 1));
    }
    scene.move(Vector(number % 10, 1));
    scene.sort();
    seen["round " + std::to_string(number % 100)]++;
    return scene.area();
}

} // namespace

extern "C" int program_main(int argc, char **argv) {
    int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
    std::map<std::string, int> seen;
    double sum = 0;
    for (int i = 0; i < rounds; i++) sum += round_of(i, seen);
    std::printf("%.0f %zu\n", sum, seen.size());
    return 0;
}
