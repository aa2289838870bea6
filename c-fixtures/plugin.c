/* The plugins of plugins.c, which has the compile lines. Their functions lie at the same addresses in both. */
static volatile int sum;

static void PLUGIN_STEP(void) { sum++; }

void plugin_run(int steps)
{
    for (int i = 0; i < steps; i++) PLUGIN_STEP();
}
