#include "os/device_filter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cstring>

#include "io/fd.hpp"
#include "os/files.hpp"

namespace switchyard::os {
namespace {

constexpr std::size_t kDeniedMax = 4096;  // Devices in one program; the kernel's limit is higher.

std::uint64_t instruction(std::uint8_t code, std::uint8_t to, std::uint8_t from, std::int16_t skip,
                          std::int32_t value) {
    bpf_insn out{};
    out.code = code;
    out.dst_reg = to & 0xf;
    out.src_reg = from & 0xf;
    out.off = skip;
    out.imm = value;
    return std::bit_cast<std::uint64_t>(out);
}

std::uint64_t load_field(std::uint8_t to, std::int16_t offset) {
    return instruction(BPF_LDX | BPF_MEM | BPF_W, to, BPF_REG_1, offset, 0);
}

// Skips `count` instructions unless the register holds the value.
std::uint64_t unless(std::uint8_t reg, std::uint32_t value, std::int16_t count) {
    return instruction(BPF_JMP32 | BPF_JNE | BPF_K, reg, 0, count,
                       static_cast<std::int32_t>(value));
}

void answer(std::vector<std::uint64_t>& program, std::int32_t allowed) {
    program.push_back(instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, allowed));
    program.push_back(instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
}

int bpf(int command, bpf_attr& attributes) {
    return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof(attributes)));
}

Result<io::Fd> load(const std::vector<std::uint64_t>& program) {
    constexpr char kLicense[] = "Apache-2.0";
    bpf_attr attributes;
    std::memset(&attributes, 0, sizeof(attributes));
    attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attributes.insn_cnt = static_cast<std::uint32_t>(program.size());
    attributes.insns = reinterpret_cast<std::uint64_t>(program.data());
    attributes.license = reinterpret_cast<std::uint64_t>(kLicense);
    io::Fd loaded(bpf(BPF_PROG_LOAD, attributes));
    if (!loaded) return errno_failure("loading the device filter");
    return loaded;
}

}  // namespace

std::vector<std::uint64_t> device_program(const std::vector<DeviceFile>& denied) {
    std::vector<std::uint64_t> program;
    program.push_back(load_field(BPF_REG_2, offsetof(bpf_cgroup_dev_ctx, access_type)));
    program.push_back(load_field(BPF_REG_3, offsetof(bpf_cgroup_dev_ctx, major)));
    program.push_back(load_field(BPF_REG_4, offsetof(bpf_cgroup_dev_ctx, minor)));
    // The lower half of the access type is the kind of device.
    program.push_back(instruction(BPF_ALU | BPF_AND | BPF_K, BPF_REG_2, 0, 0, 0xffff));
    for (const DeviceFile& device : denied) {
        const std::uint32_t kind = device.type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
        program.push_back(unless(BPF_REG_2, kind, 4));
        program.push_back(unless(BPF_REG_3, device.major_number, 3));
        program.push_back(unless(BPF_REG_4, device.minor_number, 2));
        answer(program, 0);
    }
    answer(program, 1);
    return program;
}

Status deny_devices(const std::string& cgroup, const std::vector<DeviceFile>& denied) {
    if (denied.empty()) return {};
    if (denied.size() > kDeniedMax) {
        return fail(Errc::Busy, fmt::format("more than {} devices to deny", kDeniedMax));
    }
    SY_TRY(const io::Fd program, load(device_program(denied)));
    const io::Fd folder(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return errno_failure(cgroup);
    bpf_attr attributes;
    std::memset(&attributes, 0, sizeof(attributes));
    attributes.target_fd = static_cast<std::uint32_t>(folder.get());
    attributes.attach_bpf_fd = static_cast<std::uint32_t>(program.get());
    attributes.attach_type = BPF_CGROUP_DEVICE;
    // Programs above (a container's own) and below stay in force: all of them must allow.
    attributes.attach_flags = BPF_F_ALLOW_MULTI;
    if (bpf(BPF_PROG_ATTACH, attributes) != 0) {
        return errno_failure(fmt::format("attaching the device filter to {}", cgroup));
    }
    return {};
}

bool can_deny_devices() { return bool(load(device_program({}))); }

}  // namespace switchyard::os
