/* The smallest library that a CUDA program takes for the driver.

   It exports cuGetProcAddress_v2, through which every other entry point is asked for, a function that registers who
   answers, and one that ends all answers. A name without an answer gets a function that returns
   CUDA_ERROR_NOT_SUPPORTED, whatever its arguments are: under the C calling conventions of the machines that CUDA runs
   on, the caller removes them.

   Callers keep the addresses that they are given until the process ends, longer than Python, which answers, lives:
   libraries in C++ still call the driver when their static objects are destroyed. So each address given out is a jump
   through a table, and closing points the whole table to a function that returns CUDA_ERROR_DEINITIALIZED, as a driver
   does that is shutting down. Where the table is full, or the machine is another one, the answer itself is given out. */

#include <stdint.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    NOT_INITIALIZED = 3,
    DEINITIALIZED = 4,
    NOT_SUPPORTED = 801,
    SYMBOL_FOUND = 0
};

#define SLOTS 2048
#define SLOT_BYTES 16
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

typedef int (*resolver)(const char *name, int version, uint64_t flags, void **function);

static resolver registered;

static int not_supported(void) { return NOT_SUPPORTED; }
static int deinitialized(void) { return DEINITIALIZED; }

#if defined(__x86_64__) || defined(__aarch64__)

__attribute__((visibility("hidden"))) void *cgraph_slots[SLOTS];
extern char cgraph_jumps[] __attribute__((visibility("hidden")));

__asm__(".text\n"
        ".balign " TEXT(SLOT_BYTES) "\n"
        ".hidden cgraph_jumps\n"
        ".globl cgraph_jumps\n"
        "cgraph_jumps:\n"
        ".set number, 0\n"
        ".rept " TEXT(SLOTS) "\n"
#if defined(__x86_64__)
        "jmp *cgraph_slots+8*number(%rip)\n"
#else
        "adrp x16, cgraph_slots+8*number\n"
        "ldr x16, [x16, :lo12:cgraph_slots+8*number]\n"
        "br x16\n"
#endif
        ".balign " TEXT(SLOT_BYTES) "\n"
        ".set number, number+1\n"
        ".endr\n");

static int used;

/* The address to give out for an answer. */
static void *jump_to(void *function) {
    int slot = 0;
    while (slot < used && cgraph_slots[slot] != function) slot++;
    if (slot == SLOTS) return function;
    if (slot == used) cgraph_slots[used++] = function;
    return cgraph_jumps + SLOT_BYTES * slot;
}

void cgraph_close(void) {
    registered = 0;
    for (int slot = 0; slot < used; slot++) cgraph_slots[slot] = (void *)deinitialized;
}

#else

static void *jump_to(void *function) { return function; }

void cgraph_close(void) { registered = 0; }

#endif

void cgraph_register_resolver(resolver function) { registered = function; }

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
    if (name == 0 || function == 0) return INVALID_VALUE;
    if (registered == 0) return NOT_INITIALIZED;
    void *found = 0;
    int result = registered(name, version, flags, &found);
    if (result != SUCCESS) return result;
    *function = found == 0 ? (void *)not_supported : jump_to(found);
    if (status != 0) *status = SYMBOL_FOUND;
    return SUCCESS;
}
