/* Ten thousand functions: ALL(each) is each(0000) to each(9999). */
#define TEN(each, n) each(n##0) each(n##1) each(n##2) each(n##3) each(n##4) each(n##5) each(n##6) each(n##7) each(n##8) each(n##9)
#define TENS(each, n) TEN(each, n##0) TEN(each, n##1) TEN(each, n##2) TEN(each, n##3) TEN(each, n##4) TEN(each, n##5) TEN(each, n##6) TEN(each, n##7) TEN(each, n##8) TEN(each, n##9)
#define HUNDREDS(each, n) TENS(each, n##0) TENS(each, n##1) TENS(each, n##2) TENS(each, n##3) TENS(each, n##4) TENS(each, n##5) TENS(each, n##6) TENS(each, n##7) TENS(each, n##8) TENS(each, n##9)
#define ALL(each) HUNDREDS(each, 0) HUNDREDS(each, 1) HUNDREDS(each, 2) HUNDREDS(each, 3) HUNDREDS(each, 4) HUNDREDS(each, 5) HUNDREDS(each, 6) HUNDREDS(each, 7) HUNDREDS(each, 8) HUNDREDS(each, 9)

#define DEFINE(n) static void f_##n(void) { sum++; }
