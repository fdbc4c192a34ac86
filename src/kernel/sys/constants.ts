// Numbers of the socket, file and netlink headers that the kernel room uses. They are the same on x86-64 and arm64.

// sys/socket.h
export const AF_INET = 2;
export const AF_INET6 = 10;
export const AF_NETLINK = 16;
export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_RAW = 3;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;
export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;
export const SO_SNDBUF = 7;
export const SO_RCVBUF = 8;
export const SO_SNDBUFFORCE = 32;
export const SO_RCVBUFFORCE = 33;
export const MSG_TRUNC = 0x20;
export const MSG_DONTWAIT = 0x40;

// netinet/in.h
export const IPPROTO_IPV6 = 41;
export const IPV6_V6ONLY = 26;

// poll.h
export const POLLIN = 1;
export const POLLERR = 8;
export const POLLHUP = 16;
export const POLLNVAL = 32;

// fcntl.h, sys/eventfd.h, sched.h
export const O_RDONLY = 0;
export const O_CLOEXEC = 0o2000000;
export const EFD_CLOEXEC = 0o2000000;
export const EFD_NONBLOCK = 0o4000;
export const CLONE_NEWNET = 0x40000000;

// linux/netlink.h: protocols and socket options
export const NETLINK_ROUTE = 0;
export const NETLINK_NETFILTER = 12;
export const NETLINK_GENERIC = 16;
export const SOL_NETLINK = 270;
export const NETLINK_ADD_MEMBERSHIP = 1;
export const NETLINK_CAP_ACK = 10;
export const NETLINK_EXT_ACK = 11;
