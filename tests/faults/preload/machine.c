// SPDX-License-Identifier: Apache-2.0
//
// Loaded into a daemon before all other libraries (LD_PRELOAD): its machine misbehaves as the file
// says that BERTH_FAULT_MACHINE names; ../machine_test.go writes it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// The file; in this order in machine_test.go, too.
struct machine {
  volatile int64_t clock_offset;  // nanoseconds
  volatile int64_t disk_full;
  volatile int64_t names_hang;
  volatile int64_t writes_refused;  // counted here
  volatile int64_t lookups_held;    // likewise
};

static struct machine quiet;
static struct machine* machine = &quiet;

__attribute__((constructor)) static void open_machine(void) {
  const char* const path = getenv("BERTH_FAULT_MACHINE");
  const int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const at = mmap(NULL, sizeof quiet, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at != MAP_FAILED) machine = at;
  close(file);
}

static int read_clock(clockid_t clock, struct timespec* now) {
  const int64_t second = 1000000000;
  if (syscall(SYS_clock_gettime, clock, now) != 0) return -1;
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return 0;
  const int64_t at = now->tv_sec * second + now->tv_nsec + machine->clock_offset;
  now->tv_sec = at / second;
  now->tv_nsec = at % second;
  return 0;
}

int clock_gettime(clockid_t clock, struct timespec* now) { return read_clock(clock, now); }

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec at;
  read_clock(CLOCK_REALTIME, &at);
  now->tv_sec = at.tv_sec;
  now->tv_usec = at.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* now) {
  struct timespec at;
  read_clock(CLOCK_REALTIME, &at);
  if (now != NULL) *now = at.tv_sec;
  return at.tv_sec;
}

static int is_full(int file) {
  struct stat about;
  return machine->disk_full && fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

// The last bytes of a disk still take half of what is written.
ssize_t write(int file, const void* bytes, size_t size) {
  if (is_full(file)) {
    if (__sync_fetch_and_add(&machine->writes_refused, 1) > 0 || size < 2) {
      errno = ENOSPC;
      return -1;
    }
    size /= 2;
  }
  return syscall(SYS_write, file, bytes, size);
}

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* to) {
  static size_t (*real)(const void*, size_t, size_t, FILE*);
  if (is_full(fileno(to))) {
    errno = ENOSPC;
    return 0;
  }
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "fwrite");
  return real(bytes, size, count, to);
}

// As long as the name server hangs; it knows the names under .faults.test.
int getaddrinfo(const char* name, const char* service, const struct addrinfo* hints,
                struct addrinfo** found) {
  static int (*real)(const char*, const char*, const struct addrinfo*, struct addrinfo**);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "getaddrinfo");
  if (name == NULL || strstr(name, ".faults.test") == NULL) {
    return real(name, service, hints, found);
  }
  if (machine->names_hang) __sync_fetch_and_add(&machine->lookups_held, 1);
  while (machine->names_hang) poll(NULL, 0, 10);
  return real("127.0.0.1", service, hints, found);
}
