// Runs a command as on a kernel without netfilter's netlink: socket(AF_NETLINK, …, NETLINK_NETFILTER) is refused by a
// seccomp filter, as such a kernel refuses it. Usage: without-netfilter.ts COMMAND [ARGUMENTS]
import koffi from 'koffi';

const PR_SET_NO_NEW_PRIVS = 38;
const PR_SET_SECCOMP = 22;
const SECCOMP_MODE_FILTER = 2;
const SECCOMP_RET_ERRNO = 0x00050000;
const SECCOMP_RET_ALLOW = 0x7fff0000;
const EPROTONOSUPPORT = 93;
const AF_NETLINK = 16;
const NETLINK_NETFILTER = 12;
const SOCKET_CALL = process.arch === 'arm64' ? 198 : 41;
/** linux/bpf_common.h: BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K, BPF_RET | BPF_K. */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const RETURN = 0x06;
/** struct seccomp_data: nr, arch, instruction_pointer, args[6] of 8 bytes. */
const NUMBER = 0;
const argument = (index: number): number => 16 + 8 * index;

const filter: readonly (readonly [code: number, ifTrue: number, ifFalse: number, k: number])[] = [
  [LOAD, 0, 0, NUMBER],
  [JUMP_IF_EQUAL, 0, 5, SOCKET_CALL],
  [LOAD, 0, 0, argument(0)],
  [JUMP_IF_EQUAL, 0, 3, AF_NETLINK],
  [LOAD, 0, 0, argument(2)],
  [JUMP_IF_EQUAL, 0, 1, NETLINK_NETFILTER],
  [RETURN, 0, 0, SECCOMP_RET_ERRNO | EPROTONOSUPPORT],
  [RETURN, 0, 0, SECCOMP_RET_ALLOW],
];

const instructions = Buffer.alloc(filter.length * 8);
for (const [index, [code, ifTrue, ifFalse, k]] of filter.entries()) {
  instructions.writeUInt16LE(code, index * 8);
  instructions.writeUInt8(ifTrue, index * 8 + 2);
  instructions.writeUInt8(ifFalse, index * 8 + 3);
  instructions.writeUInt32LE(k, index * 8 + 4);
}
/** struct sock_fprog: length, padding, pointer. */
const program = Buffer.alloc(16);
program.writeUInt16LE(filter.length, 0);
program.writeBigUInt64LE(BigInt(koffi.address(instructions)), 8);

const libc = koffi.load('libc.so.6');
const prctl = libc.func('int prctl(int, unsigned long, void *, unsigned long, unsigned long)');
const execvp = libc.func('int execvp(const char *, const char **)');

const fcntl = libc.func('int fcntl(int, int, long)');
const F_SETFD = 2;

// Node keeps its standard streams from its children; this one is to have them.
for (const fd of [0, 1, 2]) fcntl(fd, F_SETFD, 0);
const command = process.argv.slice(2);
if (prctl(PR_SET_NO_NEW_PRIVS, 1, null, 0, 0) !== 0) throw new Error('prctl(PR_SET_NO_NEW_PRIVS) failed');
if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) !== 0) throw new Error('seccomp failed');
execvp(command[0], [...command, null]);
throw new Error(`cannot run ${command[0]}`);
