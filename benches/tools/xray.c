// XRay records nothing unless the program asks for it. This asks, where BENCH_XRAY names a mode, for all calls however
// short. Linked into XRay's builds only.
//   BENCH_XRAY=xray-basic|xray-fdr PROGRAM   leaves xray-log.* in the current folder
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// From xray/xray_log_interface.h and xray/xray_interface.h, which not every distribution installs.
enum { XRAY_LOG_INITIALIZED = 2 };
extern int __xray_log_select_mode(const char *mode);
extern int __xray_log_init_mode(const char *mode, const char *settings);
extern int __xray_log_finalize(void);
extern int __xray_log_flushLog(void);
extern int __xray_patch(void);

static const char *mode;

__attribute__((constructor, xray_never_instrument)) static void start(void) {
    mode = getenv("BENCH_XRAY");
    if (!mode) return;
    // FDR keeps the latest calls in a ring of buffers and writes it at the end: 64 MB of them here.
    const char *settings = strcmp(mode, "xray-fdr") == 0
                               ? "func_duration_threshold_us=0:buffer_size=65536:buffer_max=1024"
                               : "func_duration_threshold_us=0:max_stack_depth=4096";
    __xray_log_select_mode(mode);
    if (__xray_log_init_mode(mode, settings) != XRAY_LOG_INITIALIZED) {
        fprintf(stderr, "XRay does not start in mode %s\n", mode);
        exit(2);
    }
    __xray_patch();
}

__attribute__((destructor, xray_never_instrument)) static void finish(void) {
    if (!mode) return;
    __xray_log_finalize();
    __xray_log_flushLog();
}
