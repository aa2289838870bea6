bench_series() { :; }
