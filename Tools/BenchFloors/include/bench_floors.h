#ifndef BENCH_FLOORS_H
#define BENCH_FLOORS_H
#endif
