/* Hook tool client of pushjuju: passes the call to the process that runs the hook.
 *
 * No libc, no loader: it starts in a third of the time of /bin/true. The wire is told in
 * pushjuju/runner/remote/tools/toolclient.py, beside the same client in Perl and in Python, which stand in on other
 * processors. Built by `make toolclient`.
 */

typedef unsigned long word;
typedef long result;

#if defined(__x86_64__)
enum { READ = 0, WRITE = 1, CLOSE = 3, MMAP = 9, SOCKET = 41, CONNECT = 42, EXIT = 60, FCNTL = 72, READLINK = 267 };
static result call(long n, word a, word b, word c, word d, word e, word f)
{
    register word r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    result found;
    __asm__ volatile("syscall" : "=a"(found) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return found;
}
__asm__(".globl _start\n_start:\n xor %ebp,%ebp\n mov %rsp,%rdi\n and $-16,%rsp\n call begin\n");
#elif defined(__aarch64__)
enum { FCNTL = 25, CLOSE = 57, READ = 63, WRITE = 64, READLINK = 78, EXIT = 93, SOCKET = 198, CONNECT = 203, MMAP = 222 };
static result call(long n, word a, word b, word c, word d, word e, word f)
{
    register word x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register word x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return (result)x0;
}
__asm__(".globl _start\n_start:\n mov x29,#0\n mov x0,sp\n bl begin\n");
#else
#error "a processor without a client of its own: Perl or Python stand in"
#endif

enum { EINTR = 4, AT_FDCWD = -100, AF_UNIX = 1, STREAM = 1, CLOEXEC = 02000000, DUPFD_CLOEXEC = 1030, PATH_MAX = 4096 };
enum { PROT_READ_WRITE = 3, MAP_PRIVATE_ANONYMOUS = 0x22, INPUT_STEP = 1 << 20 };

struct address { unsigned short family; char path[108]; };

static char cwd[PATH_MAX], buffer[65536];

static void quit(int code) { for (;;) call(EXIT, code, 0, 0, 0, 0, 0); }

static word length(const char *text) { word n = 0; while (text[n]) n++; return n; }

/* The compiler may ask for it. */
void *memcpy(void *to, const void *from, word size)
{
    char *target = to; const char *source = from;
    while (size--) *target++ = *source++;
    return to;
}

static int put(int fd, const char *data, word size)
{
    while (size) {
        result done = call(WRITE, fd, (word)data, size, 0, 0, 0);
        if (done == -EINTR) continue;
        if (done <= 0) return (int)-done;
        data += done; size -= done;
    }
    return 0;
}

static void tell(const char *text) { put(2, text, length(text)); }

static const char *reason(int number)
{
    switch (number) {
    case 2: return "no such file or directory";
    case 11: return "resource temporarily unavailable";
    case 13: return "permission denied";
    case 32: return "broken pipe";
    case 36: return "file name too long";
    case 104: return "connection reset by peer";
    case 111: return "connection refused";
    default: return "input/output error";
    }
}

static void fail(const char *first, const char *second, const char *third)
{
    tell("ERROR "); tell(first); tell(second); tell(third); tell("\n");
    quit(1);
}

static void get(int fd, char *data, word size)
{
    while (size) {
        result done = call(READ, fd, (word)data, size, 0, 0, 0);
        if (done == -EINTR) continue;
        if (done <= 0) fail("connection is shut down", "", "");
        data += done; size -= done;
    }
}

static word get_size(int fd)
{
    unsigned char b[4];
    get(fd, (char *)b, 4);
    return (word)b[0] << 24 | (word)b[1] << 16 | (word)b[2] << 8 | b[3];
}

static void put_size(char *to, word size)
{
    to[0] = size >> 24; to[1] = size >> 16; to[2] = size >> 8; to[3] = size;
}

static void send(int fd, const char *data, word size)
{
    int error = put(fd, data, size);
    if (error) fail("write unix: ", reason(error), "");
}

static const char *find(char **environment, const char *name)
{
    word size = length(name);
    for (; *environment; environment++) {
        word at = 0;
        while (at < size && (*environment)[at] == name[at]) at++;
        if (at == size && (*environment)[at] == '=' && (*environment)[at + 1]) return *environment + at + 1;
    }
    fail(name, " not set", "");
    return 0;
}

static int dial(const char *path)
{
    struct address address = { AF_UNIX, { 0 } };
    word size = length(path);
    if (size >= sizeof address.path) fail("dial unix ", path, ": connect: file name too long");
    memcpy(address.path, path, size);
    word taken = 2 + size + 1;
    if (path[0] == '@') { address.path[0] = 0; taken = 2 + size; }
    int fd = (int)call(SOCKET, AF_UNIX, STREAM | CLOEXEC, 0, 0, 0, 0);
    if (fd >= 0 && fd < 3) { /* the caller has closed a standard stream: the socket must not stand in for it */
        int low = fd;
        fd = (int)call(FCNTL, low, DUPFD_CLOEXEC, 3, 0, 0, 0);
        call(CLOSE, low, 0, 0, 0, 0, 0);
    }
    int error = fd < 0 ? -fd : (int)-call(CONNECT, fd, (word)&address, taken, 0, 0, 0);
    if (error) { tell("ERROR dial unix "); tell(path); tell(": connect: "); tell(reason(error)); tell("\n"); quit(1); }
    return fd;
}

static char *room(word size)
{
    result found = call(MMAP, 0, size, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, (word)-1, 0);
    if (found < 0 && found > -4096) fail("out of memory", "", "");
    return (char *)found;
}

/* Return the last part of the path that was executed: what it is called by does not count, as for a script. */
static const char *own_name(word *auxiliary, const char *called)
{
    enum { END = 0, EXECUTED = 31 };
    for (; auxiliary[0] != END; auxiliary += 2) if (auxiliary[0] == EXECUTED) called = (const char *)auxiliary[1];
    const char *name = called;
    for (; *called; called++) if (*called == '/') name = called + 1;
    return name;
}

/* Send the call: context id, working directory, name and arguments with a NUL between each two. */
static void send_call(int fd, const char *id, const char *name, int argc, char **argv)
{
    result there = call(READLINK, (word)AT_FDCWD, (word)"/proc/self/cwd", (word)cwd, PATH_MAX - 1, 0, 0);
    cwd[there > 0 ? there : 0] = 0;
    word size = length(id) + length(cwd) + length(name) + 2;
    for (int i = 1; i < argc; i++) size += 1 + length(argv[i]);
    char *frame = size + 4 <= sizeof buffer ? buffer : room(size + 4), *to = frame + 4;
    put_size(frame, size);
    for (int i = -2; i < argc; i++) {
        const char *part = i == -2 ? id : i == -1 ? cwd : i == 0 ? name : argv[i];
        word n = length(part);
        if (i > -2) *to++ = 0;
        memcpy(to, part, n); to += n;
    }
    send(fd, frame, size + 4);
}

/* Send all of standard input, with its length first. */
static void send_input(int fd)
{
    word held = INPUT_STEP, size = 0;
    char *data = room(held), head[4];
    for (;;) {
        result done = call(READ, 0, (word)(data + size), held - size, 0, 0, 0);
        if (done == -EINTR) continue;
        if (done <= 0) break;
        size += done;
        if (size == held) {
            char *more = room(held * 2);
            memcpy(more, data, size);
            data = more; held *= 2;
        }
    }
    put_size(head, size);
    send(fd, head, 4);
    send(fd, data, size);
}

static void print(int fd, int out)
{
    for (word left = get_size(fd), broken = 0; left;) {
        word size = left < sizeof buffer ? left : sizeof buffer;
        get(fd, buffer, size);
        if (!broken) broken = put(out, buffer, size);
        left -= size;
    }
}

__attribute__((used, noreturn)) void begin(word *stack)
{
    int argc = (int)stack[0];
    char **argv = (char **)(stack + 1), **environment = argv + argc + 1, kind, code;
    const char *id = find(environment, "JUJU_CONTEXT_ID");
    const char *path = find(environment, "JUJU_AGENT_SOCKET_ADDRESS");
    int fd = dial(path);
    char **end = environment;
    while (*end) end++;
    send_call(fd, id, own_name((word *)(end + 1), argc ? argv[0] : ""), argc, argv);
    for (get(fd, &kind, 1); kind == 'I'; get(fd, &kind, 1)) send_input(fd);
    get(fd, &code, 1);
    print(fd, 1);
    print(fd, 2);
    quit((unsigned char)code);
    __builtin_unreachable();
}
