/* The smallest library that a CUDA program takes for the driver.

   It exports cuGetProcAddress_v2, through which every other entry point is asked for, and a function that registers
   who answers. A name without an answer gets a function that returns CUDA_ERROR_NOT_SUPPORTED, whatever its
   arguments are: under the C calling conventions of the machines that CUDA runs on, the caller removes them. */

#include <stdint.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, NOT_SUPPORTED = 801, SYMBOL_FOUND = 0 };

typedef int (*resolver)(const char *name, int version, uint64_t flags, void **function);

static resolver registered;

static int not_supported(void) { return NOT_SUPPORTED; }

void cgraph_register_resolver(resolver function) { registered = function; }

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
    if (name == 0 || function == 0) return INVALID_VALUE;
    if (registered == 0) return NOT_INITIALIZED;
    *function = 0;
    int result = registered(name, version, flags, function);
    if (result != SUCCESS) return result;
    if (*function == 0) *function = (void *)not_supported;
    if (status != 0) *status = SYMBOL_FOUND;
    return SUCCESS;
}
