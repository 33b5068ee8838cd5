// A stand-in for libnvidia-ml.so.1 with one card of 500 W whose counter ticks
// every 100 ms, so that loading, calling and unloading a real shared library
// can be tested without a driver. Built by the test; with -DNO_INIT it lacks
// the function a meter starts with; FAKE_NVML_NO_DRIVER in the environment takes
// its driver away.
// Functions it does not have must not be called.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int ret;
typedef void *dev;
enum { SUCCESS = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9 };

static unsigned long long micros(void) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

#ifndef NO_INIT
ret nvmlInit_v2(void) { return getenv("FAKE_NVML_NO_DRIVER") ? DRIVER_NOT_LOADED : SUCCESS; }
#endif
ret nvmlShutdown(void) { return SUCCESS; }
ret nvmlSystemGetDriverVersion(char *s, unsigned n) { snprintf(s, n, "999.1"); return SUCCESS; }
ret nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return SUCCESS; }
ret nvmlDeviceGetHandleByIndex_v2(unsigned i, dev *d) { if (i) return INVALID; *d = (dev)0x1; return SUCCESS; }
ret nvmlDeviceGetUUID(dev d, char *s, unsigned n) { snprintf(s, n, "GPU-fake"); return SUCCESS; }
ret nvmlDeviceGetName(dev d, char *s, unsigned n) { snprintf(s, n, "Fake GPU"); return SUCCESS; }
ret nvmlDeviceGetTotalEnergyConsumption(dev d, unsigned long long *mj) { *mj = micros() / 100000 * 50000; return SUCCESS; }
ret nvmlDeviceGetPowerUsage(dev d, unsigned *mw) { *mw = 500000; return SUCCESS; }
ret nvmlDeviceGetTemperature(dev d, int sensor, unsigned *c) { *c = 47; return SUCCESS; }
ret nvmlDeviceGetUtilizationRates(dev d, unsigned *u) { u[0] = 98; u[1] = 40; return SUCCESS; }
ret nvmlDeviceGetClockInfo(dev d, int kind, unsigned *mhz) { *mhz = kind == 1 ? 1980 : 3201; return SUCCESS; }
ret nvmlDeviceGetEnforcedPowerLimit(dev d, unsigned *mw) { *mw = 700000; return SUCCESS; }

typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory2;
ret nvmlDeviceGetMemoryInfo_v2(dev d, memory2 *m) {
	if (m->version != (sizeof *m | 2u << 24)) return INVALID;
	m->total = 1ull << 37; m->reserved = 1 << 20; m->used = 1ull << 36;
	return SUCCESS;
}

typedef struct { unsigned id, scope; long long stamp, latency; unsigned type, ret; unsigned long long value; } field;
ret nvmlDeviceGetFieldValues(dev d, int n, field *f) {
	for (int i = 0; i < n; i++) {
		f[i].ret = SUCCESS;
		if (f[i].id == 185 && f[i].scope == 0) { f[i].type = 1; f[i].value = 500123; }
		else if (f[i].id == 74) { f[i].type = 3; f[i].value = 1ull << 40; }
		else f[i].ret = NOT_SUPPORTED;
	}
	return SUCCESS;
}

typedef struct { unsigned long long stamp, value; } sample;
ret nvmlDeviceGetSamples(dev d, int type, unsigned long long since, int *kind, unsigned *n, sample *s) {
	unsigned long long now = micros() / 20000 * 20000;
	unsigned long long first = since ? since / 20000 * 20000 + 20000 : now - 400000;
	unsigned have = now >= first ? (now - first) / 20000 + 1 : 0;
	*kind = 1;
	if (!have) return NOT_FOUND;
	if (!s) { *n = have; return SUCCESS; }
	if (*n > have) *n = have;
	for (unsigned i = 0; i < *n; i++) { s[i].stamp = first + i * 20000ull; s[i].value = 501000; }
	return SUCCESS;
}
