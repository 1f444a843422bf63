#include "base/confine.h"

#include <asm/ioctls.h>
#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "base/check.h"

namespace gemmsmith {

namespace {

#define GEMMSMITH_CALL(name) SCMP_SYS(name)

constexpr int kNever[] = {
    // Others, near and far.
    GEMMSMITH_CALL(socketpair), GEMMSMITH_CALL(connect), GEMMSMITH_CALL(bind), GEMMSMITH_CALL(listen),
    GEMMSMITH_CALL(accept), GEMMSMITH_CALL(accept4), GEMMSMITH_CALL(ptrace), GEMMSMITH_CALL(process_vm_readv),
    GEMMSMITH_CALL(process_vm_writev), GEMMSMITH_CALL(process_madvise), GEMMSMITH_CALL(kcmp),
    GEMMSMITH_CALL(pidfd_open), GEMMSMITH_CALL(pidfd_getfd), GEMMSMITH_CALL(pidfd_send_signal),
    // The view of the file system.
    GEMMSMITH_CALL(mount), GEMMSMITH_CALL(umount2), GEMMSMITH_CALL(pivot_root), GEMMSMITH_CALL(chroot),
    GEMMSMITH_CALL(move_mount), GEMMSMITH_CALL(open_tree), GEMMSMITH_CALL(fsopen), GEMMSMITH_CALL(fsmount),
    GEMMSMITH_CALL(fsconfig), GEMMSMITH_CALL(fspick), GEMMSMITH_CALL(mount_setattr), GEMMSMITH_CALL(unshare),
    GEMMSMITH_CALL(setns), GEMMSMITH_CALL(name_to_handle_at), GEMMSMITH_CALL(open_by_handle_at),
    GEMMSMITH_CALL(fanotify_init),
    // The kernel itself, and its less travelled parts.
    GEMMSMITH_CALL(bpf), GEMMSMITH_CALL(perf_event_open), GEMMSMITH_CALL(userfaultfd), GEMMSMITH_CALL(io_uring_setup),
    GEMMSMITH_CALL(io_uring_enter), GEMMSMITH_CALL(io_uring_register), GEMMSMITH_CALL(keyctl), GEMMSMITH_CALL(add_key),
    GEMMSMITH_CALL(request_key), GEMMSMITH_CALL(kexec_load), GEMMSMITH_CALL(kexec_file_load),
    GEMMSMITH_CALL(init_module), GEMMSMITH_CALL(finit_module), GEMMSMITH_CALL(delete_module),
    GEMMSMITH_CALL(personality), GEMMSMITH_CALL(modify_ldt), GEMMSMITH_CALL(iopl), GEMMSMITH_CALL(ioperm),
    GEMMSMITH_CALL(reboot), GEMMSMITH_CALL(swapon), GEMMSMITH_CALL(swapoff), GEMMSMITH_CALL(syslog),
    GEMMSMITH_CALL(acct), GEMMSMITH_CALL(quotactl), GEMMSMITH_CALL(vhangup), GEMMSMITH_CALL(settimeofday),
    GEMMSMITH_CALL(clock_settime), GEMMSMITH_CALL(sethostname), GEMMSMITH_CALL(setdomainname)};

class Filter {
 public:
  Filter() : filter_(::seccomp_init(SCMP_ACT_ALLOW), ::seccomp_release) {
    GEMMSMITH_CHECK(filter_ != nullptr, "no memory for a filter");
    // Calls of another architecture (int 0x80, x32) pass by every rule.
    Check(::seccomp_attr_set(filter_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    Check(::seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1));
  }

  template <class... Conditions>
  void Refuse(int call, Conditions... conditions) {
    Add(SCMP_ACT_KILL_PROCESS, call, conditions...);
  }
  template <class... Conditions>
  void Add(uint32_t action, int call, Conditions... conditions) {
    Check(::seccomp_rule_add(filter_.get(), action, call, sizeof...(conditions), conditions...));
  }
  scmp_filter_ctx get() const { return filter_.get(); }

 private:
  // The added rules never vary, so a refusal is a bug of this program.
  static void Check(int error) { GEMMSMITH_CHECK(error == 0, "seccomp refuses a rule: {}", error); }

  std::unique_ptr<void, decltype(&::seccomp_release)> filter_;
};

constexpr uint64_t kLow32Bits = 0xffffffff;

void RefuseAlways(Filter& filter) {
  for (const int call : kNever) filter.Refuse(call);
  for (const uint64_t space :
       {CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP})
    filter.Refuse(SCMP_SYS(clone), SCMP_A0_64(SCMP_CMP_MASKED_EQ, space, space));
  // Its flags stand in memory, out of the filter's sight; the C library then uses clone.
  filter.Add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  // Words put into the mouth of a terminal.
  for (const uint64_t request : {TIOCSTI, TIOCLINUX})
    filter.Refuse(SCMP_SYS(ioctl), SCMP_A1_64(SCMP_CMP_MASKED_EQ, kLow32Bits, request));
}

Filter MakeFilter() {
  Filter filter;
  RefuseAlways(filter);
  // The C library asks a service for the names of users and does without it.
  filter.Add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket));
  return filter;
}

Result<int> WriteFilter() {
  const int fd = ::memfd_create("gemmsmith-system-calls", MFD_CLOEXEC);
  if (fd < 0) return Unavailable(fmt::format("no memory file: {}", std::generic_category().message(errno)));
  if (const int error = ::seccomp_export_bpf(MakeFilter().get(), fd); error != 0)
    return Unavailable(fmt::format("no system call filter: {}", std::generic_category().message(-error)));
  return fd;
}

}  // namespace

Result<int> SystemCallFilter() {
  static const Result<int> filter = WriteFilter();
  return filter;
}

}  // namespace gemmsmith
